"""What a run leaves behind: its figures, and the directory that holds them."""
