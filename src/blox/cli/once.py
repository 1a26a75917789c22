"""A command that refuses an option given twice, of which the command-line library would drop the first."""

from __future__ import annotations

import typer
from typer.core import TyperCommand, TyperOption


class OnceCommand(TyperCommand):
    """Options that take a list may be repeated, others not."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        single = [each for each in given if isinstance(each, TyperOption) and not _repeats(each)]
        for option in single:
            if single.count(option) > 1:
                name = max(option.opts, key=len)
                ctx.fail(f"{name} is given twice, and takes one value")
        return super().parse_args(ctx, args)


def _repeats(option: TyperOption) -> bool:
    return option.multiple or option.count or option.is_flag
