"""Results directories of which one file is not as it was written: loaded, shown, explained, drawn."""

import shutil
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from blox import Experiment, Result
from blox.cli.safe_console import SafeConsole
from blox.cli.show import fairness_table
from blox.explain import Explanation
from blox.report.breakdown import Breakdown
from blox.report.causes import causes_sheet
from blox.report.page import page
from blox.report.sheet_table import sheet_table
from blox.report.table import comparison_table
from blox.report.words import headline, remarks
from blox.results.files import FILES
from fuzz.mutation import spoilt

PAGES = 0.02  # of the cases: a page takes long


@cache
def _good() -> Path:
    """Results as a run writes them."""
    settings = {"workload": "philly:load=30,max_gpus=8", "cluster": "2x4", "scheduler": "las", "jobs": 12}
    return Experiment(**settings, placement="consolidated").run().save(Path(mkdtemp()) / "good")  # type: ignore[arg-type]


def case(rng: Random, folder: Path) -> None:
    """Damages one file, then reads the directory and shows what is there."""
    place = folder / "results"
    shutil.copytree(_good(), place)
    victim = place / rng.choice((*FILES, "jobs.csv", "summary.json", "experiment.toml"))
    if rng.random() < 0.05:
        victim.unlink()
    else:
        victim.write_bytes(spoilt(rng, victim.read_bytes()))
    result = Result.load(place)
    console = SafeConsole(file=StringIO(), width=100)
    for table in (comparison_table, fairness_table):
        console.print(table([result]))
    console.print(sheet_table(causes_sheet([result])))
    console.print(sheet_table(Breakdown.of([result], "gpus", ["all"]).sheet))
    headline([result])
    list(remarks(result))
    explanation = Explanation(result)
    explanation.waits()
    if len(result.jobs["job_id"]):
        row = rng.randrange(len(result.jobs["job_id"]))
        explanation.history(row)
        explanation.sentence(row)
    if rng.random() < PAGES:
        page([result], "damaged")
