"""Which service a connection speaks to. Each stands in a package of its own, and is imported when it is asked for."""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from noarkit.connectors.port import Service
from noarkit.connectors.settings import Connection
from noarkit.errors import UsageFault


class Kind(Protocol):
    """What the package of a service brings: `noarkit.connectors.crm` and the like."""

    def open_service(self, to: Connection) -> Service:
        """The service behind a connection. Raises `ConfigFault`, `SecretFault`. Sends nothing yet."""
        ...


def open_service(to: Connection) -> Service:
    """The service behind a connection. Raises `UsageFault` for one that this installation does not know."""
    try:
        module = importlib.import_module(f"noarkit.connectors.{to.service}")
    except ModuleNotFoundError as error:
        if error.name != f"noarkit.connectors.{to.service}":
            raise
        raise UsageFault(what="unknown-source", where=to.where) from error
    return cast(Kind, module).open_service(to)  # each of these packages has one
