"""The same experiment gives the same bytes: again, and with any number of processes."""

from pathlib import Path

from hypothesis import Phase, given
from hypothesis import strategies as st

from blox.experiment.parallel import Task, run_tasks
from support.examples import examples
from support.worlds import worlds

EXAMPLES = examples(6, phases=[Phase.generate])  # shrinking starts processes by the hundred
FILES = ("jobs.csv", "summary.json", "experiment.toml")


@EXAMPLES
@given(several=st.lists(worlds(), min_size=3, max_size=5))
def test_same_seed_same_bytes_with_one_or_two_processes(tmp_path, several):
    alone = saved(several, tmp_path / "one", processes=1)
    assert alone == saved(several, tmp_path / "again", processes=1)
    assert alone == saved(several, tmp_path / "two", processes=2)


def saved(several, folder: Path, processes):
    """Runs worlds and returns the bytes of the files that must not differ."""
    tasks = [Task(world.experiment(), folder / str(number)) for number, world in enumerate(several)]
    for outcome in run_tasks(tasks, processes):
        assert outcome.error is None, outcome.error
    return [[(task.directory / name).read_bytes() for name in FILES] for task in tasks]
