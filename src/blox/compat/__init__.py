"""Compat presets: an original system's own option names, turned into our policies and simulation options.

One small declarative file per original. A preset is a frozen dataclass whose fields are the original's
options; `compose(round_s)` returns the parts, and `changes` says in words what each quirk does.
"""
