"""The limits that docs/files.md tells are those of the code."""

from blox import clock
from blox.cli import workload
from blox.experiment import standstill, sweep
from blox.experiment.parts import LARGEST_COUNT, MOST_SEEDS
from blox.failures import random as failures
from blox.performance import overheads
from blox.results.label import LONGEST_LABEL
from blox.state import cluster_spec
from blox.workloads import columns, limits, text_files


def test_the_page_tells_the_limits_of_the_code(project):
    text = (project / "docs" / "files.md").read_text(encoding="utf-8")
    shown = dict(
        line.strip("| \n").split(" | ")
        for line in text.split("## Limits of input")[1].splitlines()
        if " | " in line
    )
    mega = 2**20
    assert limits.MOST_JOBS == workload.MOST
    assert list(shown.values())[1:] == [
        f"{clock.SHORTEST_S:g} to {clock.LONGEST_S:,.0f} s",
        f"{clock.SHORTEST_QUANTUM_S:g} to {clock.LONGEST_S:,.0f} s",
        f"{overheads.LONGEST_S:,.0f} s",
        f"{failures.SHORTEST_S:g} s to {failures.LONGEST_S / (365 * 86400):.0f} years",
        f"{limits.LEAST:g} to {limits.MOST:g}",
        "1e-09 to 1e+09",
        f"{limits.MOST_JOBS:,}",
        f"{limits.MOST_AT_ONCE:,}",
        f"{MOST_SEEDS:,}",
        f"{LARGEST_COUNT:,}",
        f"{LONGEST_LABEL:,}",
        f"{cluster_spec.MOST_NODES:,}",
        f"{columns.MOST_GPUS:,}",
        f"{sweep.MOST_RUNS:,}",
        f"{text_files.MOST_BYTES // mega} MB",
        f"{text_files.MOST_TABLE_BYTES // mega} MB",
        f"{text_files.MOST_TOML_BYTES // mega} MB",
        f"{standstill.ROUNDS:,}",
    ]
