"""The order in which a run's scheduler had its jobs: as it was traced, or by running the experiment again.

A run that was not traced is run again by a process of its own, with its decisions traced, into a temporary
directory. Its jobs must come out equal to the byte; where they do not, or it cannot be run again, the page
says why and shows the queue by submission.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from blox.errors import BloxError
from blox.results.coded_decisions import CodedDecisions
from blox.ui.film.runs import Filmed

State = Literal["not asked", "working", "known", "unknown"]

MOST_ROWS = 10_000_000  # decisions that are held in memory: about 400 MB
_DECISIONS = "decisions.parquet"


class Order:
    """Finds the decisions of one run in the background, once `ask` is called; `state` says how far it is."""

    def __init__(self, filmed: Filmed) -> None:
        self._filmed = filmed
        self.state: State = "not asked"
        self.why = ""  # there is no order
        self.decisions: CodedDecisions | None = None
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    @classmethod
    def traced(cls, filmed: Filmed) -> Order:
        """That of a run which was traced; of any other it is not known, and nothing is run again for it."""
        found = cls(filmed)
        found.state, found.why = "unknown", "the run was not traced (--trace-decisions)"
        path = filmed.folder / _DECISIONS
        if path.is_file():
            found.decisions = CodedDecisions.of_file(path, len(filmed.result.jobs["job_id"]))
            found.state, found.why = "known", ""
        return found

    def ask(self) -> None:
        """Begins to find the decisions, at the first request."""
        if self.state == "not asked":
            self.state = "working"
            threading.Thread(target=self._find, daemon=True).start()

    def close(self) -> None:
        """Ends what goes on in the background."""
        self._closed = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def _find(self) -> None:
        try:
            self.decisions = self._found()
            self.state = "known"
        except BloxError as error:
            self.why = error.text()
            self.state = "unknown"

    def _found(self) -> CodedDecisions:
        result, folder = self._filmed.result, self._filmed.folder
        jobs = len(result.jobs["job_id"])
        expected = sum(int(result.rounds[name].sum()) for name in ("held", "queued", "running"))
        if expected > MOST_ROWS:
            raise BloxError(
                f"its rounds decide about {expected:,} jobs in all, and at most {MOST_ROWS:,} are held",
                where=str(folder),
                fix="`blox explain DIR --at TIME` shows one round",
            )
        if (folder / _DECISIONS).is_file():
            return CodedDecisions.of_file(folder / _DECISIONS, jobs)
        if result.experiment.get("backend", "simulation") != "simulation":
            raise BloxError("a run of real processes cannot be run again")
        with self._run_again() as again:
            if (again / "jobs.csv").read_bytes() != (folder / "jobs.csv").read_bytes():
                raise BloxError(
                    "run again, the experiment decides otherwise than these results say",
                    fix="the program, a policy or an input has changed since: run it anew",
                )
            return CodedDecisions.of_file(again / _DECISIONS, jobs)

    @contextlib.contextmanager
    def _run_again(self) -> Iterator[Path]:
        """The experiment once more, traced, in a directory that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="blox-ui-") as scratch:
            out = Path(scratch) / "again"
            settings = self._filmed.folder / "experiment.toml"
            command = [sys.executable, "-m", "blox", "run", str(settings), "--trace-decisions"]
            self._process = subprocess.Popen(
                [*command, "--out", str(out)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            if self._closed:
                self._process.terminate()
            told = self._process.communicate()[1].strip()
            if self._process.returncode != 0:
                raise BloxError(told.removeprefix("error: ") or "it was interrupted", where=str(settings))
            yield out
