"""Trace readers: each a frozen dataclass with a `path` and options whose `read()` returns a JobTable."""
