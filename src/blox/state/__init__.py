"""What the loop and its policies share: the jobs, the cluster, and the values that policies return."""
