"""Settings of a connection from the command line (`--set`): they override the environment and the file.

    --set tenant=etaten --set api_key.file=/etc/noarkit/appsec.secret

A secret is never given as a value: `"KEY.file"`, `"KEY.command"`, `"KEY.credential"` or `"KEY.env"` says where it is
stored.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from noarkit.errors import SecretOnTheLine, UsageFault
from noarkit.secrets import KINDS
from noarkit.services.settings import Connection

SECRET_KEYS = frozenset(
    {"api_key", "client_secret", "mcp_url", "mcp_urls", "proxy_secret", "pseudonym_key", "refresh_token", "server_key",
     "webhook_secret", "webhook_secret_old", "write_key"}
)  # fmt: skip
_LISTS = frozenset({"mcp_urls"})
Value = str | dict[str, object] | list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Override:
    """One override: its key, and its value as in a config file."""

    key: str
    value: Value


def read_overrides(assignments: Sequence[str]) -> tuple[Override, ...]:
    """Parses `KEY=VALUE` assignments. Raises `UsageFault`, and `SecretOnTheLine` for a secret given as a value; neither
    repeats the value."""
    return tuple(_read_override(assignment) for assignment in assignments)


def apply_overrides(connection: Connection, overrides: Sequence[Override]) -> Connection:
    """Returns the connection with the overrides applied."""
    values: dict[str, object] = dict(connection.values)
    environment = dict(connection.environment)
    for override in overrides:
        values[override.key] = override.value
        environment.pop(connection.variable(override.key), None)
    return replace(connection, values=values, environment=environment)


def origins(connection: Connection, overrides: Sequence[Override]) -> Mapping[str, str]:
    """Returns where each setting of a connection comes from: `flag`, `environment` or `file`. `connection` is the
    configured one."""
    origin_by_key = dict.fromkeys(connection.values, "file")
    begin = connection.variable("")
    for name, value in connection.environment.items():
        if name.startswith(begin) and value:
            origin_by_key[name.removeprefix(begin).casefold()] = "environment"
    return origin_by_key | dict.fromkeys((override.key for override in overrides), "flag")


def _read_override(assignment: str) -> Override:
    name, equals, value = assignment.partition("=")
    key, dot, kind = name.strip().partition(".")
    is_secret = key in SECRET_KEYS
    if not equals or not key or not value.strip() or (dot and (kind not in KINDS or not is_secret)):
        raise UsageFault(
            what="bad-value", where=f"--set {name.strip()[:60] if equals else ''}".strip(), fix="--set", own="setting"
        )
    if not is_secret:
        return Override(key, value.strip())
    if not dot:
        raise SecretOnTheLine(where=f"--set {key}")
    source: dict[str, object] = {kind: shlex.split(value) if kind == "command" else value.strip()}
    return Override(key, [source] if key in _LISTS else source)
