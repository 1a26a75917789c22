"""What a rank does at an iteration boundary."""

from blox.cluster.chaos.gangs import SimulatedLease
from blox.cluster.protocol.rank import NEVER, at_boundary


def lease(central=False, **fields):
    made = SimulatedLease(central)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_lease_that_is_not_revoked_lets_every_rank_go_on():
    assert [at_boundary(rank, 4, 7, lease()) for rank in range(4)] == ["go"] * 4


def test_a_job_of_one_rank_leaves_at_once():
    assert at_boundary(0, 1, 7, lease(revoked=True)) == "leave"


def test_the_lead_proposes_the_next_iteration_and_waits_until_all_nodes_know():
    own = lease(revoked=True)
    assert at_boundary(0, 4, 7, own) == "wait"
    assert own.proposed == 8
    assert at_boundary(0, 4, 7, own) == "wait"
    own.exit_at = 8
    assert at_boundary(0, 4, 7, own) == "go"  # one more iteration, which the others may have begun
    assert at_boundary(0, 4, 8, own) == "leave"


def test_other_ranks_never_propose():
    own = lease(revoked=True)
    assert at_boundary(3, 4, 7, own) == "go"
    assert own.proposed == NEVER


def test_other_ranks_leave_after_the_iteration_that_was_fixed():
    own = lease(exit_at=8)
    assert [at_boundary(3, 4, done, own) for done in (7, 8)] == ["go", "leave"]


def test_central_renewal_waits_for_leave_to_begin_each_iteration():
    own = lease(central=True)
    assert at_boundary(0, 2, 0, own) == "wait"
    assert own.asked == 0
    own.allowed = 0
    assert at_boundary(0, 2, 0, own) == "go"
    assert at_boundary(0, 2, 1, own) == "wait"
    assert at_boundary(1, 2, 1, own) == "go", "only the lead asks"
