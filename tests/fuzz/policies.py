"""Policies that answer nonsense: run behind the guard, as every policy from a file is.

Some end the process, raise what no program catches, or sleep longer than they may.
"""

from pathlib import Path
from random import Random

from blox import Experiment

HEAD = """from dataclasses import dataclass

import numpy as np

from blox import Allocation, Schedule


@dataclass(frozen=True)
class Mine:
"""
VERBS = {
    "scheduler": "schedule(self, job_state, cluster_state)",
    "admission": "accept(self, new_jobs, cluster_state, job_state)",
    "placement": "place(self, schedule, cluster_state, job_state)",
    "termination": "terminate(self, job_state, cluster_state)",
}
ROWS = (
    "job_state.active", "job_state.active[:1]", "job_state.active[::-1]", "job_state.active[:0]",
    "job_state.waiting", "job_state.running", "np.array([], dtype=np.int64)", "np.array([0])",
    "np.array([0, 0])", "np.array([-1])", "np.array([10**9])", "np.arange(3)", "[0, 1]", "(0,)", "{0}",
    "range(2)", "np.array([0.5])", "np.array(['a'])", "np.array([None])", "np.array([[0, 1]])",
    "np.ones(3, dtype=bool)", "np.uint64([0])", "np.int8([0])", "None", "0", "'0'", "iter([0])",
    "np.array(0)", "job_state.active.astype(float)", "np.array([np.nan])",
)  # fmt: skip
KEYS = (
    "job_state.gpus", "-job_state.submit_s", "job_state.done_s()", "np.zeros(0)", "np.zeros(1)",
    "np.zeros(100)", "1.0", "np.full(len(job_state.active), np.nan)",
    "np.full(len(job_state.active), np.inf)", "job_state.gpus.astype(str)",
    "(job_state.gpus, job_state.submit_s)", "(job_state.gpus, 1)", "[1, 2]", "None", "'gpus'",
    "job_state.gpus[:, None]", "job_state.gpus > 1", "job_state.gpus.astype(object)",
    "job_state.gpus + 1j", "{}", "lambda: 1",
)  # fmt: skip
COUNTS = (
    "job_state.gpus", "np.ones(1, dtype=int)", "np.array([0])", "np.array([-1])", "np.array([4, 4])",
    "1", "None", "np.array([1.5])", "np.array([10**12])", "job_state.gpus * 2",
    "job_state.gpus.astype(float)",
)  # fmt: skip
GPUS = (
    "np.arange(4)", "np.arange(8)", "np.array([0, 0])", "np.array([-1])", "np.array([10**6])",
    "np.array([])", "None", "np.arange(8)[::-1]", "np.array(['a'])", "np.array([0.5])",
    "np.arange(int(job_state.gpus.sum()))",
)  # fmt: skip
OTHERS = (
    "None", "0", "1", "True", "''", "'fifo'", "[]", "{}", "()", "object()", "Schedule", "Allocation",
    "np.nan", "self", "job_state", "cluster_state", "1 / 0", "[][0]", "{}['x']", "undefined",
    "job_state.nothing", "int('x')", "exec('x =')", "np.zeros((2, 2))", "(_ for _ in ())", "b'x'",
    "Schedule()", "Allocation(1, 2, 3)", "__import__('nothing')", "np.ones(3) + np.ones(4)",
    "job_state.columns.gpus.fill(1)", "setattr(job_state, 'now', 0)", "'x' * 10**6",
)  # fmt: skip
PINS = (
    "{0: (0,)}", "{0: (0, 0)}", "{0: (-1,)}", "{0: (99999,)}", "{0: (0, 1, 2, 3)}",
    "{0: (0, 1, 2, 3), 1: (4, 5)}",
    "{0: (0, 1, 2, 3), 1: (0, 1)}", "{0: ()}", "{0: None}", "{0: 3}", "{0: 'ab'}", "{0: (0.5,)}",
    "{0: (True,)}",
    "{0: np.arange(4)}", "{0: np.array([0.0])}", "{0: [0, 1, 2, 3]}", "{0: (10**30,)}", "{9: (0,)}",
    "{None: (0,)}",
    "{'a': (0,)}", "{0.5: (0,)}", "[]", "()", "5", "'x'", "{}", "{np.int64(0): (0, 1, 2, 3)}",
    "{int(r): tuple(range(int(g))) for r, g in zip(job_state.active, job_state.gpus)}",
    "{int(r): (0,) for r in job_state.active}", "dict.fromkeys(job_state.active.tolist(), range(4))",
)  # fmt: skip
GRANTED = ("share_milli", "config", "cpu", "memory_gb", "share_group", "gpu_type")
VALUES = (
    "0", "-1", "-2", "1", "1000", "1001", "np.nan", "np.inf", "-np.inf", "1e300", "0.5", "'x'", "None",
    "True", "10**18", "7",
)  # fmt: skip
HARM = (
    "__import__('os')._exit(0)", "__import__('os')._exit(3)", "exec('raise KeyboardInterrupt')",
    "exec('raise BaseException(1)')", "exec('raise GeneratorExit')", "__import__('sys').exit()",
    "__import__('time').sleep(5)", "__import__('os').chdir('/')",
    "job_state.columns.gpus.setflags(write=True)", "job_state.columns.submit_s.setflags(write=True)",
    "[a.setflags(write=True) or a.fill(7) or a.setflags(write=False) for a in [job_state.columns.submit_s]]",
    *(
        f"[a.setflags(write=True) or a.fill({value}) or a.setflags(write=False) for a in [{array}]]"
        for array in ("job_state.columns.gpus", "job_state.columns.gpus.base", "job_state.columns.done0.base")
        for value in (-7, 3)
    ),
)  # fmt: skip
ATTRIBUTES = (
    "    stable_until = 5\n", "    stable_until = None\n", "    ignores_nodes = 'yes'\n",
    "    resizes = True\n", "    wakes_every_s = -1\n", "    wakes_every_s = 'x'\n",
    "    default_performance = 'nothing'\n", "    app_column = 'x'\n", "    rate: float = 'x'\n",
    "    x: list = None\n", "    y: undefined = 1\n",
    "    def stable_until(self, job_state, cluster_state):\n        return {value}\n",
    "    def __post_init__(self):\n        {value}\n",
    "    def figures(self, job_state):\n        return {value}\n",
    "    def job_columns(self, job_state):\n        return {value}\n",
)  # fmt: skip


def case(rng: Random, folder: Path) -> None:
    """Runs a few jobs under a policy that was drawn at random."""
    kind = rng.choice(list(VERBS))
    body = HEAD + "    '''Nonsense.'''\n\n"
    if rng.random() < 0.2:
        body += (
            rng.choice(ATTRIBUTES).replace("{value}", rng.choice((*OTHERS, "1e300", "-1.0", "{'a': 1}")))
            + "\n"
        )
    answer = _answer(rng, kind)
    body += f"    def {VERBS[kind]}:\n"
    if rng.random() < 0.05:
        body += f"        {rng.choice(HARM)}\n"
    if rng.random() < 0.3:  # well at first
        body += f"        if job_state.now < 600:\n            return {_good(kind)}\n"
    (folder / "mine.py").write_text(f"{body}        return {answer}\n")
    trace = folder / "t.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,4,900\nb,0,2,400\nc,100,2,1500\nd,700,4,60\n")
    settings = {
        kind: f"{folder / 'mine.py'}:Mine",
        "workload": str(trace),
        "cluster": "2x4",
        "max_rounds": 40,
        "policy_timeout_s": 0.5,
    }
    if kind != "placement":
        settings["placement"] = rng.choice(("first-free", "consolidated", "count"))
    Experiment(**settings).run()  # type: ignore[arg-type]


def _column(rng: Random, size: int | None = None) -> str:
    """An array aligned with the active jobs, or of a size; some are not arrays."""
    length = "len(job_state.active)" if size is None else str(size)
    value = rng.choice(VALUES)
    forms = (f"np.full({length}, {value})", f"np.array([{value}] * {length})", f"[{value}] * {length}")
    return rng.choice(forms)


def _good(kind: str) -> str:
    return {
        "scheduler": "Schedule.ordered(job_state)",
        "admission": "new_jobs",
        "placement": "cluster_state.allocation",
        "termination": "job_state.active[:0]",
    }[kind]


def _answer(rng: Random, kind: str) -> str:
    if rng.random() < 0.3:
        return rng.choice(OTHERS)
    rows, keys = rng.choice(ROWS), rng.choice(KEYS)
    if kind == "scheduler":
        forms = (
            f"Schedule({rows})", f"Schedule({rows}, ({keys},))", f"Schedule.ordered(job_state, {keys})",
            f"Schedule({rows}, {keys})", f"Schedule({rows}, (), {rng.choice(OTHERS)})",
            f"Schedule({rows}, gpus={rng.choice(COUNTS)})", f"Schedule({rows}, cpu={rng.choice(COUNTS)})",
            f"Schedule({rows}, pinned={rng.choice(PINS)})",
            f"Schedule(job_state.active, pinned={rng.choice(PINS)}, share_group={_column(rng)})",
            f"Schedule(job_state.active, {rng.choice(GRANTED)}={_column(rng)})",
            f"Schedule(job_state.active, {rng.choice(GRANTED)}={_column(rng)}, pinned={rng.choice(PINS)})",
        )  # fmt: skip
        return rng.choice(forms)
    if kind == "placement" and rng.random() < 0.3:
        whole = "schedule.jobs[:1], job_state.columns.gpus[schedule.jobs[:1]], np.arange(4)"
        return f"Allocation({whole}, {rng.choice(GRANTED[:-1])}={_column(rng, 1)})"
    if kind == "placement":
        counts, gpus = rng.choice(COUNTS), rng.choice(GPUS)
        return rng.choice(
            (f"Allocation({rows}, {counts}, {gpus})", "cluster_state.allocation", "Allocation()")
        )
    return rows if kind == "admission" else rng.choice((rows, f"({rows}, {keys})"))
