"""What users may ask to see, and what they are shown. Values, light to import; reading changes nothing."""

from __future__ import annotations

import msgspec

from blox.state.node_events import NodeState

PAGE = 500  # jobs in one answer


class ListJobs(msgspec.Struct, frozen=True, tag=True):
    """Jobs in order of submission, those behind `after`, PAGE at most; only those that have not ended, unless
    `ended`."""

    ended: bool = False
    after: int = 0


class ShowJob(msgspec.Struct, frozen=True, tag=True):
    job: int


class GuessStart(msgspec.Struct, frozen=True, tag=True):
    """When a job that waits would start, drawn so often."""

    job: int
    draws: int = 20


class ListNodes(msgspec.Struct, frozen=True, tag=True):
    pass


class ShowPolicies(msgspec.Struct, frozen=True, tag=True):
    pass


Query = ListJobs | ShowJob | GuessStart | ListNodes | ShowPolicies


class LifeEntry(msgspec.Struct, frozen=True):
    """Something that happened to a job; `gpus`: those that it holds from then on."""

    at_s: float
    what: str
    gpus: tuple[int, ...] = ()


class Queueing(msgspec.Struct, frozen=True):
    """`place` in line, from 1: among the jobs that wait, in the order of the policies. `why` it waits."""

    place: int
    why: str


class Guess(msgspec.Struct, frozen=True):
    """When a job would start: seconds from now that 10, 50 and 90 % of the draws stay within; None: it would
    not start. `draws`: how often it was drawn."""

    low_s: float | None
    middle_s: float | None
    high_s: float | None
    draws: int


class JobView(msgspec.Struct, frozen=True):
    """`state`: waiting, starting, running, stopping, failed (to be tried again), or how it ended. Times are
    those of the cluster (s); its 0 is `origin_s` of the wall clock. `metrics`, `queueing` and `life` are told
    of a single job only."""

    job: int
    name: str
    user: str
    gpus: int
    state: str
    nodes: tuple[str, ...]
    submit_s: float
    end_s: float | None
    epoch: int
    failures: int
    iteration: int
    checkpoint: int
    command: tuple[str, ...]
    expected_s: float | None = None  # what is believed of its run time, and
    expected_from: str = "unknown"  # whose belief that is
    metrics: dict[str, float] = {}  # as last pushed
    queueing: Queueing | None = None  # None: it does not wait
    origin_s: float = 0.0
    life: tuple[LifeEntry, ...] = ()


class NodeView(msgspec.Struct, frozen=True):
    """`state` is what the operator wants; `alive` whether its worker manager answers."""

    node: str
    gpus: int
    used: int
    gpu_type: str
    state: NodeState
    alive: bool
    address: str
    jobs: tuple[int, ...]


class PoliciesView(msgspec.Struct, frozen=True):
    """`fault`: what a policy did wrong in the latest round, or what was lost at a restart."""

    admission: str
    scheduler: str
    placement: str
    now_s: float
    round_s: float
    fault: str
    termination: str = "completed"
