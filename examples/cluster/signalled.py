"""A script that does not know blox: it is preempted by SIGTERM, upon which it saves and ends.

blox submit --preemption signal -- python examples/cluster/signalled.py
"""

import os
import signal
import sys
import time
from pathlib import Path

saved = Path(os.environ.get("BLOX_CHECKPOINT", ".")) / "count.txt"
count = int(saved.read_text()) if saved.exists() else 0


def leave(number, frame):
    saved.write_text(str(count))
    sys.exit(75)  # not finished: to be started again


signal.signal(signal.SIGTERM, leave)
while count < 100:
    time.sleep(0.05)
    count += 1
    print(f"step {count} loss {1 / count:.4f}")
