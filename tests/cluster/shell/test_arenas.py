"""The threads of a process share few of malloc's arenas."""

import platform
import subprocess
import sys

import pytest

# 24 threads that are alive together allocate; arenas other than the first begin at a multiple of 64 MB.
COUNT = """
import ctypes, re, sys, threading
from blox.cluster.shell.arenas import limit_arenas
if sys.argv[1] == "limited":
    limit_arenas()
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
together = threading.Barrier(24)
found = set()
def work():
    for size in (1 << 10, 1 << 16):
        found.add(malloc(size) >> 26)
        together.wait()
threads = [threading.Thread(target=work) for _ in range(24)]
for each in threads: each.start()
for each in threads: each.join()
print(len(found))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_few_arenas():
    def regions(word):
        done = subprocess.run([sys.executable, "-c", COUNT, word], capture_output=True, text=True, check=True)
        return int(done.stdout)

    # Two arenas; the first, which grows with the process, may lie across a boundary.
    assert regions("limited") <= 3 < regions("unlimited")
