"""An archive in a process of its own: DIR HOST PORT [SCRIPT]. Says one line when it serves, ends when its input does.

With `archive.pem` and `archive.key` in the folder above, it speaks TLS.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from noarkit.server.run import Address, ServingInfo, serve


def main() -> None:
    directory, host, port, *faults = sys.argv[1:]
    stopping = threading.Event()

    def watch() -> None:
        while os.read(0, 1024):
            pass
        stopping.set()

    def ready(told: ServingInfo) -> None:
        print(told.url, flush=True)

    threading.Thread(target=watch, daemon=True).start()
    script = Path(faults[0]) if faults else None
    certificate = Path(directory).parent / "archive.pem"
    tls = (certificate, certificate.with_suffix(".key")) if certificate.exists() else (None, None)
    serve(Path(directory), Address(host, int(port), *tls), faults=script, ready=ready, stop_event=stopping)


if __name__ == "__main__":
    main()
