"""The jobs of a replay: scripts that are run by their paths, one process per GPU."""
