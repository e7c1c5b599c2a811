"""The configuration of a connection: `[connections.crm.main]` of noarkit.toml, overridden by environment variables.

`NOARKIT_CRM_MAIN_API_URL=…` overrides `api_url = …`; a secret is stored in a file, a command, a credential or a
variable, never in the config. Hosts, prefixes and limits are settings with the documented defaults of their service.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.config import LOOPBACK as NO_PROXY
from noarkit.config import PREFIX
from noarkit.errors import ConfigFault, SecretOnTheLine
from noarkit.safe.owners import user_state
from noarkit.safe.tls import Trust, client_context
from noarkit.safe.urls import UrlPolicy
from noarkit.secrets import Secret, SecretSource, secret_source
from noarkit.services.pace import Rate
from noarkit.services.scrub import Scrubber
from noarkit.services.waiting import OnWait, ignore_wait
from noarkit.services.wire import Proxy, Wire, WireSettings

LINE_KEYS = frozenset(
    {"hosts", "private_hosts", "plain_http", "ca", "cert", "key", "proxy", "proxy_user", "proxy_secret", "no_proxy",
     "connect_timeout_s", "answer_timeout_s",
     "max_connections", "state", "webhook_secret", "webhook_secret_old", "webhook_header", "webhook_timestamp_header",
     "webhook_path"}
)  # fmt: skip
_RATE = re.compile(r"(\d+)\s*/\s*(\d+(?:\.\d+)?)?\s*(s|second|minute|min|m|hour|h|day)?")
_SPANS = {"s": 1, "second": 1, "minute": 60, "min": 60, "m": 60, "hour": 3_600, "h": 3_600, "day": 86_400, None: 1}
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection: its service, its name, its configured values, and the environment; and who is told of waits."""

    service: str
    name: str
    values: Mapping[str, object]
    environment: Mapping[str, str]
    on_wait: OnWait = field(default=ignore_wait, compare=False, repr=False)

    @property
    def full_name(self) -> str:
        """Its full name: `crm:main`."""
        return f"{self.service}:{self.name}"

    def text(self, key: str, default: str = "") -> str:
        """Reads a text. Raises `ConfigFault` for another type."""
        value = self._lookup(key, default)
        if not isinstance(value, str):
            raise ConfigFault(where=self._key_path(key), why="not-text")
        return value.strip()

    def required_text(self, key: str) -> str:
        """Reads a required text. Raises `ConfigFault` if it is not set."""
        value = self.text(key)
        if not value:
            raise ConfigFault(where=self._key_path(key), why="not-set")
        return value

    def url(self, key: str, default: str = "") -> str:
        """Reads an address, without a slash at its end. Raises `ConfigFault`, and `SecretOnTheLine` for one with a
        secret."""
        value = self.text(key, default).rstrip("/")
        if not value:
            return ""
        try:
            split = urlsplit(value)
            _ = split.port
        except ValueError as error:
            raise ConfigFault(where=self._key_path(key), why="not-an-address") from error
        if split.username is not None or split.password is not None:
            raise SecretOnTheLine(where=self._key_path(key))
        if split.scheme not in ("http", "https") or not split.hostname:
            raise ConfigFault(where=self._key_path(key), why="not-an-address")
        return value

    def number(self, key: str, default: float) -> float:
        """Reads a number that is not negative. Raises `ConfigFault`."""
        value = self._lookup(key, default)
        try:
            number = float(str(value))
        except ValueError as error:
            raise ConfigFault(where=self._key_path(key), why="not-a-number") from error
        if isinstance(value, bool) or not 0 <= number < 1e12:
            raise ConfigFault(where=self._key_path(key), why="not-a-number")
        return number

    def flag(self, key: str, default: bool = False) -> bool:
        """Reads a yes or no. Raises `ConfigFault`."""
        value = self._lookup(key, default)
        if isinstance(value, bool):
            return value
        flags = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if not isinstance(value, str) or value.casefold() not in flags:
            raise ConfigFault(where=self._key_path(key), why="not-yes-or-no")
        return flags[value.casefold()]

    def texts(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        """Reads a list of texts; a variable separates them by commas. Raises `ConfigFault`."""
        value = self._lookup(key, None)
        if value is None:
            return tuple(default)
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ConfigFault(where=self._key_path(key), why="not-a-list")
        return tuple(part.strip() for part in parts if part.strip())

    def secret(self, key: str) -> Secret | None:
        """Fetches a secret now; None if none is configured. Raises `SecretFault`."""
        variable = self.variable(key)
        if self.environment.get(variable):
            return SecretSource("env", (variable,)).read(self.environment)
        entry = self.values.get(key)
        return None if entry is None else secret_source(entry, self._key_path(key)).read(self.environment)

    def secrets(self, key: str) -> tuple[Secret, ...]:
        """Fetches a list of secrets; a variable separates them by spaces. Raises `ConfigFault`, `SecretFault`."""
        variable = self.variable(key)
        if self.environment.get(variable):
            secret_list = SecretSource("env", (variable,)).read(self.environment)
            return tuple(Secret(part) for part in secret_list.reveal().split())
        entries = self.values.get(key, [])
        if not isinstance(entries, list):
            raise ConfigFault(where=self._key_path(key), why="not-a-list")
        return tuple(secret_source(entry, self._key_path(key)).read(self.environment) for entry in entries)

    def rates(self, key: str, default: Iterable[str] = ()) -> tuple[Rate, ...]:
        """Reads limits such as `600/minute`, `100/10s` or `5000/day`. Raises `ConfigFault`."""
        return tuple(_rate(text, self._key_path(key)) for text in self.texts(key, default))

    def refuse_unknown(self, known_keys: Iterable[str]) -> None:
        """Raises `ConfigFault` for an unknown key, which is most often misspelt."""
        names = {*known_keys, *LINE_KEYS}
        for key in self.values:
            if key not in names:
                raise ConfigFault(where=self._key_path(key), why="unknown-key", key=key)

    def state_folder(self) -> Path:
        """Returns the private folder for grants, watermarks and counts of this connection."""
        configured = self.text("state")
        folder = Path(configured).expanduser() if configured else user_state(self.environment) / "connections"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def state_file(self, tail: str) -> Path:
        """Returns the path of a state file of this connection."""
        return self.state_folder() / f"{self.service}-{self.name}.{tail}"

    def variable(self, key: str) -> str:
        """Returns the environment variable that overrides a key."""
        return f"{PREFIX}{self.service}_{self.name}_{key}".upper().replace("-", "_")

    def _lookup(self, key: str, default: object) -> object:
        variable_value = self.environment.get(self.variable(key), "")
        return variable_value if variable_value else self.values.get(key, default)

    def _key_path(self, key: str) -> str:
        return f"connections.{self.service}.{self.name}.{key}"


def open_wire(connection: Connection, urls: Iterable[str], scrubber: Scrubber) -> Wire:
    """Opens the HTTP wire to a service: only the hosts of `urls` and configured ones, by https unless on this machine.

    Raises `ConfigFault` for http to another machine without `plain_http = true`.
    """
    split = [urlsplit(url) for url in urls if url]
    names = {part.hostname or "" for part in split} | set(connection.texts("hosts"))
    private = (names & LOOPBACK) | set(connection.texts("private_hosts"))
    plain = {part.hostname or "" for part in split if part.scheme == "http"}
    if plain - LOOPBACK and not connection.flag("plain_http"):
        raise ConfigFault(where=f"connections.{connection.service}.{connection.name}", why="plain-http")
    schemes = frozenset({"https", "http"} if plain else {"https"})
    paths = [Path(connection.text(key)).expanduser() if connection.text(key) else None for key in ("ca", "cert", "key")]
    line = WireSettings(
        label=connection.full_name,
        policy=UrlPolicy(frozenset(names), schemes, frozenset(private)),
        tls=client_context(Trust(*paths)),
        proxy=_proxy(connection, scrubber),
        connect_timeout_s=connection.number("connect_timeout_s", 15.0),
        answer_timeout_s=connection.number("answer_timeout_s", 60.0),
        max_connections=int(connection.number("max_connections", 8)),
    )
    return Wire(line, scrubber, connection.on_wait)


def _proxy(connection: Connection, scrubber: Scrubber) -> Proxy | None:
    url = connection.url("proxy")
    if not url:
        return None
    if not url.startswith("http://"):
        raise ConfigFault(where=f"connections.{connection.service}.{connection.name}.proxy", why="proxy-not-http")
    secret = connection.secret("proxy_secret")
    if secret is not None:
        scrubber.learn(secret.reveal())
    return Proxy(url, connection.text("proxy_user"), secret, connection.texts("no_proxy", NO_PROXY))


def _rate(text: str, location: str) -> Rate:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ConfigFault(where=location, why="rate")
    calls, times, span = match.groups()
    return Rate(int(calls), float(times or 1) * _SPANS[span])
