"""Makes copies with the fake tools, and is killed at a step: `derive_until.py SOURCE COPIES LOG STEP`.

Step 0 is never reached; the number of steps is printed at the end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from noarkit.copies import coordinator, objects
from noarkit.copies.coordinator import DerivingOptions, DerivingTools
from noarkit.copies.store import CopyStore
from noarkit.forms.finders import open_source
from tests.copies.fake import FakePolicy, toolbox

STEPS = ("begin_walk", "note_document", "link", "plan", "lease", "settle", "give_back", "relink")


def main() -> None:
    source, copies, log, last = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    count = 0

    def step() -> None:
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            step()
            result = method(*args, **more)
            step()
            return result

        return call

    for name in STEPS:
        setattr(CopyStore, name, around(getattr(CopyStore, name)))
    setattr(coordinator, "place_object", around(objects.place_object))  # noqa: B010  # where it is called
    tools = DerivingTools(FakePolicy(), partial(toolbox, log), lambda event: None)
    with CopyStore.open(copies, create=True) as store:
        coordinator.derive(open_source(source), store, tools, DerivingOptions(workers=2))
    print(count)


if __name__ == "__main__":
    main()
