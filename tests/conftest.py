"""For all tests: no setting of whoever runs them reaches them, and tests can share modules of this folder."""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

for name in [name for name in os.environ if name.startswith("MEMLAKE_")]:
    del os.environ[name]
os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def pytest_collection_finish() -> None:
    """Thousands of collected tests and imported modules stay to the end: no collection need look at them again."""
    gc.collect()
    gc.freeze()
