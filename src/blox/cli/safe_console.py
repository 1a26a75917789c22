"""SafeConsole: a console of rich for text out of files. What would steer the terminal is escaped."""

from __future__ import annotations

from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from blox.cli.terminal import shown


class SafeConsole(Console):
    """A console whose own colours and cursor movements reach the terminal; those in the text do not."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        super().push_render_hook(_Escape())

    def push_render_hook(self, hook: RenderHook) -> None:
        """Adds a hook, and escapes what it adds to the output: rich's Live draws by a hook."""
        super().push_render_hook(_Escape(hook))


class _Escape(RenderHook):
    """Escapes the text of what is drawn, after another hook where there is one."""

    def __init__(self, before: RenderHook | None = None) -> None:
        self._before = before

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        if self._before is not None:
            renderables = self._before.process_renderables(renderables)
        return [_Escaped(each) for each in renderables]


class _Escaped:
    """What `content` renders to, its text escaped; rich's own control segments pass."""

    def __init__(self, content: ConsoleRenderable) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)
