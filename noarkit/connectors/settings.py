"""A connection as it is configured: `[connections.crm.main]` of noarkit.toml, and its variables before it.

`NOARKIT_CRM_MAIN_API_URL` goes before `api_url`; a secret stands in a file, a command, a credential or a variable,
never in the config. Hosts, prefixes and limits are settings with the documented defaults of their service.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.config import LOOPBACK as NO_PROXY
from noarkit.config import PREFIX, Config
from noarkit.config import SERVICES as SERVICES
from noarkit.connectors.pace import Rate
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.wire import Line, Proxy, Wire
from noarkit.errors import ConfigFault, SecretOnTheLine
from noarkit.safe.tls import Trust, context
from noarkit.safe.urls import UrlPolicy
from noarkit.secrets import Secret, SecretSource, secret_source

LINE_KEYS = frozenset(
    {"hosts", "private_hosts", "plain_http", "ca", "cert", "key", "proxy", "proxy_user", "proxy_secret", "no_proxy",
     "connect_timeout_s", "answer_timeout_s",
     "max_connections", "state", "webhook_secret", "webhook_secret_old", "webhook_header", "webhook_timestamp_header",
     "webhook_path"}
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_RATE = re.compile(r"(\d+)\s*/\s*(\d+(?:\.\d+)?)?\s*(s|second|minute|min|m|hour|h|day)?")
_SPANS = {"s": 1, "second": 1, "minute": 60, "min": 60, "m": 60, "hour": 3_600, "h": 3_600, "day": 86_400, None: 1}
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection: its service, its name, what is configured, and the environment."""

    service: str
    name: str
    values: Mapping[str, object]
    environment: Mapping[str, str]

    @property
    def where(self) -> str:
        """How it is named: `crm:main`."""
        return f"{self.service}:{self.name}"

    def text(self, key: str, default: str = "") -> str:
        """A text. Raises `ConfigFault` where it is none."""
        value = self._found(key, default)
        if not isinstance(value, str):
            raise ConfigFault(where=self._place(key), why="not-text")
        return value.strip()

    def needed(self, key: str) -> str:
        """A text that must be there."""
        value = self.text(key)
        if not value:
            raise ConfigFault(where=self._place(key), why="not-set")
        return value

    def url(self, key: str, default: str = "") -> str:
        """An address, without a slash at its end. Raises `ConfigFault`, and `SecretOnTheLine` for one with a secret."""
        value = self.text(key, default).rstrip("/")
        if not value:
            return ""
        try:
            split = urlsplit(value)
            _ = split.port
        except ValueError as error:
            raise ConfigFault(where=self._place(key), why="not-an-address") from error
        if split.username is not None or split.password is not None:
            raise SecretOnTheLine(where=self._place(key))
        if split.scheme not in ("http", "https") or not split.hostname:
            raise ConfigFault(where=self._place(key), why="not-an-address")
        return value

    def number(self, key: str, default: float) -> float:
        """A number that is not negative."""
        value = self._found(key, default)
        try:
            found = float(str(value))
        except ValueError as error:
            raise ConfigFault(where=self._place(key), why="not-a-number") from error
        if isinstance(value, bool) or not 0 <= found < 1e12:
            raise ConfigFault(where=self._place(key), why="not-a-number")
        return found

    def flag(self, key: str, default: bool = False) -> bool:
        """Yes or no."""
        value = self._found(key, default)
        if isinstance(value, bool):
            return value
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if not isinstance(value, str) or value.casefold() not in known:
            raise ConfigFault(where=self._place(key), why="not-yes-or-no")
        return known[value.casefold()]

    def texts(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        """A list of texts; one that stands in a variable has commas."""
        value = self._found(key, None)
        if value is None:
            return tuple(default)
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise ConfigFault(where=self._place(key), why="not-a-list")
        return tuple(part.strip() for part in parts if part.strip())

    def secret(self, key: str) -> Secret | None:
        """A secret, fetched now; None where none is configured. Raises `SecretFault`."""
        variable = self.variable(key)
        if self.environment.get(variable):
            return SecretSource("env", (variable,)).read(self.environment)
        entry = self.values.get(key)
        return None if entry is None else secret_source(entry, self._place(key)).read(self.environment)

    def secrets(self, key: str) -> tuple[Secret, ...]:
        """A list of secrets; those of a variable are apart by spaces. Raises `ConfigFault`, `SecretFault`."""
        variable = self.variable(key)
        if self.environment.get(variable):
            told = SecretSource("env", (variable,)).read(self.environment)
            return tuple(Secret(part) for part in told.reveal().split())
        entries = self.values.get(key, [])
        if not isinstance(entries, list):
            raise ConfigFault(where=self._place(key), why="not-a-list")
        return tuple(secret_source(entry, self._place(key)).read(self.environment) for entry in entries)

    def rates(self, key: str, default: Iterable[str] = ()) -> tuple[Rate, ...]:
        """Limits such as `600/minute`, `100/10s` or `5000/day`. Raises `ConfigFault`."""
        return tuple(_rate(text, self._place(key)) for text in self.texts(key, default))

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raises `ConfigFault` for a key nobody reads, which is most often one that was misspelt."""
        names = {*known, *LINE_KEYS}
        for key in self.values:
            if key not in names:
                raise ConfigFault(where=self._place(key), why="unknown-key", key=key)

    def state_folder(self) -> Path:
        """Where grants, marks and counts of this connection lie; ours alone."""
        own = self.text("state")
        folder = Path(own).expanduser() if own else user_state(self.environment) / "connections"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def state_file(self, tail: str) -> Path:
        """A file of this connection's state."""
        return self.state_folder() / f"{self.service}-{self.name}.{tail}"

    def variable(self, key: str) -> str:
        """The variable that goes before a key of the file."""
        return f"{PREFIX}{self.service}_{self.name}_{key}".upper().replace("-", "_")

    def _found(self, key: str, default: object) -> object:
        told = self.environment.get(self.variable(key), "")
        return told if told else self.values.get(key, default)

    def _place(self, key: str) -> str:
        return f"connections.{self.service}.{self.name}.{key}"


def names_connection(where: str) -> bool:
    """True for what looks like `crm:main`."""
    service, colon, name = where.partition(":")
    return bool(colon) and service in SERVICES and _NAME.fullmatch(name) is not None


def connection(
    where: str, config: Config, environment: Mapping[str, str], *, must_be: bool = True
) -> Connection | None:
    """The connection that `crm:main` names; None where that is no such name. Raises `ConfigFault` for one unknown where
    it `must_be` configured."""
    if not names_connection(where):
        return None
    service, _, name = where.partition(":")
    table = config.connections.get(service, {})
    values = table.get(name)
    begin = f"{PREFIX}{service}_{name}_".upper().replace("-", "_")
    if must_be and values is None and not any(key.startswith(begin) for key in environment):
        raise ConfigFault(where=f"connections.{service}.{name}", why="no-such-connection")
    return Connection(service, name, values if isinstance(values, Mapping) else {}, environment)


def open_wire(to: Connection, urls: Iterable[str], scrubber: Scrubber) -> Wire:
    """The way to a service: it may ask the hosts of `urls` and those configured, by https alone unless on this machine.

    Raises `ConfigFault` for http to another machine without `plain_http = true`.
    """
    split = [urlsplit(url) for url in urls if url]
    names = {part.hostname or "" for part in split} | set(to.texts("hosts"))
    private = (names & LOOPBACK) | set(to.texts("private_hosts"))
    plain = {part.hostname or "" for part in split if part.scheme == "http"}
    if plain - LOOPBACK and not to.flag("plain_http"):
        raise ConfigFault(where=f"connections.{to.service}.{to.name}", why="plain-http")
    schemes = frozenset({"https", "http"} if plain else {"https"})
    paths = [Path(to.text(key)).expanduser() if to.text(key) else None for key in ("ca", "cert", "key")]
    line = Line(
        where=to.where,
        policy=UrlPolicy(frozenset(names), schemes, frozenset(private)),
        tls=context(Trust(*paths)),
        proxy=_proxy(to, scrubber),
        connect_timeout_s=to.number("connect_timeout_s", 15.0),
        answer_timeout_s=to.number("answer_timeout_s", 60.0),
        max_connections=int(to.number("max_connections", 8)),
    )
    return Wire(line, scrubber)


def _proxy(to: Connection, scrubber: Scrubber) -> Proxy | None:
    url = to.url("proxy")
    if not url:
        return None
    if not url.startswith("http://"):
        raise ConfigFault(where=f"connections.{to.service}.{to.name}.proxy", why="proxy-not-http")
    secret = to.secret("proxy_secret")
    if secret is not None:
        scrubber.learn(secret.reveal())
    return Proxy(url, to.text("proxy_user"), secret, to.texts("no_proxy", NO_PROXY))


def user_state(environment: Mapping[str, str]) -> Path:
    """Where this user's state lies: a service manager names a folder, else the one that systems use."""
    own = environment.get("STATE_DIRECTORY", "").split(os.pathsep)[0] or environment.get("XDG_STATE_HOME")
    home = Path(environment.get("HOME") or Path.home())
    return (Path(own) if own else home / ".local" / "state") / "noarkit"


def _rate(text: str, where: str) -> Rate:
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise ConfigFault(where=where, why="rate")
    calls, times, span = found.groups()
    return Rate(int(calls), float(times or 1) * _SPANS[span])
