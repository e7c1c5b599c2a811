"""A client's connection to the scheduler: shaken hands with, held to our version, and to giving nothing out again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from noarkit.errors import EngineAway, OtherVersion
from noarkit.loading.engines.cluster import tls
from noarkit.loading.engines.cluster.handshake import check_scheduler
from noarkit.loading.engines.cluster.library import distributed, quiet_settings
from noarkit.loading.engines.cluster.scheduler import ABOUT
from noarkit.loading.engines.remote import ClusterTarget
from noarkit.version import __version__

CALL_PATIENCE_S = 10.0


def connect(target: ClusterTarget, stack: ExitStack) -> Any:  # the library tells no types
    """The library's client, closed with `stack`. Raises `EngineAway`, `EngineTrust`, `OtherVersion`."""
    address, host, port = tls.read_address(target.address, "--engine")
    security = tls.security(target.tls, "coordinator")
    stack.enter_context(quiet_settings())
    check_scheduler(security, "client", host, port)
    try:
        client = distributed().Client(
            address, security=security, set_as_default=False, direct_to_workers=False, timeout=CALL_PATIENCE_S
        )
    except (OSError, TimeoutError) as error:
        raise EngineAway(where=target.address, why="not-reached") from error
    stack.callback(client.close, timeout=2)

    async def ask() -> Any:  # the library's own
        return await asyncio.wait_for(getattr(client.scheduler, ABOUT)(), CALL_PATIENCE_S)

    try:
        about = client.sync(ask)
    except Exception as error:  # one that is not ours says so in ways of its own
        raise EngineAway(where=target.address, why="scheduler-not-ours") from error
    if about.get("version") != __version__:
        raise OtherVersion(where=target.address, expected=__version__, found=about.get("version"))
    if about.get("allowed_failures") != 0 or about.get("steals"):
        raise EngineAway(where=target.address, why="scheduler-not-ours")
    return client


def check_link(client: Any, target: ClusterTarget) -> None:  # the library's own
    """Raises `EngineAway` once the scheduler is lost: what it sends after that is not all that was sent."""
    if client.status != "running":
        raise EngineAway(where=target.address, why="scheduler-lost")


def submit_once(client: Any, function: Callable[[bytes], object], message: bytes, *, key: str, worker: str) -> Any:
    """Has one worker call a function that it has with plain bytes: never again, and never another worker."""
    return client.submit(function, message, key=key, workers=[worker], allow_other_workers=False, retries=0, pure=False)
