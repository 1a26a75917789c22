"""A process that has imported torch once, and forks a rank whenever one is to be started.

    python zygote.py serve SOCKET                     # in the background
    python -S -E zygote.py run SOCKET SCRIPT ARGS...  # the command of a rank

Importing torch takes seconds; two hundred preemptions of four ranks would take an hour of it. `run` stands
for the rank under its guard: it hands over its environment, its directory and its output, ends with the exit
code of the forked process, and takes that with it when it is killed. Everything else of the cluster is as it
is.
"""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import traceback


def run(path, command):
    """Has a command forked, and ends as it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        told = {"command": command, "environment": dict(os.environ), "directory": os.getcwd()}
        socket.send_fds(connection, [json.dumps(told).encode()], [1, 2])
        code = connection.recv(16)
    os._exit(int(code) if code else 1)


def serve(path):
    """Forks until standard input ends. One thread: a fork takes no lock with it that another holds."""
    import runpy

    import torch.distributed
    import torch.nn.parallel
    import torch.optim

    import blox.client  # noqa: F401

    torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])  # imports what an optimizer needs
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    ranks = {}  # pidfd -> (connection, pid)
    while True:
        connections = {connection: (pidfd, pid) for pidfd, (connection, pid) in ranks.items()}
        ready, _, _ = select.select([0, listener, *ranks, *connections], [], [])
        if 0 in ready:
            for _, pid in ranks.values():
                os.kill(pid, signal.SIGKILL)
            return
        for each in ready:
            if each is listener:
                connection, _ = listener.accept()
                data, files, _, _ = socket.recv_fds(connection, 1 << 20, 2)
                pid = os.fork()
                if not pid:
                    listener.close()
                    become(json.loads(data), files, runpy)
                for file in files:
                    os.close(file)
                ranks[os.pidfd_open(pid)] = connection, pid
            elif each in connections:  # `run` was killed
                os.kill(connections[each][1], signal.SIGKILL)
                select.select([connections[each][0]], [], [])
        for pidfd in [pidfd for pidfd in ranks if select.select([pidfd], [], [], 0)[0]]:
            connection, pid = ranks.pop(pidfd)
            os.close(pidfd)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with contextlib.suppress(OSError), connection:
                connection.send(str(code if code >= 0 else 1).encode())


def become(told, files, runpy):
    """In the forked process: the script, as if started by the command."""
    code = 1
    try:
        os.dup2(files[0], 1)
        os.dup2(files[1], 2)
        os.chdir(told["directory"])
        os.environ.clear()
        os.environ.update(told["environment"])
        sys.argv = told["command"]
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        run(sys.argv[2], sys.argv[3:])
