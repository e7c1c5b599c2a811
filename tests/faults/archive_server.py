"""An archive in a process of its own: DIR PORT [SCRIPT]. Says one line when it serves, ends when its input does."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from noarkit.server.run import Address, ServingInfo, serve


def main() -> None:
    directory, port, *faults = sys.argv[1:]
    stopping = threading.Event()

    def watch() -> None:
        while os.read(0, 1024):
            pass
        stopping.set()

    def ready(told: ServingInfo) -> None:
        print(told.url, flush=True)

    threading.Thread(target=watch, daemon=True).start()
    script = Path(faults[0]) if faults else None
    serve(Path(directory), Address(port=int(port)), faults=script, ready=ready, stop_event=stopping)


if __name__ == "__main__":
    main()
