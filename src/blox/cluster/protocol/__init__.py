"""What travels between scheduler, worker managers and ranks, and what the latter two do about it."""
