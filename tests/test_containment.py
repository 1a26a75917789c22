"""Code of a user's file cannot end the process, leave it elsewhere or loop for ever."""

import os
import signal
import sys
import time

import pytest

from blox import containment
from blox.containment import ProcessEnd, TimeUp, by_signal, contained, time_limit
from support.waiting import PATIENCE_S, eventually


def test_an_end_of_the_process_becomes_an_error():
    leave = os._exit
    with pytest.raises(ProcessEnd, match=r"os._exit\(0\)"), contained():
        os._exit(0)
    assert os._exit is leave


def test_a_child_that_the_code_forks_may_end():
    with contained():
        child = os.fork()
        if not child:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_working_directory_is_what_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with contained():
        os.chdir("elsewhere")
    assert os.getcwd() == str(tmp_path)


def test_a_loop_is_ended_and_so_is_one_that_catches_everything():
    began, caught = time.monotonic(), 0
    with pytest.raises(TimeUp, match=r"no answer within 0.05 s"), time_limit(0.05):
        while caught < 2:
            try:
                while True:
                    pass
            except BaseException:
                caught += 1
                if caught == 2:
                    raise
    assert time.monotonic() - began < PATIENCE_S


def test_a_timer_that_was_set_before_goes_on():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with time_limit(60):
            pass
        assert signal.getitimer(signal.ITIMER_REAL)[0] <= 1.0
        assert eventually(lambda: rung)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]


def raised(function):
    try:
        function()
    except BaseException as error:
        return error
    return None


def test_who_raised_an_interrupt():
    def by_hand():
        raise KeyboardInterrupt

    def by_ctrl_c():
        signal.raise_signal(signal.SIGINT)

    def leaves():
        raise SystemExit(3)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert by_signal(raised(by_ctrl_c))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not by_signal(raised(by_hand))
    assert not by_signal(raised(leaves))
    assert not by_signal(ValueError())


def test_an_alarm_lets_what_stands_around_the_code_end_its_work():
    """One that comes while the limit is being taken off raises nothing: the timer would go on for ever."""
    space = {}
    exec(compile("import sys\nframe = sys._getframe()", containment.__file__, "exec"), space)
    with time_limit(1000.0):
        alarm = signal.getsignal(signal.SIGALRM)
        assert alarm(signal.SIGALRM, space["frame"]) is None
        with pytest.raises(TimeUp):
            alarm(signal.SIGALRM, sys._getframe())
