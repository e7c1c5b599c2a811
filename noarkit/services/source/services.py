"""Which service a connection speaks to. Each stands in a package of its own, and is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol, cast

from noarkit.errors import UsageFault
from noarkit.services.access.login import Login
from noarkit.services.port import Service
from noarkit.services.settings import Connection


class ServicePackage(Protocol):
    """What the package of a service brings: `noarkit.services.crm` and the like."""

    def open_service(self, to: Connection) -> Service:
        """The service behind a connection. Raises `ConfigFault`, `SecretFault`. Sends nothing yet."""
        ...

    def open_login(self, to: Connection) -> Login:
        """A first consent to it. Raises `ConfigFault` for a connection that needs none."""
        ...


def open_service(to: Connection) -> Service:
    """The service behind a connection. Raises `UsageFault` for one that this installation does not know."""
    return _kind(to).open_service(to)


def open_login(to: Connection) -> Login:
    """A first consent to the service behind a connection. Raises `UsageFault`, `ConfigFault`, `SecretFault`."""
    return _kind(to).open_login(to)


def run_service_command(
    to: Connection, words: Sequence[str], arguments: Mapping[str, object]
) -> Iterator[Mapping[str, object]]:
    """What a person asks a service for in its own words, such as `gates list`. Raises `UsageFault` where it has none,
    or not these."""
    function = getattr(_kind(to), "run_command", None)
    if function is None:
        raise UsageFault(what="bad-value", where=" ".join(words), do=f"noarkit connect {to.full_name}")
    run = cast(Callable[..., Iterator[Mapping[str, object]]], function)  # a package that has one has it like this
    return run(to, words, arguments)


def renew_webhooks(to: Connection, now: datetime) -> int:
    """Renews the webhooks that a service would soon stop sending; says how many. Raises a ServiceFault."""
    function = getattr(_kind(to), "renew_webhooks", None)
    if function is None:
        return 0
    renew = cast(Callable[..., Iterator[object]], function)  # a package that has one has it like this
    return sum(1 for _ in renew(to, now))


def _kind(to: Connection) -> ServicePackage:
    try:
        module = importlib.import_module(f"noarkit.services.{to.service}")
    except ModuleNotFoundError as error:
        if error.name != f"noarkit.services.{to.service}":
            raise
        raise UsageFault(what="unknown-source", where=to.full_name) from error
    return cast(ServicePackage, module)  # each of these packages has both
