"""Files on disk: written whole or not at all, by one process at a time; TOML as text."""
