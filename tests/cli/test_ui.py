"""`blox ui` as it is typed: what it prints, what it serves, how it ends."""

import signal
import subprocess
import sys
import urllib.request

from blox.ui.server import listen


def test_it_serves_the_film_until_it_is_interrupted(run, tmp_path):
    run([("a", 0, 2, 50)]).save(tmp_path / "run")
    command = [sys.executable, "-m", "blox", "ui", str(tmp_path / "run"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            address = line.split(" at ")[1].split()[0]
            assert b"film/main.js" in urllib.request.urlopen(address, timeout=300).read()
            process.send_signal(signal.SIGINT)
            assert process.wait(300) == 0 and process.stderr.read() == ""
        finally:
            process.kill()


def test_what_is_no_results_directory_is_refused(command, tmp_path):
    answer = command("ui", tmp_path / "absent")
    assert answer.code == 2 and "no such directory" in answer.err


def test_a_port_that_is_taken_is_told(command, run, tmp_path):
    run([("a", 0, 2, 50)]).save(tmp_path / "run")
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        answer = command("ui", tmp_path / "run", "--port", port)
    assert answer.code == 2 and f"127.0.0.1:{port}" in answer.err and "--port" in answer.err


def test_what_is_not_installed_is_named(command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    answer = command("ui", tmp_path)
    assert answer.code == 2 and "pip install 'blox[ui]'" in answer.err
