"""The same experiment gives the same bytes: again, and in whichever process."""

import multiprocessing

from hypothesis import HealthCheck, given, settings
from worlds import worlds

SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def saved(work):
    """Runs a world, saves it, and returns the bytes of the files that must not differ."""
    world, directory = work
    folder = world.run().save(directory)
    return (folder / "jobs.csv").read_bytes(), (folder / "summary.json").read_bytes()


def test_same_seed_same_bytes_with_one_or_two_processes(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:

        @SETTINGS
        @given(worlds())
        def check(world):
            here = saved((world, tmp_path / "here"))
            there = pool.map(saved, [(world, tmp_path / "one"), (world, tmp_path / "two")])
            assert there == [here, here]

        check()
