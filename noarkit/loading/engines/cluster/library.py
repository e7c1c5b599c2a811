"""Imports Dask distributed, set up so that it decides nothing by itself: it never runs anything again, moves no work,
opens no port but the one that is asked for, and sends nothing anywhere else.
"""

from __future__ import annotations

import importlib
import logging
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, cast

from noarkit.errors import UsageFault
from noarkit.wings import extra_command

_SETTINGS: dict[str, object] = {
    # What a worker was at when it was lost is in doubt; only our coordinator may give it to another.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.scheduler.idle-timeout": None,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.comm.require-encryption": True,
    "distributed.comm.compression": False,
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "60s",
    "distributed.worker.lifetime.duration": None,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.log-length": 100,
    "distributed.diagnostics.nvml": False,
    # A file below somebody's home must not be able to run code in here.
    "distributed.scheduler.preload": [],
    "distributed.worker.preload": [],
    "distributed.client.preload": [],
    "distributed.client.security-loader": None,
    "distributed.scheduler.contact-address": None,
    "distributed.scheduler.blocked-handlers": [],
}


def distributed() -> Any:  # the library tells no types
    """The module `distributed`. Raises `UsageFault` where the extra is not installed."""
    try:
        module: ModuleType = importlib.import_module("distributed")
    except ImportError as error:
        raise UsageFault(what="no-cluster", where="distributed", do=extra_command("cluster")) from error
    # What it has to say is for its own developers; what matters to a user is told by us.
    for name in ("distributed", "distributed.worker", "distributed.scheduler", "tornado", "asyncio"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)
        logger.handlers = [logging.NullHandler()]
    return module


def quiet_settings() -> AbstractContextManager[object]:
    """Sets the library up, for as long as the block lasts."""
    distributed()
    dask = importlib.import_module("dask")
    return cast("AbstractContextManager[object]", dask.config.set(_SETTINGS))
