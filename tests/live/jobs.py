"""Jobs that are slow, and that die in mid-job on request: what a worker of the tests is told to run besides the others.

Each session that is compacted is noted in the file `CE_TEST_NOTES`; a worker waits for `CE_TEST_PAUSE` seconds in the
middle of each, when the row is written and not committed.
"""

import os
import time
from pathlib import Path
from typing import Any

from convengine.server.memory import compaction

_whole = compaction._store_memory


def _slowly(row: Any, *rest: Any) -> None:
    _whole(row, *rest)
    with Path(os.environ["CE_TEST_NOTES"]).open("a") as notes:
        notes.write(f"{os.getpid()} {row.pk}\n")
    time.sleep(float(os.environ["CE_TEST_PAUSE"]))


compaction._store_memory = _slowly
