"""Settings of a connection that are given on the command line: they go before the environment and the file.

    --set tenant=etaten --set api_key.file=/etc/noarkit/appsec.secret

A secret is never given itself: `KEY.file`, `KEY.command`, `KEY.credential` or `KEY.env` says where it lies.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from noarkit.connectors.settings import Connection
from noarkit.errors import SecretOnTheLine, UsageFault
from noarkit.secrets import KINDS

SECRET_KEYS = frozenset(
    {"api_key", "client_secret", "mcp_url", "mcp_urls", "proxy_secret", "pseudonym_key", "refresh_token", "server_key",
     "webhook_secret", "webhook_secret_old", "write_key"}
)  # fmt: skip
_LISTS = frozenset({"mcp_urls"})
_DO = "--set tenant=NAME --set api_key.file=FILE"
Value = str | dict[str, object] | list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Given:
    """One setting: its key, and its value as a config file has it."""

    key: str
    value: Value


def read_given(told: Sequence[str]) -> tuple[Given, ...]:
    """What was given as `KEY=VALUE`. Raises `UsageFault`, and `SecretOnTheLine` for a secret that stands there itself;
    neither repeats what was given."""
    return tuple(_read(one) for one in told)


def with_given(to: Connection, given: Sequence[Given]) -> Connection:
    """The connection with these settings before all others."""
    values: dict[str, object] = dict(to.values)
    environment = dict(to.environment)
    for one in given:
        values[one.key] = one.value
        environment.pop(to.variable(one.key), None)
    return replace(to, values=values, environment=environment)


def origins(to: Connection, given: Sequence[Given]) -> Mapping[str, str]:
    """Where each setting of a connection comes from: `flag`, `environment` or `file`. `to` is as it was configured."""
    found = dict.fromkeys(to.values, "file")
    begin = to.variable("")
    for name, value in to.environment.items():
        if name.startswith(begin) and value:
            found[name.removeprefix(begin).casefold()] = "environment"
    return found | dict.fromkeys((one.key for one in given), "flag")


def _read(told: str) -> Given:
    name, equals, value = told.partition("=")
    key, dot, kind = name.strip().partition(".")
    is_secret = key in SECRET_KEYS
    if not equals or not key or not value.strip() or (dot and (kind not in KINDS or not is_secret)):
        raise UsageFault(what="bad-value", where=f"--set {name.strip()[:60] if equals else ''}".strip(), do=_DO)
    if not is_secret:
        return Given(key, value.strip())
    if not dot:
        raise SecretOnTheLine(where=f"--set {key}")
    source: dict[str, object] = {kind: shlex.split(value) if kind == "command" else value.strip()}
    return Given(key, [source] if key in _LISTS else source)
