"""The loader of a training script: leases, checkpoints, and the sample to resume at."""

import random
import subprocess
import sys

import pytest

from blox.client import LEFT, BloxDataLoader
from blox.client.page import FIELDS, LeasePage


class Left(BaseException):
    """The process would have ended, with this exit code."""


class Sum:
    """A model that adds up what it sees, with a little noise."""

    def __init__(self):
        self.value, self.seen = 0.0, []

    def train(self, item):
        self.value += item * random.random()
        self.seen.append(item)

    def state_dict(self):
        return self.value

    def load_state_dict(self, state):
        self.value = state


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The lease of a job of one rank on a cluster; leaving raises."""

    def leave(code):
        raise Left(code)

    made = LeasePage.create(tmp_path / "lease")
    monkeypatch.setenv("BLOX_LEASE", str(tmp_path / "lease"))
    monkeypatch.setenv("BLOX_RANK_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("BLOX_CHECKPOINT", str(tmp_path / "checkpoint"))
    monkeypatch.setattr("os._exit", leave)
    return made


def start(page, model, stop_after=-1, epochs=3, every=7):
    """One start of a job of `epochs` passes over ten items; its lease is revoked in an iteration."""
    page.revoked = 0
    loader = BloxDataLoader(range(10), {"model": model}, every=every)
    for _ in loader.epochs(epochs):
        for item in loader:
            model.train(item)
            if loader.iteration + 1 == stop_after:
                page.revoked = 1
    return loader


def test_without_a_cluster_data_passes_through(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("BLOX_LEASE", "BLOX_CHECKPOINT"):
        monkeypatch.delenv(name, raising=False)
    loader = BloxDataLoader([1, 2, 3], {"model": Sum()})
    assert [item for _ in range(2) for item in loader] == [1, 2, 3, 1, 2, 3]
    assert (loader.epoch, loader.iteration, len(loader)) == (2, 6, 3)
    assert list(tmp_path.iterdir()) == []


def test_a_revoked_lease_ends_the_process_after_a_checkpoint(page):
    with pytest.raises(Left, match=str(LEFT)):
        start(page, model := Sum(), stop_after=3)
    assert model.seen == [0, 1, 2]
    assert (page.iteration, page.checkpoint) == (3, 3)


@pytest.mark.parametrize("stops", [(3,), (10,), (7, 14), (1, 2, 12, 19, 20, 29), tuple(range(1, 30))])
def test_a_job_that_was_stopped_gives_what_one_that_was_not_gives(page, tmp_path, stops):
    """Each item once, in order, and what was drawn at random is the same."""
    random.seed(5)
    whole = Sum()
    loader = BloxDataLoader(range(10), {"model": whole}, directory=tmp_path / "other")
    for _ in loader.epochs(3):
        for item in loader:
            whole.train(item)
    random.seed(5)
    seen = []
    for stop in stops:
        with pytest.raises(Left):
            start(page, model := Sum(), stop)
        seen += model.seen
        random.seed(99)  # the next process begins otherwise
    last = start(page, model := Sum())
    assert seen + model.seen == whole.seen == [*range(10)] * 3
    assert model.value == whole.value
    assert (last.epoch, last.iteration, page.checkpoint) == (3, 30, 30)


def test_a_job_that_was_killed_goes_on_from_its_last_checkpoint(page):
    random.seed(5)
    model = Sum()
    loader = BloxDataLoader(range(10), {"model": model}, every=4)
    for item in loader:
        model.train(item)
        if item == 6:
            break  # it is killed
    assert page.checkpoint == 4
    again = start(page, model := Sum(), epochs=1, every=4)
    assert model.seen == [4, 5, 6, 7, 8, 9]
    assert again.iteration == 10


def test_a_loop_of_ones_own_over_passes_works_as_well(page):
    """Passes that were completed are empty; so the script need not know that it was interrupted."""
    with pytest.raises(Left):
        start(page, Sum(), stop_after=13)
    page.revoked = 0
    loader = BloxDataLoader(range(10), {"model": Sum()})
    assert [list(loader) for _ in range(3)] == [[], [*range(3, 10)], [*range(10)]]
    assert loader.iteration == 30


def test_a_pass_that_is_left_early_counts_as_one(page):
    loader = BloxDataLoader(range(10), {"model": Sum()})
    for _ in range(2):
        for item in loader:
            if item == 3:
                break
    assert (loader.epoch, loader.batch, loader.iteration) == (1, 3, 6)


def test_what_has_finished_is_not_done_again(page):
    start(page, Sum())
    again = start(page, model := Sum())
    assert model.seen == [] and again.iteration == 30


def test_checkpoints_of_ones_own_form_are_asked_on_every_rank(page, monkeypatch):
    class Mine:
        saved = None

        def save(self, position):
            self.saved = dict(position)

        def load(self):
            return self.saved

    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    mine = Mine()
    page.exit_at = 4
    with pytest.raises(Left):
        list(BloxDataLoader(range(10), mine, every=3))
    assert mine.saved["iteration"] == 4
    page.exit_at = -1
    assert list(BloxDataLoader(range(10), mine)) == [4, 5, 6, 7, 8, 9]


def test_a_full_disk_does_not_stop_training_but_leaving_without_a_checkpoint_is_a_failure(page, capsys):
    class Full:
        room = False

        def save(self, position):
            if not self.room:
                raise OSError(28, "No space left on device")

        def load(self):
            return None

    loader = BloxDataLoader(range(10), full := Full(), every=2)
    for item in loader:
        if item == 5:
            page.revoked = 1
            break
    assert page.checkpoint == 0
    assert capsys.readouterr().err.count("no checkpoint of iteration") == 2
    with pytest.raises(OSError, match="No space"):
        next(iter(loader))
    full.room = True
    with pytest.raises(Left):
        next(iter(loader))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"state": {"model": 3}}, "'model' is a int without state_dict"),
        ({"state": 3}, "state is a int"),
        ({"state": None, "every": 0}, "every is 0"),
    ],
)
def test_mistakes_are_answered_in_words(page, arguments, says):
    with pytest.raises((TypeError, ValueError), match=says):
        BloxDataLoader([1], **arguments)


def test_both_sides_see_the_same_page(tmp_path):
    ours = LeasePage.create(tmp_path / "lease", central=True)
    theirs = LeasePage(tmp_path / "lease")
    assert {name: getattr(theirs, name) for name in FIELDS} == {
        **dict.fromkeys(FIELDS, -1),
        "revoked": 0,
        "central": 1,
    }
    theirs.proposed = 8
    ours.exit_at = 8
    assert (ours.proposed, theirs.exit_at) == (8, 8)
    with pytest.raises(AttributeError):
        ours.unknown  # noqa: B018


def test_importing_the_client_imports_neither_torch_nor_numpy_nor_grpc():
    code = "import sys, blox.client; print({'torch', 'numpy', 'grpc'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
