"""What parts of an installed package raise is told as that of a user's file is: with its line, in words."""

import pytest

PARTS = """
    from dataclasses import dataclass


    class Generator:
        jobs = 3

        def batches(self, rng):
            raise ValueError("oh")


    class Source:
        def node_events(self, cluster, seed):
            raise ValueError("oh")


    class Model:
        def rate(self, grants, cluster_state, job_state):
            raise ValueError("oh")


    @dataclass(frozen=True)
    class Reader:
        path: str = ""

        def read(self):
            raise ValueError("oh")
"""


@pytest.mark.parametrize(
    "kind, name, line, words",
    [
        ("workload", "Generator", 8, ["--workload", "theirs"]),
        ("failures", "Source", 13, ["--failures", "theirs", "--jobs", 3]),
        ("performance", "Model", 18, ["--performance", "theirs", "--jobs", 3]),
        ("reader", "Reader", 26, ["--workload", "theirs:trace.txt"]),
    ],
)
def test_what_an_installed_part_raises_is_told_with_its_line(
    command, install, tmp_path, kind, name, line, words
):
    install(PARTS, **{kind: name})
    (tmp_path / "trace.txt").touch()
    answer = command("run", "--no-report", *words)
    assert answer.code == 2
    assert answer.err == f"error: site/theirs_parts.py:{line}: ValueError: oh\n  fix: mend that line\n"
