"""Pages that a server shows in a browser: the film of finished runs, and a running cluster live; and what
`blox top` shows of both in a terminal.

Python turns results and answers of a scheduler into columns and events; what they look like is decided
in `static/`, in plain HTML, CSS and JavaScript modules. The pages need the extra `ui`.
"""
