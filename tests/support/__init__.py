"""What several test files use: places, small workloads, reference implementations. One module per idea."""
