"""The scheduler of a cluster: where coordinator and workers meet. It knows nothing that would be missed.

Set up so that it never runs anything a second time, gives no work to another worker, and opens no port but its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noarkit.loading.engines.cluster import tls
from noarkit.loading.engines.cluster.library import distributed, quiet_settings
from noarkit.loading.engines.cluster.listening import fault_of_address
from noarkit.safe.signals import call_at_stop
from noarkit.version import __version__

ABOUT = "noarkit_scheduler"


def serve_scheduler(folder: Path | None, host: str, port: int, ready: Callable[[str, int], None]) -> str:
    """Serves until a signal comes, whose name it returns; `ready` is told where once it can be reached.

    Raises what `tls.security` raises, and `ConfigFault` for an address that it cannot listen at.
    """
    with quiet_settings():
        security = tls.security(folder, "scheduler")
        return asyncio.run(_serve(security, host, port, ready))


async def _serve(security: Any, host: str, port: int, ready: Callable[[str, int], None]) -> str:
    scheduler_class = distributed().Scheduler
    # The library opens a second port for its pages; ours has none.
    quiet_class = type("QuietScheduler", (scheduler_class,), {"start_http_server": _start_nothing})
    try:
        scheduler = await quiet_class(
            host=host,
            port=port,
            protocol="tls",
            security=security,
            dashboard=False,
            extensions={},
            allowed_failures=0,
        )
    except (OSError, RuntimeError) as error:
        fault = fault_of_address(error, f"{host}:{port}")
        if fault is None:
            raise
        raise fault from error
    scheduler.handlers[ABOUT] = lambda: _about(scheduler)
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    call_at_stop(asyncio.get_running_loop(), lambda name: _end(ended, name))
    ready(host, int(scheduler.port))
    reason = await ended
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(scheduler.close(), 5.0)
    return reason


def _start_nothing(*_: object, **__: object) -> None:
    """Stands for what would open a port for pages."""


def _about(scheduler: Any) -> dict[str, object]:  # the library's own
    """What a coordinator asks before it trusts that nothing is run twice."""
    return {
        "version": __version__,
        "allowed_failures": scheduler.allowed_failures,
        "steals": "stealing" in scheduler.extensions,
    }


def _end(ended: asyncio.Future[str], name: str) -> None:
    if not ended.done():
        ended.set_result(name)
