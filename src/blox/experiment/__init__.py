"""Experiments: settings, the parts that they name, the prepared run, and many runs at once."""
