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


class Watch(msgspec.Struct, frozen=True, tag=True):
    """What has changed since an answer of that `term` and `version`; everything, if the scheduler has started
    again since. `progress`: also how far the jobs that run have come. Where nothing has changed, the answer
    may come up to `wait_s` later, as soon as something has."""

    term: int = 0
    version: int = 0
    progress: bool = False
    wait_s: float = 0.0


class ShowQueue(msgspec.Struct, frozen=True, tag=True):
    """The jobs that wait, in the order of the policies, PAGE at most."""


Query = ListJobs | ShowJob | GuessStart | ListNodes | ShowPolicies | Watch | ShowQueue


class LifeEntry(msgspec.Struct, frozen=True):
    """Something that happened to a job; `gpus`: those that it holds from then on.

    A start is reported by a node, and may be told after the decision that took its GPUs away again.
    """

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
    """`state`: waiting, starting, running, stopping, ending (its processes have ended or are killed, and the
    next round takes that in), failed (to be tried again), or how it ended. Times are those of the cluster
    (s); its 0 is `origin_s` of the wall clock. `nodes`: where its processes are, or are to start. `metrics`,
    `queueing` and `life` are told of a single job only."""

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
    starts: int = 0  # how often a node has started it; `epoch` counts the decisions to do so


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


class JobRow(msgspec.Struct, frozen=True, array_like=True):
    """A job in a list that is kept up to date; `held`: its GPUs, by the cluster's numbers."""

    job: int
    name: str
    user: str
    tenant: str
    gpus: int
    state: str
    held: tuple[int, ...]
    submit_s: float
    end_s: float | None
    epoch: int
    failures: int
    iteration: int
    checkpoint: int
    expected_s: float | None
    starts: int = 0


class NodeRow(msgspec.Struct, frozen=True, array_like=True):
    """A node in such a list. Its GPUs follow those of the nodes before it."""

    node: str
    gpus: int
    gpu_type: str
    state: NodeState
    alive: bool


class Happening(msgspec.Struct, frozen=True, array_like=True):
    """An event of the scheduler's log."""

    at_s: float
    event: str
    fields: dict[str, str | int | float]


class News(msgspec.Struct, frozen=True):
    """What has changed. `whole`: what the reader knew before is void. `more`: ask again at once. `nodes` is
    None where none has changed, `progress` (job, iteration, checkpoint) where it was not asked for."""

    term: int
    version: int
    whole: bool
    more: bool
    now_s: float
    origin_s: float  # of the wall clock, at the cluster's time 0
    jobs: list[JobRow]
    nodes: list[NodeRow] | None
    policies: PoliciesView
    events: list[Happening]
    progress: list[tuple[int, int, int]] | None


class InLine(msgspec.Struct, frozen=True, array_like=True):
    """A job that waits: its number, its place in line (0: no round has seen it), its sort keys, the kind of
    reason and the reason."""

    job: int
    place: int
    keys: tuple[float | None, ...]
    cause: str
    why: str


class QueueView(msgspec.Struct, frozen=True):
    """`waiting` counts all; `note` says why there is no order, or that it is none of the policies'."""

    waiting: int
    rows: list[InLine]
    note: str = ""


class PoliciesView(msgspec.Struct, frozen=True):
    """`fault`: what a policy did wrong in the latest round, or what was lost at a restart."""

    admission: str
    scheduler: str
    placement: str
    now_s: float
    round_s: float
    fault: str
    termination: str = "completed"
