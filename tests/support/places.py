"""Where the tests find files: the project itself, and the folder of data beside it."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("BLOX_SHARED") or ROOT.parent / "shared")
SAMPLES = ROOT / "tests" / "workloads" / "readers" / "samples"
