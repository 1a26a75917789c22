"""Settings on the command line, spoilt: every part that is registered, with values that it may not like."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random

from blox import Experiment, registry
from blox.cli.main import answer
from fuzz.mutation import NUMBERS, spoilt_text, token

CLUSTERS = (
    "2x4",
    "1x8",
    "4x2:cpu=24,memory_gb=500",
    "v100=1x4,p100=1x4",
    "32x4:racks=4",
    "2x4:network_gbps=10",
)
KINDS = {
    "workload": "workload", "admission": "admission", "scheduler": "scheduling", "placement": "placement",
    "termination": "termination", "performance": "performance", "compat": "compat",
}  # fmt: skip
OTHERS = {
    "cluster": CLUSTERS,
    "overheads": ("none", "per-model", "launch=30,restart=60", "launch=1,resize=2"),
    "belief": ("oracle", "noisy:sigma=0.5"),
    "clock": ("rounds", "events", "events:quantum_s=10"),
    "window": ("0-2", "1-1"),
    "round": ("300", "60", "0.5"),
    "seed": ("0", "7"),
    "max-rounds": ("5", "50"),
    "label": ("x",),
}  # fmt: skip


def case(rng: Random, folder: Path) -> None:
    """Runs a few jobs with one or two settings spoilt, on the command line or from a program."""
    wanted = rng.sample([*KINDS, *OTHERS], rng.choice((1, 1, 2)))
    settings = {name: _spec(rng, name) for name in wanted}
    if rng.random() < 0.3:
        _on_the_command_line(rng, settings)
        return
    values = {{"max-rounds": "max_rounds", "round": "round_s"}.get(k, k): v for k, v in settings.items()}
    numbers = {"round_s": float, "seed": int, "max_rounds": int}
    try:
        values = {name: numbers.get(name, str)(value) for name, value in values.items()}
    except ValueError:
        return
    Experiment(**{"cluster": "8x4", "max_rounds": 20, **values, "jobs": 3}).run()  # type: ignore[arg-type]


def _on_the_command_line(rng: Random, settings: dict[str, str]) -> None:
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    limit = [] if "max-rounds" in settings else ["--max-rounds", "20"]
    size = [] if "cluster" in settings else ["--cluster", "8x4"]
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = answer(["run", "--jobs", "3", *limit, *size, *words])
    assert code in (0, 2), f"exit code {code}"
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert len(err.getvalue()) < 10_000, "a long message"
    assert "\x1b" not in out.getvalue() + err.getvalue(), "an escape sequence"
    sys.stdout.flush()


def _spec(rng: Random, name: str) -> str:
    if name in OTHERS:
        good = rng.choice(OTHERS[name])
        return spoilt_text(rng, good) if rng.random() < 0.8 else token(rng)
    kind = KINDS[name]
    part = rng.choice(registry.names(kind))
    parameters = _parameters(kind, part)
    chosen = rng.sample(parameters, min(len(parameters), rng.choice((0, 1, 1, 2))))
    values = [f"{each}={_value(rng)}" for each in chosen]
    text = f"{part}:{','.join(values)}" if values else part
    return spoilt_text(rng, text) if rng.random() < 0.3 else text


def _value(rng: Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(("0", "1", "2", "0.5", "10", "true", "false", "-1", "100"))
    return rng.choice(NUMBERS) if rng.random() < 0.6 else token(rng)


@cache
def _parameters(kind: str, part: str) -> list[str]:
    return list(registry.parameters(registry.find(kind, part)))
