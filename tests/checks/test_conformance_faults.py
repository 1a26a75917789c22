"""Policies that break the contract, one way each: the rule is named, and the words help."""

import pytest

from blox.checks import check

GOOD = "@dataclass(frozen=True)\nclass Mine:\n    '''Jobs as they come.'''\n"
SCHEDULE = GOOD + "    def schedule(self, job_state, cluster_state):\n"
ACCEPT = GOOD + "    def accept(self, new_jobs, cluster_state, job_state):\n"
PLACE = GOOD + "    def place(self, schedule, cluster_state, job_state):\n"
TERMINATE = GOOD + "    def terminate(self, job_state, cluster_state):\n"
FIRST_FIT = """
        free = cluster_state.free_ids().tolist()
        held = cluster_state.allocation.as_dict()
        wanted = {row: held[row] for row in held if row in schedule.jobs}
        for row in schedule.jobs[schedule.order].tolist():
            need = int(job_state.columns.gpus[row])
"""

FAULTS = {
    "writes to an accessor": (
        SCHEDULE + "        job_state.gpus[:] = 1\n        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state in place: assignment destination is read-only",
        "work on a copy",
    ),
    "is async": (
        SCHEDULE.replace("    def", "    async def") + "        return Schedule.ordered(job_state)\n",
        "answer",
        "schedule() is async",
        "write def schedule(self, job_state, cluster_state), without async",
    ),
    "keys by chance": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=np.random.random(len(job_state.active)))\n",
        "deterministic",
        "the order [0] with the keys [0.",
        "job_state.rng(self)",
    ),
    "not a dataclass": (
        "class Mine:\n    '''Fifo.'''\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n",
        "dataclass",
        "is not a dataclass",
        "@dataclass(frozen=True)",
    ),
    "not frozen": (
        "@dataclass\n" + SCHEDULE.partition("\n")[2] + "        return Schedule.ordered(job_state)\n",
        "dataclass",
        "can be assigned to",
        "@dataclass(frozen=True)",
    ),
    "needs an argument": (
        GOOD + "    size: int\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n",
        "defaults",
        "'size' must be given",
        "give every field a default",
    ),
    "refuses its defaults": (
        GOOD + "    size: int = 0\n    def __post_init__(self):\n        1 / self.size\n"
        "    def schedule(self, job_state, cluster_state):\n        return Schedule.ordered(job_state)\n",
        "defaults",
        "ZeroDivisionError",
        "give every field a default",
    ),
    "no docstring": (
        "@dataclass(frozen=True)\nclass Mine:\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n",
        "documented",
        "has no docstring",
        "say in one line",
    ),
    "wrong arguments": (
        GOOD + "    def schedule(self, job_state):\n        return Schedule.ordered(job_state)\n",
        "verb",
        "too many positional arguments",
        "def schedule(self, job_state, cluster_state)",
    ),
    "raises": (
        SCHEDULE + "        return job_state.colour\n",
        "runs",
        "raises AttributeError",
        "mend that line",
    ),
    "reads true durations": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.duration_s)\n",
        "runs",
        "raises AttributeError: the state has no 'duration_s'",
        "job_state.expected_s, job_state.remaining_s()",
    ),
    "misspells a column": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.columns.sumbit_s)\n",
        "runs",
        "the state has no 'sumbit_s'",
        "did you mean 'submit_s'?",
    ),
    "returns nothing": (
        SCHEDULE + "        Schedule.ordered(job_state)\n",
        "answer",
        "schedule() returns None, not a Schedule",
        "return Schedule.ordered",
    ),
    "returns rows instead of a schedule": (
        SCHEDULE + "        return job_state.active\n",
        "answer",
        "returns ndarray",
        "return Schedule.ordered",
    ),
    "a list of jobs in a schedule": (
        SCHEDULE + "        return Schedule(job_state.active.tolist())\n",
        "answer",
        "not an array of whole numbers",
        "job_state.active",
    ),
    "positions instead of rows": (
        SCHEDULE + "        return Schedule(np.arange(len(job_state.active)))\n",
        "rows",
        "is not active",
        "list rows of job_state.active",
    ),
    "rows that were never submitted": (
        SCHEDULE + "        return Schedule(job_state.active + 1000)\n",
        "rows",
        "row 1000, and only rows 0 to",
        "the rows you are given",
    ),
    "a job twice": (
        SCHEDULE + "        return Schedule(np.concatenate((job_state.active, job_state.active)))\n",
        "rows",
        "'job-0' more than once",
        "list every job once",
    ),
    "a key that is nan": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.column('deadline_s'))\n",
        "columns",
        "nan for job 'job-0'",
        "nan_to_num",
    ),
    "a key of all rows": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.columns.priority)\n",
        "columns",
        "key 1 of the Schedule has the shape",
        "aligned with job_state.active",
    ),
    "a key of words": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.column('user'))\n",
        "columns",
        "an array of object",
        "an array of numbers",
    ),
    "a key that is a list": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=[1.0] * len(job_state.active))\n",
        "columns",
        "key 1 of the Schedule is list",
        "an array of numbers",
    ),
    "a column of another length": (
        SCHEDULE + "        return replace(Schedule.ordered(job_state), gpu_type=np.zeros(99, dtype=int))\n",
        "columns",
        "'gpu_type' has the shape (99,)",
        "aligned",
    ),
    "grants that a job cannot use": (
        SCHEDULE + "        return replace(Schedule.ordered(job_state), gpus=job_state.gpus + 1)\n",
        "gangs",
        "is granted 3 GPUs, and can use 2 to 2",
        "between min_gpus and max_gpus",
    ),
    "grants unsigned numbers": (
        SCHEDULE
        + "        return replace(Schedule.ordered(job_state), gpus=job_state.gpus.astype(np.uint64))\n",
        "answer",
        "gpus are uint64",
        ".astype(np.int64)",
    ),
    "grants nothing": (
        SCHEDULE + "        return replace(Schedule.ordered(job_state), gpus=job_state.gpus * 0)\n",
        "gangs",
        "is granted 0 GPUs",
        "leave a job out",
    ),
    "writes to the state": (
        SCHEDULE + "        job_state.columns.priority[job_state.active] = 7\n"
        "        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state in place",
        "job_state.memory",
    ),
    "writes one number": (
        SCHEDULE + "        job_state.scalars.held_gpus[0] = 7\n        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state in place",
        "job_state.memory",
    ),
    "sorts the state": (
        SCHEDULE + "        job_state.active.sort()\n        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state in place",
        "array.copy()",
    ),
    "assigns to the state": (
        SCHEDULE
        + "        job_state.active = job_state.active[::-1]\n        return Schedule.ordered(job_state)\n",
        "pure",
        "job_state.active was assigned",
        "job_state.memory",
    ),
    "keeps a note on the state": (
        SCHEDULE + "        cluster_state.seen = getattr(cluster_state, 'seen', 0) + 1\n"
        "        return Schedule.ordered(job_state)\n",
        "pure",
        "cluster_state.seen was assigned",
        "job_state.memory",
    ),
    "admits jobs itself": (
        SCHEDULE + "        job_state.finish(job_state.active[:1], job_state.now)\n"
        "        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state",
        "job_state.memory",
    ),
    "reports metrics itself": (
        SCHEDULE + "        job_state.report_metric('loss', job_state.active, 1.0)\n"
        "        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the state",
        "job_state.memory",
    ),
    "remembers in itself": (
        GOOD + "    rounds: list = field(default_factory=list)\n"
        "    def schedule(self, job_state, cluster_state):\n"
        "        self.rounds.append(job_state.now)\n        return Schedule.ordered(job_state)\n",
        "pure",
        "changes the policy itself",
        "job_state.memory(self, factory)",
    ),
    "assigns to itself": (
        SCHEDULE + "        self.last = job_state.now\n        return Schedule.ordered(job_state)\n",
        "pure",
        "assigns to a frozen object",
        "job_state.memory(self, factory)",
    ),
    "throws dice of its own": (
        SCHEDULE + "        key = np.array([random.random() for _ in job_state.active])\n"
        "        return Schedule.ordered(job_state, by=key)\n",
        "deterministic",
        "gives two answers",
        "job_state.rng(self)",
    ),
    "remembers in its module": (
        "ASKED = []\n" + SCHEDULE + "        ASKED.append(1)\n"
        "        return Schedule.ordered(job_state, by=(job_state.active + len(ASKED)) % 3)\n",
        "deterministic",
        "gives two answers",
        "keep nothing in the policy or its module",
    ),
    "remembers by the state's address": (
        "SEEN = {}\n" + SCHEDULE + "        turn = SEEN[id(job_state)] = SEEN.get(id(job_state), 0) + 1\n"
        "        return Schedule.ordered(job_state, by=job_state.active * (-1 if turn > 3 else 1))\n",
        "fork",
        "on a fork of the state",
        "job_state.memory(self, factory)",
    ),
    "a memory that cannot be copied": (
        "import threading\n" + SCHEDULE + "        job_state.memory(self, threading.Lock)\n"
        "        return Schedule.ordered(job_state)\n",
        "fork",
        "memory cannot be copied",
        "keep plain values",
    ),
    "remembers from run to run": (
        "RUNS = {}\n" + SCHEDULE + "        first = RUNS.setdefault('first', id(job_state.columns))\n"
        "        RUNS['more'] = RUNS.get('more', 0) + (job_state.now == 0 and not job_state.running.any())\n"
        "        return Schedule.ordered(job_state, by=-job_state.active if RUNS['more'] % 5 == 4 else"
        " job_state.active)\n",
        "repeatable",
        "the first time and",
        "keep nothing between runs",
    ),
    "promises too much": (
        SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.gpu_seconds())\n"
        "    def stable_until(self, job_state, cluster_state):\n        return float('inf')\n",
        "stable",
        "with rounds passed over",
        "the earliest time at which the answer could change",
    ),
    "promises no time": (
        SCHEDULE + "        return Schedule.ordered(job_state)\n"
        "    def stable_until(self, job_state, cluster_state):\n        return None\n",
        "stable",
        "returns None, not a time",
        "float('inf')",
    ),
    "never lists wide jobs": (
        SCHEDULE + "        return Schedule(job_state.active[job_state.gpus < 8])\n",
        "finishes",
        "'job-0' (8 GPUs) was never started",
        "list every active job sooner or later",
    ),
    "starves by thrashing": (
        SCHEDULE + "        turn = int(job_state.now // 300) % 2\n"
        "        rows = job_state.active\n"
        "        return Schedule(rows[rows > 0] if turn or len(rows) > 1 else rows[:0])\n",
        "finishes",
        "'job-0'",
        "list every active job sooner or later",
    ),
    "accepts a mask": (
        ACCEPT + "        return job_state.columns.gpus[new_jobs] < 100\n",
        "answer",
        "returns a mask, not rows",
        "new_jobs[enters]",
    ),
    "accepts None": (
        ACCEPT + "        return None\n",
        "answer",
        "accept() returns None",
        "new_jobs[:0] for none",
    ),
    "accepts fractions": (
        ACCEPT + "        return new_jobs.astype(float)\n",
        "answer",
        "array of float64",
        "new_jobs[enters]",
    ),
    "accepts strangers": (
        ACCEPT + "        return np.union1d(new_jobs, job_state.active)\n",
        "rows",
        "not in the wait queue",
        "a selection of the rows in new_jobs",
    ),
    "accepts twice": (
        ACCEPT + "        return np.repeat(new_jobs, 2)\n",
        "rows",
        "more than once",
        "list every job once",
    ),
    "holds jobs for ever": (
        ACCEPT + "        return new_jobs[job_state.columns.gpus[new_jobs] < 8]\n",
        "finishes",
        "'job-0' was never admitted",
        "admit a job at the latest when",
    ),
    "changes the queue": (
        ACCEPT + "        job_state.add_new_jobs(new_jobs)\n        return new_jobs[:0]\n",
        "pure",
        "changes the state",
        "job_state.memory",
    ),
    "places a dictionary": (
        PLACE + "        return {}\n",
        "answer",
        "returns dict ({}), not an Allocation",
        "Allocation.from_dict",
    ),
    "a GPU twice": (
        PLACE + "        size = job_state.columns.gpus\n"
        "        return Allocation.from_dict({int(row): tuple(range(size[row])) for row in schedule.jobs})\n",
        "gpus",
        "GPU 0 is given to job 'job-0' and job 'job-1'",
        "a GPU goes to one job",
    ),
    "a GPU that does not exist": (
        PLACE + "        row = schedule.jobs[:1]\n        need = job_state.columns.gpus[row]\n"
        "        return Allocation(row, need, np.arange(need.sum()) + 1000)\n",
        "gpus",
        "gets GPU 1000, and there are GPUs 0 to 11",
        "cluster_state.free_ids()",
    ),
    "a node that is down": (
        PLACE + FIRST_FIT + "            used = {gpu for gpus in wanted.values() for gpu in gpus}\n"
        "            free = [gpu for gpu in range(len(cluster_state.gpu_node)) if gpu not in used]\n"
        "            if row not in wanted and len(free) >= need:\n"
        "                wanted[row] = tuple(free[:need])\n        return Allocation.from_dict(wanted)\n",
        "gpus",
        "which is down",
        "cluster_state.node_up",
    ),
    "half a gang": (
        PLACE + FIRST_FIT + "            if row not in wanted and free:\n"
        "                wanted[row] = tuple(free[:need])\n                free = free[need:]\n"
        "        return Allocation.from_dict(wanted)\n",
        "gangs",
        "GPUs, and is granted",
        "or nothing",
    ),
    "deaf to resizing and types": (
        PLACE + FIRST_FIT + "            if row not in wanted and len(free) >= need:\n"
        "                wanted[row] = tuple(free[:need])\n                free = free[need:]\n"
        "        return Allocation.from_dict(wanted)\n",
        "types",
        "may use p100 only",
        "job_state.columns.gpu_types",
    ),
    "keeps jobs that are not listed": (
        PLACE
        + "        if len(cluster_state.allocation.jobs):\n            return cluster_state.allocation\n"
        "        row = schedule.jobs[schedule.order][:1]\n        need = job_state.columns.gpus[row]\n"
        "        return Allocation(row, need, cluster_state.free_ids()[: int(need.sum())])\n",
        "rows",
        "the schedule does not list it",
        "gives up its GPUs",
    ),
    "counts that do not add up": (
        PLACE
        + "        return Allocation(schedule.jobs, job_state.columns.gpus[schedule.jobs], np.arange(1))\n",
        "columns",
        "and 1 GPU ids",
        "Allocation.from_dict",
    ),
    "takes GPUs itself": (
        PLACE
        + "        cluster_state.holdings.replace(Allocation())\n        return cluster_state.allocation\n",
        "pure",
        "cluster_state.allocation was assigned",
        "job_state.memory",
    ),
    "ends jobs that are not active": (
        TERMINATE + "        return np.arange(job_state.submitted)\n",
        "rows",
        "is not active",
        "a selection of job_state.active",
    ),
    "ends with None": (
        TERMINATE + "        pass\n",
        "answer",
        "terminate() returns None",
        "job_state.active[:0] for none",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_found_and_said(policy_file, name):
    text, rule, what, fix = FAULTS[name]
    report = check(policy_file(text))
    finding = report.finding(rule)
    assert finding.ok is False, report
    assert what in f"{finding.what}", report
    assert fix in finding.fix, report
    assert not report.ok
    assert "does not conform" in str(report) and f"✗ {finding.claim}" in str(report)


def test_what_a_policy_raises_is_told_with_its_own_line(policy_file):
    spec = policy_file(
        SCHEDULE + "        key = self.key(job_state)\n        return Schedule.ordered(job_state, by=key)\n"
        "    def key(self, job_state):\n        return job_state.gpus / {}['none']\n"
    )
    finding = check(spec).finding("runs")
    assert "KeyError" in finding.what
    assert finding.where.startswith("mine.py:12, scheduling policy ./mine.py:Mine, at 0 s")
    assert "one job on an idle cluster" in finding.where


def test_a_fault_in_the_answer_is_told_with_the_line_of_the_verb(policy_file):
    finding = check(policy_file(SCHEDULE + "        return None\n")).finding("answer")
    assert finding.where.startswith("mine.py:8, scheduling policy ./mine.py:Mine")


def test_rules_that_could_not_be_tried_are_neither_kept_nor_broken(policy_file):
    report = check(policy_file(SCHEDULE + "        return None\n"))
    assert report.finding("finishes").ok is None
    assert "– lets every job finish (not tried to the end, for the reason above)" in str(report)


@pytest.mark.parametrize(
    ("text", "broken", "kept"),
    [
        (SCHEDULE + "        raise KeyError('none')\n", "runs", ()),
        (SCHEDULE + "        raise SystemExit(3)\n", "runs", ()),
        (SCHEDULE + "        return [1]\n", "answer", ("runs",)),
        (SCHEDULE + "        return Schedule(job_state.active + 1)\n", "rows", ("runs", "answer")),
        (ACCEPT + "        return None\n", "answer", ("runs",)),
        (SCHEDULE + "        return [[1], [1, 2]]\n", "answer", ("runs",)),
        (SCHEDULE + "        return object()\n", "answer", ("runs",)),
        (PLACE + "        return {}\n", "answer", ("runs",)),
        (TERMINATE + "        return np.arange(job_state.submitted + 1)\n", "rows", ("runs", "answer")),
    ],
)
def test_a_rule_that_no_valid_answer_was_judged_by_is_not_ticked(policy_file, text, broken, kept):
    report = check(policy_file(text))
    in_runs = [f for f in report.findings if f.rule not in ("dataclass", "defaults", "documented", "verb")]
    assert [f.rule for f in in_runs if f.ok is False] == [broken], report
    assert tuple(f.rule for f in in_runs if f.ok) == kept, report
    assert "– same state, same answer (not tried: it gave no valid answer)" in str(report)


def test_a_rule_that_needs_two_answers_is_not_ticked_where_one_never_bore_comparison(policy_file):
    report = check(
        policy_file(
            SCHEDULE + "        key = np.array([random.random() for _ in job_state.active])\n"
            "        return Schedule.ordered(job_state, by=key)\n"
        )
    )
    assert report.finding("fork").ok is None
    assert report.finding("rows").ok and report.finding("pure").ok


def test_a_fault_in_one_case_leaves_the_ticks_that_the_others_earned(policy_file):
    report = check(
        policy_file(
            SCHEDULE + "        if len(job_state.active) > 15:\n            raise KeyError('crowd')\n"
            "        return Schedule.ordered(job_state)\n"
        )
    )
    assert report.finding("runs").ok is False
    assert all(report.finding(rule).ok for rule in ("answer", "rows", "pure", "deterministic", "fork"))


def test_several_faults_are_all_found(policy_file):
    report = check(
        policy_file("class Mine:\n    def schedule(self, job_state, cluster_state):\n        return 1\n")
    )
    assert {fault.rule for fault in report.faults} == {"dataclass", "documented", "answer"}


def test_a_policy_without_a_promise_conforms(policy_file):
    report = check(
        policy_file(SCHEDULE + "        return Schedule.ordered(job_state, by=job_state.gpu_seconds())\n")
    )
    assert report.ok, report
    assert "asked every round" in report.finding("stable").what


def test_memory_in_the_right_place_conforms(policy_file):
    text = (
        SCHEDULE + "        seen = job_state.memory(self, dict)\n"
        "        for row in job_state.active.tolist():\n            seen[row] = seen.get(row, 0) + 1\n"
        "        return Schedule.ordered(job_state, by=np.array([seen[r] % 7 for r in job_state.active]))\n"
    )
    report = check(policy_file(text))
    assert report.ok, report


def test_random_numbers_from_the_state_conform(policy_file):
    text = (
        SCHEDULE
        + "        return Schedule.ordered(job_state, by=job_state.rng(self).random(len(job_state.active)))\n"
    )
    report = check(policy_file(text))
    assert report.ok, report


def test_lists_of_rows_are_as_good_as_arrays(policy_file):
    report = check(policy_file(ACCEPT + "        return [int(row) for row in new_jobs]\n"))
    assert report.ok, report
