"""Connections by their names: `crm:main` is `[connections.crm.main]` of the config.

What a person asks of a connection goes to the kind of service that it names: opening it, consent, commands, webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from noarkit.config import PREFIX, Config
from noarkit.errors import ConfigFault, UsageFault
from noarkit.service_names import is_connection_name
from noarkit.services.port import Service
from noarkit.services.registry import find_kind
from noarkit.services.settings import Connection

if TYPE_CHECKING:
    from noarkit.services.access.login import Login


def read_connection(
    full_name: str, config: Config, environment: Mapping[str, str], *, must_be: bool = True
) -> Connection | None:
    """Reads the connection named `crm:main`; None if that is no such name. Raises `ConfigFault` for an unknown one if
    it `must_be` configured."""
    if not is_connection_name(full_name):
        return None
    service, _, name = full_name.partition(":")
    table = config.connections.get(service, {})
    values = table.get(name)
    begin = f"{PREFIX}{service}_{name}_".upper().replace("-", "_")
    if must_be and values is None and not any(key.startswith(begin) for key in environment):
        raise ConfigFault(where=f"connections.{service}.{name}", why="no-such-connection")
    return Connection(service, name, values if isinstance(values, Mapping) else {}, environment)


def open_service(to: Connection) -> Service:
    """Opens the service behind a connection. Sends nothing yet. Raises `UsageFault`, `ConfigFault`, `SecretFault`."""
    return find_kind(to.service).open_service(to)


def open_login(to: Connection) -> Login:
    """Builds the first consent to a connection. Raises `UsageFault` if none is needed, `ConfigFault`, `SecretFault`."""
    login = find_kind(to.service).open_login
    if login is None:
        raise UsageFault(what="no-consent-needed", where=to.full_name)
    return login(to)


def run_service_command(
    to: Connection, words: Sequence[str], arguments: Mapping[str, object]
) -> Iterator[Mapping[str, object]]:
    """Runs one of the service's own commands, such as `gates list`. Raises `UsageFault` for an unknown one."""
    commands = find_kind(to.service).commands
    if commands is None:
        raise UsageFault(what="bad-value", where=" ".join(words), do=f"noarkit connect {to.full_name}")
    return commands.run(to, words, arguments)


def renew_webhooks(to: Connection, now: datetime) -> int:
    """Renews the webhooks that a service would soon stop sending; returns how many. Raises a ServiceFault."""
    renew = find_kind(to.service).renew_webhooks
    return 0 if renew is None else sum(1 for _ in renew(to, now))
