"""Figures of a finished run that are worked out on demand (`--metric NAME`): one small file each."""
