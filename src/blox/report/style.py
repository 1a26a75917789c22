"""The page's style sheet and the script that draws its figures; both go into the page as they are.

They are files of their own in `static/`. The tokens (colours, type) are those of every page of blox.
"""

from pathlib import Path

_STATIC = Path(__file__).parent / "static"

TOKENS = (_STATIC / "tokens.css").read_text(encoding="utf-8")
CSS = TOKENS + (_STATIC / "report.css").read_text(encoding="utf-8")
SCRIPT = (_STATIC / "report.js").read_text(encoding="utf-8")
