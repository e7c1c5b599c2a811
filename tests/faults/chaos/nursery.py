"""What a process that begets children imports: the clocks first, then everything that a client needs."""

from __future__ import annotations

from tests.faults.chaos.clock import PROCESS

PROCESS.install()

import tests.faults.chaos.client  # noqa: E402, F401  # the clocks must be there before it
