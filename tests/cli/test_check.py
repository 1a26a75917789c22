"""`blox check` as a user meets it: ticks and crosses, words, exit codes."""

import pytest

from blox.cli.main import answer

GOOD = "@dataclass(frozen=True)\nclass Mine:\n    '''Jobs as they come.'''\n"
SCHEDULE = GOOD + "    def schedule(self, job_state, cluster_state):\n"


@pytest.fixture
def check(capsys):
    def run(*arguments):
        code = answer(["check", *arguments])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.out + shown.err
        return code, shown.out, shown.err

    return run


def test_a_policy_that_conforms(check):
    code, out, _ = check("fifo")
    assert code == 0
    assert "✓ scheduling policy fifo: conforms" in out
    assert "✓ lets every job finish" in out


def test_a_policy_that_does_not(check, policy_file):
    code, out, _ = check(policy_file(SCHEDULE + "        return 7\n"))
    assert code == 1
    assert "✗ scheduling policy ./mine.py:Mine: does not conform: 1 rule is broken" in out
    assert "schedule() returns int (7), not a Schedule" in out
    assert "fix: return Schedule.ordered" in out


def test_several_at_once_are_brief_about_the_good_ones(check, policy_file):
    code, out, _ = check("completed", policy_file(SCHEDULE + "        return 7\n"))
    assert code == 1
    assert out.count("✓ is a frozen dataclass") == 1
    assert "termination policy completed: conforms" in out


def test_all_of_a_kind(check):
    code, out, _ = check("--all", "--kind", "admission")
    assert code == 0
    assert [line.partition(":")[0] for line in out.splitlines()] == [
        "✓ admission policy accept-all",
        "✓ admission policy quota",
        "✓ admission policy threshold",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no policy is given"),
        (("laz",), "did you mean 'las'?"),
        (("las:byy=time",), "no parameter is called 'byy'"),
        (("las:by=luck",), "valid: gpu-time, time"),
        (("las", "--kind", "schedulng"), "did you mean 'scheduling'?"),
        (("las", "--kind", "placement"), "no placement part is called 'las'"),
        (("./absent.py:Mine",), "no such file"),
        (("./mine.py",), "a file needs a class behind it"),
        (("./mine.py:Other",), "no class is called 'Other'"),
    ],
)
def test_misuse_is_answered_in_words_with_exit_code_2(check, policy_file, arguments, words):
    policy_file(SCHEDULE + "        return Schedule.ordered(job_state)\n")
    code, _, err = check(*arguments)
    assert code == 2
    assert words in err


def test_a_file_that_cannot_be_imported_is_told_with_its_line(check, policy_file):
    code, _, err = check(policy_file("class Mine:\n    def schedule(self:\n"))
    assert code == 2
    assert "mine.py:6" in err and "SyntaxError" in err


LEAVES = {
    "when it is imported": ("raise SystemExit(3)\nclass Mine:\n    pass\n", 2, "mine.py:5"),
    "when it is made": (
        GOOD + "    def __post_init__(self):\n        raise SystemExit(3)\n"
        "    def schedule(self, job_state, cluster_state):\n        return Schedule.ordered(job_state)\n",
        1,
        "mine.py:9",
    ),
    "when it is asked": (SCHEDULE + "        raise SystemExit(3)\n", 1, "mine.py:9"),
    "when its memory is copied": (
        "class Note:\n    def __deepcopy__(self, seen):\n        raise SystemExit(3)\n"
        + SCHEDULE
        + "        job_state.memory(self, Note)\n        return Schedule.ordered(job_state)\n",
        1,
        "mine.py:11",
    ),
}


@pytest.mark.parametrize("moment", LEAVES)
def test_a_policy_that_leaves_python_is_told_with_its_line(check, policy_file, moment):
    text, expected, line = LEAVES[moment]
    code, out, err = check(policy_file(text))
    told = out + err
    assert code == expected, told
    assert "SystemExit: 3" in told and line in told, told


def test_a_class_of_two_kinds_wants_a_kind(check, policy_file):
    spec = policy_file(
        SCHEDULE + "        return Schedule.ordered(job_state)\n"
        "    def terminate(self, job_state, cluster_state):\n        return job_state.active[:0]\n"
    )
    code, _, err = check(spec)
    assert code == 2
    assert "--kind scheduling or --kind termination" in err
    assert check(spec, "--kind", "termination")[0] == 0


def test_a_class_without_a_verb(check, policy_file):
    spec = policy_file(GOOD + "    def decide(self, job_state, cluster_state):\n        return None\n")
    code, _, err = check(spec)
    assert code == 2 and "has none of the verbs" in err and "batches() (workload)" in err
    spec = policy_file(GOOD + "    def shedule(self, job_state, cluster_state):\n        return None\n")
    code, out, _ = check(spec)
    assert code == 1 and "nothing calls shedule(), did you mean schedule()?" in " ".join(out.split())
    code, out, _ = check(spec, "--kind", "scheduling")
    assert code == 1 and "Mine has no method schedule()" in out
