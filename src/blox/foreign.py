"""What a user's own file raised, in words. Policies have a guard; workloads and speed models have this."""

from __future__ import annotations

from pathlib import Path

from blox.containment import by_signal
from blox.errors import BloxError
from blox.user_modules import USER_MODULE


def user_fault(error: BaseException) -> BloxError | None:
    """The error as a BloxError with the file's line, if it came out of a user's file; None otherwise.

    What a signal raises there (Ctrl-C) is not the file's.
    """
    if by_signal(error):
        return None
    place, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if str(frame.f_globals.get("__name__", "")).startswith(USER_MODULE):
            file = Path(frame.f_code.co_filename)
            here = Path.cwd()
            place = f"{file.relative_to(here) if file.is_relative_to(here) else file}:{trace.tb_lineno}"
        trace = trace.tb_next
    if not place:
        return None
    return BloxError(f"{type(error).__name__}: {error}", where=place, fix="mend that line of your file")
