"""Where a database is: its URL, without any password; and where the password lies that it needs.

A password never stands in a URL: not on the command line, not in a plan, not in a log. It comes from the config
(`[connections.NAME]` with the same `url` and `password = { file = … }`), from PGPASSFILE and ~/.pgpass, or from a MySQL
option file (`?option_file=…`, else ~/.my.cnf).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from noarkit import config
from noarkit.errors import NoarkitError, SecretOnTheLine, UsageFault
from noarkit.secrets import Secret, SecretSource, secret_source

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
MYSQL = "mysql"

_FAMILIES = {
    "sqlite": SQLITE,
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "mysql": MYSQL,
    "mariadb": MYSQL,
}
_DRIVERS = {SQLITE: "sqlite", POSTGRESQL: "postgresql+psycopg", MYSQL: "mysql+pymysql"}
_OWN_DRIVERS = {POSTGRESQL: "psycopg", MYSQL: "pymysql"}
_URL = re.compile(r"([a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?:/", re.IGNORECASE)
_SECRET_WORDS = ("password", "passwd", "pwd", "sslpassword", "ssl_key_password")
_OPTION_FILE = "option_file"
Connections = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Address:
    """A database by its family (`sqlite`, `postgresql`, `mysql`, or another name that SQLAlchemy knows) and its URL.

    `where` is how it is shown and kept in a plan; it holds no secret. `password_source` is where its password lies,
    once `is_looked_up`.
    """

    family: str
    where: str
    password_source: SecretSource | None = field(default=None, repr=False, compare=False)
    is_looked_up: bool = field(default=False, repr=False, compare=False)

    @property
    def url(self) -> URL:
        """The parts of the URL."""
        return make_url(self.where)

    @property
    def name(self) -> str:
        """What the database is called: the file's stem, or the last part of the URL."""
        database = self.url.database or self.url.username or self.family
        return Path(database).stem if self.family == SQLITE else database

    @property
    def file(self) -> Path:
        """The file of an SQLite database."""
        return Path(self.url.database or "")

    @property
    def option_file(self) -> str:
        """The MySQL option file that the URL names; empty if it names none."""
        return _first_value(self.url.query.get(_OPTION_FILE))

    @property
    def driver_url(self) -> URL:
        """The URL as the driver wants it, still without a password."""
        url = self.url.difference_update_query([_OPTION_FILE])
        return url.set(drivername=_DRIVERS.get(self.family, url.drivername))


def read_address(where: str) -> Address | None:
    """The database behind `where`; None if it is no database URL.

    Raises `SecretOnTheLine` for a URL that carries a password, `UsageFault` for one that cannot be read.
    """
    match = _URL.match(where)
    if match is None:
        return None
    family = _FAMILIES.get(match[1].lower(), "")
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        if not family:
            return None
        raise UsageFault(what="database-url", where=_redacted_url(where)) from error
    if not family and not _is_known(url):
        return None
    if url.password is not None or any(word in _SECRET_WORDS for word in (name.lower() for name in url.query)):
        raise SecretOnTheLine(where=_redacted_url(where))
    if family == SQLITE:
        return _sqlite(url, where)
    if family:
        driver = url.drivername.partition("+")[2]
        if driver and driver != _OWN_DRIVERS[family]:
            raise UsageFault(what="database-driver", where=_redacted_url(where), do=_OWN_DRIVERS[family])
        url = url.set(drivername=family)
    if not url.database:
        raise UsageFault(what="database-unnamed", where=_redacted_url(where))
    return Address(family or url.get_backend_name(), url.render_as_string(hide_password=False))


def with_password_source(address: Address, connections: Connections) -> Address:
    """The same address, with the place of the password that one of these connections of a config keeps for it."""
    for name, connection in connections.items():
        url = connection.get("url")
        if not isinstance(url, str) or "password" not in connection:
            continue
        candidate = read_address(url)
        if candidate is not None and candidate.where == address.where:
            source = secret_source(connection["password"], f"connections.{name}.password")
            return replace(address, password_source=source, is_looked_up=True)
    return replace(address, password_source=None, is_looked_up=True)


def password_of(address: Address, environment: Mapping[str, str]) -> Secret | None:
    """The password that a config keeps for this URL; None if it keeps none, and the driver is to look itself.

    Where nobody gave a config, it is the usual one. Raises `SecretFault` where it cannot be read.
    """
    if not address.is_looked_up:
        address = with_password_source(address, _usual_connections(environment))
    return address.password_source.read(environment) if address.password_source is not None else None


def _usual_connections(environment: Mapping[str, str]) -> Connections:
    try:
        file_name = environment.get(f"{config.PREFIX}CONFIG")
        file = Path(file_name) if file_name else None
        return config.load(config.Sources(environment=environment, file=file)).connections
    except NoarkitError:
        return {}  # a config that cannot be read is told by the command itself


def option_file_of(address: Address, environment: Mapping[str, str]) -> str | None:
    """The MySQL option file that holds: the one the URL names, else ~/.my.cnf where there is one."""
    if address.option_file:
        return address.option_file
    usual = Path(environment.get("HOME") or Path.home()) / ".my.cnf"
    return str(usual) if usual.is_file() else None


def _sqlite(url: URL, where: str) -> Address:
    if not url.database or url.database == ":memory:" or url.host:
        raise UsageFault(what="database-unnamed", where=where)
    path = Path(url.database).absolute()
    return Address(SQLITE, URL.create("sqlite", database=str(path)).render_as_string(hide_password=False))


def _is_known(url: URL) -> bool:
    try:
        url.get_dialect()
    except (NoSuchModuleError, ImportError, ArgumentError):
        return False
    return True


def _redacted_url(where: str) -> str:
    """A URL that may be shown, whatever stands in it: what could be a secret is left out."""
    head, _, tail = where.partition("://")
    host = tail.rpartition("@")[2].partition("?")[0]
    return f"{head}://{host}"


def _first_value(value: str | tuple[str, ...] | None) -> str:
    return value if isinstance(value, str) else value[0] if value else ""
