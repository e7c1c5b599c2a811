"""scripts/bench profile NAME …: the twenty lines that our rounds of a benchmark spend most time at, over all threads.

A thread of ours looks every millisecond where each thread is. What waits (for another thread, a socket, a child) is
told as one share and takes no place among the lines. Children and servers are processes of their own and not seen; a
line that gives the interpreter away (the database, a file, a socket) is seen a little too often.
"""

from __future__ import annotations

import linecache
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from noarkit.safe.children import OUR_THREADS

_EVERY_S = 0.001
_SHOWN = 20
_WAITING = (
    *("/threading.py", "/selectors.py", "/queue.py", "/futures/thread.py", "/multiprocessing/connection.py"),
    *("/multiprocessing/popen_fork.py", "/subprocess.py", "/socket.py", "/archive/stream.py", "/safe/sockets.py"),
)
_HERE = Path(__file__).parents[2]


class LineProfile:
    """Counts where threads are, while they are watched."""

    def __init__(self) -> None:
        self._lines: Counter[tuple[str, int]] = Counter()
        self._waiting = 0
        self._is_watching = threading.Event()
        threading.Thread(target=self._watch, name=f"{OUR_THREADS}profile", daemon=True).start()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watches until the block ends."""
        interval_s = sys.getswitchinterval()
        sys.setswitchinterval(_EVERY_S / 2)
        self._is_watching.set()
        try:
            yield
        finally:
            self._is_watching.clear()
            sys.setswitchinterval(interval_s)

    def rows(self) -> Iterator[str]:
        """The costliest lines as a table."""
        total = sum(self._lines.values())
        yield f"{total:,} looks at work, {self._waiting:,} at what waits"
        yield "| share | line | code |"
        yield "|---|---|---|"
        for (name, number), count in self._lines.most_common(_SHOWN):
            code = linecache.getline(name, number).strip().replace("|", "\\|")
            yield f"| {count / max(1, total):.1%} | {_short(name)}:{number} | `{code[:90]}` |"

    def _watch(self) -> None:
        ours = threading.get_ident()
        while self._is_watching.wait():
            time.sleep(_EVERY_S)
            for thread, frame in sys._current_frames().items():
                if thread != ours:
                    self._count(frame)

    def _count(self, frame: FrameType) -> None:
        name = frame.f_code.co_filename
        if name.startswith("<"):
            return
        if name.endswith(_WAITING):
            self._waiting += 1
        else:
            self._lines[name, frame.f_lineno or 0] += 1


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(_HERE)) if path.is_relative_to(_HERE) else "/".join(path.parts[-2:])
