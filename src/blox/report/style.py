"""The page's style sheet and the scripts that draw its figures; both go into the page as they are.

They are files of their own in `static/`. The tokens (colours, type) are those of every page of blox.
"""

from pathlib import Path

_STATIC = Path(__file__).parent / "static"

_SCRIPTS = ("figures", "time_range", "stories", "report")

TOKENS = (_STATIC / "tokens.css").read_text(encoding="utf-8")
CSS = TOKENS + (_STATIC / "report.css").read_text(encoding="utf-8")
# One function around all of them: what they share is theirs alone.
SCRIPT = "\n".join(
    (
        "(function () {",
        '"use strict";',
        *((_STATIC / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS),
        "})();",
    )
)
