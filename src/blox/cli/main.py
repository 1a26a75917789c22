"""The entry point of `blox`: runs the command, and turns what goes wrong into words and an exit code.

Nothing but Python's own small modules is imported before the first statement of `main`, so that an early
Ctrl-C is answered like a late one. Exit codes: 0 done, 2 a mistake in the input, 130 interrupted.
"""

from __future__ import annotations

import _thread
import errno
import os
import signal
import sys
import time

TYPE_CHECKING = False  # as in `typing`, without its import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

_SETS_UP = ("_call_with_frames_removed", "_load_unlocked")  # in importlib: what runs a module
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _Stop:
    """The answer to Ctrl-C: KeyboardInterrupt, and a note of it, for an import that fails may hide it."""

    asked = False

    def __call__(self, _: int, frame: FrameType | None) -> None:
        self.asked = True
        if _would_be_lost(frame):
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            raise KeyboardInterrupt


def _would_be_lost(frame: FrameType | None) -> bool:
    """Whether an exception in this frame may be dropped: raised while Python releases the lock of an import,
    or in a function that is called while compiled code sets its module up."""
    inner = ""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        inner, frame = frame.f_code.co_name, frame.f_back
    return frame is not None and (not inner or (inner != "<module>" and frame.f_code.co_name in _SETS_UP))


def _terminate(*_: object) -> None:
    """Unwinds like Ctrl-C, so that worker processes are stopped and drafts removed; a second one kills."""
    signal.signal(signal.SIGTERM, _terminate_now)
    sys.exit(143)


def _terminate_now(signum: int, frame: FrameType | None) -> None:
    """Ends the process, with words where a user's file caught the first SIGTERM."""
    from blox import containment

    if containment.is_contained():
        containment.leave("it catches what would end it (SIGTERM)", frame)
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


def _interrupt_soon() -> None:
    time.sleep(0.005)
    _thread.interrupt_main()


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits."""
    stop = _Stop()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not in the background of a shell
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from blox.cli.terminal import print_what_can_be_shown

        print_what_can_be_shown(sys.stdout, sys.stderr)
        code = answer(sys.argv[1:] if arguments is None else arguments)
    except Exception:
        if not stop.asked:
            raise
        code = _interrupted()
    except KeyboardInterrupt:
        code = _interrupted()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interpreter clears up in silence
    sys.exit(code)


def answer(arguments: Sequence[str]) -> int:
    """Runs the command line and returns its exit code; errors go to stderr in one piece."""
    try:
        from blox.cli import commands
        from blox.cli.interrupt import Interrupted
        from blox.errors import BloxError, refusal
    except KeyboardInterrupt:
        return _interrupted()
    try:
        code = commands.run(arguments)
        sys.stdout.flush()
    except BloxError as error:
        return commands.fail(error.text())
    except commands.UsageError as error:
        return commands.usage(error)
    except Interrupted as stop:
        return _interrupted(str(stop))
    except (KeyboardInterrupt, commands.Abort):
        return _interrupted()
    except MemoryError:
        return commands.fail("not enough memory\n  fix: fewer jobs, a smaller trace, a smaller cluster")
    except BrokenPipeError:
        # The reader has gone; Python would complain once again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if _output_full(error):
            return commands.fail(
                f"what is printed cannot be written: {error.strerror}\n  fix: make room for it"
            )
        if (refused := refusal(error)) is None:
            raise
        return commands.fail(refused.text())
    except BaseException as error:
        from blox.foreign import user_fault

        if (fault := user_fault(error)) is None:
            raise
        return commands.fail(fault.text())
    return _interrupted() if code == 130 else code


def _interrupted(words: str = "interrupted") -> int:
    from blox.cli.terminal import say

    say(words, to_stderr=True)
    return 130


def _output_full(error: OSError) -> bool:
    """Whether what we print has no room; then nothing is printed any more, not even at the end.

    The error does not name what has no room: where a line more can be printed it is something else.
    """
    if error.filename is not None or error.errno not in _NO_ROOM:
        return False
    try:
        print(flush=True)
        return False
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True


if __name__ == "__main__":
    main()
