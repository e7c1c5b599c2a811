"""The command that the tests kill: makes an extract, and ends as a power cut would at a named step. One JSON argument.

Before it ends it says the process ids of its children; without a step to end at it says how many steps there were.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from itertools import count
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.extraction.run import ExtractSettings, extract
from noarkit.extraction.workers import PoolSize
from noarkit.secrets import Secret


def main() -> None:
    """One extract, or as much of it as is wanted."""
    job = json.loads(sys.argv[1])
    steps = count()
    at = 0

    def pause() -> None:
        nonlocal at
        at = next(steps)
        if at == job["end_at"]:
            print(json.dumps([child.pid for child in multiprocessing.active_children()]), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    settings = ArchiveSettings(job["url"], Credentials(job["account"], Secret(job["secret"])), job["token_url"])
    with connect(settings) as archive:
        extract(archive, Path(job["target"]), ExtractSettings(pool_size=PoolSize(*job["team"]), pause=pause))
    print(at)


if __name__ == "__main__":
    main()
