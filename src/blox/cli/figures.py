"""What commands do about --by, --table, --metric and --label: faults first; tables shown and written last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blox.errors import BloxError, suggestion

if TYPE_CHECKING:
    from blox.experiment.settings import Experiment
    from blox.report.run import Run
    from blox.results.replications import Replications
    from blox.results.result import Result

# Columns of every jobs.csv that have few values, or that make sense as ranges.
GROUPS = (
    "gpus", "tenant", "user", "model", "job_type", "group", "priority", "state", "end_reason", "app",
    "duration_s", "submit_s", "deadline_s", "preemptions", "moves",
)  # fmt: skip


@dataclass(frozen=True)
class Tables:
    """Columns to break figures down by, which figures to show of groups, and files to write tables to."""

    by: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    measures: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, by: Iterable[str] | None, files: Iterable[Path] | None, measures: Iterable[str] | None
    ) -> Tables:
        """As they were given; files that cannot be written are refused now."""
        from blox.cli.places import check_writable
        from blox.report.sheet_files import check_tables
        from blox.results.files import OWN
        from blox.results.place import written_by_a_run

        found = cls(tuple(listed(by)), tuple(files or ()), tuple(listed(measures)))
        if measures and not found.by:
            what = "--measures chooses the figures of groups, and there are none"
            raise BloxError(what, where="--measures", fix="add --by COLUMN, such as --by gpus")
        check_tables(found.files)
        for path in found.files:
            check_writable(path.absolute().parent)
            if path.name in OWN and written_by_a_run(path.parent):
                what = f"the table would take the place of the {path.name} of results"
                raise BloxError(what, where=str(path), fix="give it another name, such as table.csv")
        return found

    def check(self, experiments: Iterable[Experiment]) -> None:
        """Refuses a column or measure that the jobs of an experiment will not have, before anything runs."""
        from blox.report.group_measures import check_measures
        from blox.results.own_metrics import metrics_from_spec

        experiments = list(experiments)
        metrics = [metric.key for each in experiments for metric in metrics_from_spec(each.metrics)]
        check_measures(self.measures, metrics)
        wanted = [column for column in self.by if column not in GROUPS]
        workloads = {each.workload for each in experiments} if wanted else ()
        for workload in workloads:
            own = _own_columns(workload)
            for column in wanted:
                if own is not None and column not in own:
                    raise BloxError(
                        f"jobs have no column {column!r}",
                        where="--by",
                        fix=f"{suggestion(column, (*GROUPS, *own))}; "
                        "?extra=keep behind a CSV workload keeps the columns of its file",
                    )

    def check_measures(self, runs: Sequence[Run]) -> None:
        """The same for the measures of runs that are there."""
        from blox.report.group_measures import chosen

        chosen(self.measures, runs)

    def show(self, runs: Sequence[Run]) -> None:
        """Prints the figures of runs by each of the columns; writes the files, and says where they are."""
        from blox.cli.safe_console import SafeConsole
        from blox.report.breakdown import Breakdown
        from blox.report.sheet_files import write_table
        from blox.report.sheet_table import sheet_table

        console = SafeConsole()
        for column in self.by:
            found = Breakdown.of(runs, column, self.measures)
            console.print()
            console.print(sheet_table(found.sheet))
            if found.verdicts is not None:
                console.print()
                console.print(found.verdicts.table())
        for path in self.files:
            write_table(path, runs, self.by, self.measures)
            console.print(f"table:   {path}", highlight=False, soft_wrap=True, markup=False)


def listed(texts: Iterable[str] | None) -> list[str]:
    """The values of an option that was given several times, or once with commas."""
    pieces = (piece.strip() for text in texts or () for piece in text.split(","))
    return list(dict.fromkeys(piece for piece in pieces if piece))


def labelled(
    runs: Sequence[Result | Replications], labels: Iterable[str] | None
) -> list[Result | Replications]:
    """Finished runs under other labels, one for each in order."""
    from blox.results.label import checked_labels

    given = (piece.strip() for text in labels or () for piece in text.split(","))
    names = checked_labels(given, where="--label")
    if not names:
        return list(runs)
    if len(names) != len(runs):
        raise BloxError(
            f"{len(names)} labels for {len(runs)} runs", where="--label", fix=f"give {len(runs)}: a,b,c"
        )
    return [of_each(run, lambda one, name=name: _named(one, name)) for run, name in zip(runs, names)]


def of_each(run: Any, change: Any) -> Any:
    """A run changed; one over several seeds with each of its runs changed."""
    from blox.results.replications import Replications

    if isinstance(run, Replications):
        return replace(run, runs=tuple(change(part) for part in run.runs))
    return change(run)


def _named(result: Result, label: str) -> Result:
    return replace(result, label=label, experiment={**result.experiment, "label": label})


def _own_columns(workload: str) -> list[str] | None:
    """The columns of its own that a workload has; None where that is not known before it is drawn."""
    from blox.optional import declared
    from blox.workloads.spec import workload_from_spec

    source = workload_from_spec(workload)
    table = declared(source, "table")
    if table is not None:
        return list(table.extra)
    return [] if type(source).__module__.startswith("blox.") else None
