"""A read-only session with one consistent snapshot, whatever the server.

    PostgreSQL   BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; further readers may share its snapshot
    MySQL        START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY (tables of InnoDB; others have no snapshots)
    SQLite       immutable where no -wal or -journal lies beside the file, else a copy of ours (see `local.py`)
    others       what SQLAlchemy can do: REPEATABLE READ or SERIALIZABLE where it is offered, and never a COMMIT

Values come as the server writes them: dates, times and intervals as ISO texts, decimals as Decimal, bytes as bytes.
Faults of drivers are translated here and nowhere else.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from sqlalchemy.engine.cursor import CursorFetchStrategy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from noarkit.errors import SourceDenied, SourceFault, SourceGone, UsageFault
from noarkit.sources.database.address import (
    MYSQL,
    POSTGRESQL,
    SQLITE,
    Address,
    option_file_of,
    password_of,
)
from noarkit.sources.database.faults import fault_of
from noarkit.sources.database.local import LocalCopy, sqlite_uri
from noarkit.sources.database.quiet import without_warnings
from noarkit.wings import EXTRAS, extra_command

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.engine.interfaces import Dialect

Row = Sequence[object]
_CONNECT_TIMEOUT_S = 15
_TEXTS_OF_POSTGRESQL = (
    *("date", "time", "timetz", "timestamp", "timestamptz", "interval", "json", "jsonb", "uuid", "inet", "cidr"),
    *("int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"),
    *("int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange"),
)
_BEGIN_POSTGRESQL = (
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET default_transaction_read_only = on",
    "SET datestyle = 'ISO, YMD'",
    "SET intervalstyle = 'iso_8601'",
    "SET timezone = 'UTC'",
    "SET synchronize_seqscans = off",
    "SET idle_in_transaction_session_timeout = 0",
    "SET statement_timeout = 0",
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
)
_BEGIN_MYSQL = (
    "SET SESSION time_zone = '+00:00'",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    "SET SESSION net_write_timeout = 3600",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_BEGIN_SQLITE = ("PRAGMA query_only = 1", "PRAGMA trusted_schema = OFF", "BEGIN")
_BEGIN = {POSTGRESQL: _BEGIN_POSTGRESQL, MYSQL: _BEGIN_MYSQL, SQLITE: _BEGIN_SQLITE}


class Session:
    """One connection, one snapshot, nothing written. Not for several threads at once; close it, or use `with`."""

    def __init__(self, address: Address, connection: Connection) -> None:
        self.address = address
        self._connection = connection
        self._pid = os.getpid()
        self._rests = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def family(self) -> str:
        """`"sqlite"`, `"postgresql"`, `"mysql"`, or the name of another."""
        return self.address.family

    @property
    def dialect(self) -> Dialect:
        """What quotes identifiers and compiles statements."""
        return self._connection.dialect

    @property
    def inspector(self) -> sa.Inspector:
        """What reflects tables."""
        return sa.inspect(self._connection)

    @property
    def can_interleave(self) -> bool:
        """True if other statements may run while a stream is open."""
        return self.family in (SQLITE, POSTGRESQL)

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """All rows of a statement in the driver's own words; for what is known to be few."""
        with self.faults():
            result = self._execute(statement, parameters)
            cursor = _unbuffered_cursor(result)
            if cursor is None:
                return [tuple(row) for row in result.fetchall()]
            rows: list[Row] = list(cursor.fetchall())
            result.close()
            return rows

    def first_row(self, statement: str, parameters: Sequence[object] = ()) -> Row | None:
        """The first row."""
        with self.faults():
            row = self._execute(statement, parameters).first()
            return None if row is None else tuple(row)

    def fetch_value(self, statement: str, parameters: Sequence[object]) -> bytes | str | None:
        """The one value of one row, fetched in the form that costs least; None if there is no row, or no value."""
        with self.faults():
            if self.family == POSTGRESQL:
                driver = self._connection.connection.driver_connection
                with driver.cursor(binary=True) as cursor:  # type: ignore[union-attr]  # psycopg's own
                    row = cursor.execute(statement, tuple(parameters)).fetchone()
            else:
                row = self._execute(statement, parameters).first()
        return row[0] if row else None

    def copy_batches(self, query: str, count: int) -> Iterator[bytes]:
        """The lines of PostgreSQL's `COPY … TO` for a query, as its text format has them, so many at a time."""
        with self.faults():
            driver: Any = self._connection.connection.driver_connection  # Any: psycopg's own
            with driver.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT") as copy:
                while lines := driver.wait(_next_lines(copy, count)):
                    yield b"".join(lines)

    def open_blob(self, table: str, column: str, rowid: int) -> sqlite3.Blob:
        """SQLite's own way into one value, piece by piece."""
        with self.faults():
            driver: Any = self._connection.connection.driver_connection  # Any: sqlite3's own
            blob: sqlite3.Blob = driver.blobopen(table, column, rowid, readonly=True)
            return blob

    def stream(self, statement: str, batch: int = 2_000) -> Iterator[list[Row]]:
        """Rows in batches by a cursor that the server keeps, in constant memory."""
        with self.faults():
            options: dict[str, Any] = {"stream_results": True, "max_row_buffer": batch}  # Any: as SQLAlchemy has them
            result = self._connection.execution_options(**options).exec_driver_sql(statement)
        cursor = _unbuffered_cursor(result)
        try:
            while True:
                with self.faults():
                    rows: list[Row]
                    if cursor is None:
                        rows = [tuple(row) for row in result.fetchmany(batch)]
                    else:
                        rows = list(cursor.fetchmany(batch))
                if not rows:
                    return
                yield rows
        finally:
            with suppress(SQLAlchemyError, sqlite3.Error):
                result.close()

    def compile(self, statement: sa.Select[Any]) -> str:  # Any: the columns of a table nobody knows before
        """A statement in the dialect's own words, its identifiers quoted by the dialect; values go by position."""
        compiled = statement.compile(dialect=self.dialect, compile_kwargs={"render_postcompile": True})
        return str(compiled)

    def quote(self, *names: str | None) -> str:
        """`schema.table`, or one name, quoted by the dialect whatever signs it has."""
        quoted = self.dialect.identifier_preparer.quote_identifier
        return ".".join(quoted(name) for name in names if name is not None)

    def export_snapshot(self) -> str | None:
        """The name of this session's snapshot, for `connect(…, snapshot=…)`; None if the server has no such."""
        if self.family != POSTGRESQL:
            return None
        row = self.first_row("SELECT pg_export_snapshot()")
        return str(row[0]) if row else None

    def is_alive(self) -> bool:
        """True if the server still answers."""
        try:
            self.rows("SELECT 1")
        except SourceFault:
            return False
        return True

    def release_snapshot(self) -> None:
        """Lets the snapshot go, so that nobody waits for us. `renew` takes another."""
        if self._rests:
            return
        self._rests = True
        if self.family in _BEGIN:
            self._run("ROLLBACK")
        else:
            with self.faults():
                self._connection.rollback()

    def renew(self) -> None:
        """A new snapshot: the rows as they are now."""
        self.release_snapshot()
        if self.family in _BEGIN:
            self._run(_BEGIN[self.family][-1])
        self._rests = False

    def close(self) -> None:
        """Lets the connection go; what a parent process opened is left to it."""
        with suppress(SQLAlchemyError, sqlite3.Error, OSError):
            if self._pid != os.getpid():
                self._connection.detach()
                return
            self._connection.invalidate()
            self._connection.close()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turns a driver's faults into ours."""
        try:
            yield
        except DBAPIError as error:
            raise fault_of(self.address, error.orig or error) from error
        except (sqlite3.Error, SQLAlchemyError) as error:
            raise fault_of(self.address, error) from error
        except UnicodeDecodeError as error:
            raise SourceGone(where=self.address.where, why="database-text") from error
        except _driver_errors(self.family) as error:
            raise fault_of(self.address, error) from error

    def _execute(self, statement: str, parameters: Sequence[object]) -> sa.CursorResult[Any]:  # Any: any columns
        values = tuple(parameters)
        if self.family == SQLITE:  # it takes no text that is none, so that such a one is found nowhere
            values = tuple(_bindable(value) for value in values)
        return self._connection.exec_driver_sql(statement, values)

    def _run(self, *statements: str) -> None:
        with self.faults():
            for statement in statements:
                self._connection.exec_driver_sql(statement)


def _unbuffered_cursor(result: sa.CursorResult[Any]) -> Any:  # Any: any columns; the driver's own cursor
    """The driver's cursor, whose rows are plain tuples; None where SQLAlchemy keeps some of its rows already."""
    return result.cursor if type(result.cursor_strategy) is CursorFetchStrategy else None


def _next_lines(copy: Any, count: int) -> Generator[Any, Any, list[memoryview]]:  # Any: psycopg's own
    """The next lines of a COPY, in one wait: as many calls of `copy.read` would take half as long again."""
    lines: list[memoryview] = []
    while len(lines) < count and (line := (yield from copy._read_gen())):
        lines.append(line)
    return lines


def _driver_errors(family: str) -> tuple[type[Exception], ...]:
    if family == POSTGRESQL:
        import psycopg

        return (psycopg.Error,)
    return ()


def connect(
    address: Address,
    environment: Mapping[str, str] | None = None,
    *,
    snapshot: str | None = None,
    copy: LocalCopy | None = None,
) -> Session:
    """Opens a session. `snapshot` is another session's exported one; `copy` the copy of an SQLite file in use.

    Raises `SourceAway`, `SourceDenied`, `SourceGone`, and `UsageFault` where the driver is not installed.
    """
    variables = os.environ if environment is None else environment
    try:
        engine = _engine(address, variables, copy)
        with without_warnings():  # of versions nobody tried: what they can do shows by itself
            connection = engine.connect()
    except ImportError as error:
        remedy = {"do": extra_command(address.family)} if address.family in EXTRAS else {}
        raise UsageFault(what="database-driver-missing", where=address.where, **remedy) from error
    except DBAPIError as error:
        raise fault_of(address, error.orig or error) from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise fault_of(address, error) from error
    session = Session(address, connection)
    try:
        _begin(session, snapshot)
    except BaseException:
        session.close()
        raise
    return session


def _engine(address: Address, environment: Mapping[str, str], copy: LocalCopy | None) -> Engine:
    if address.family == SQLITE:
        return _sqlite(address, copy)
    url = address.driver_url
    secret = password_of(address, environment)
    if secret is not None:
        url = url.set(password=secret.reveal())
    connect_args: dict[str, Any] = {}  # Any: each driver has arguments of its own
    options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"}
    if address.family == POSTGRESQL:
        connect_args = {"connect_timeout": _CONNECT_TIMEOUT_S, "application_name": "noarkit", "prepare_threshold": 5}
        options["use_native_hstore"] = False
    elif address.family == MYSQL:
        connect_args = {"connect_timeout": _CONNECT_TIMEOUT_S, "charset": "utf8mb4", "conv": _conversions()}
        connect_args |= {"program_name": "noarkit"}
        option_file = option_file_of(address, environment) if secret is None else None
        if option_file is not None:
            connect_args["read_default_file"] = option_file
    else:
        options = {}
    return sa.create_engine(url, connect_args=connect_args, poolclass=NullPool, hide_parameters=True, **options)


def _sqlite(address: Address, copy: LocalCopy | None) -> Engine:
    uri = sqlite_uri(address.file, copy)

    def open_connection() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        connection.text_factory = _text
        return connection

    return sa.create_engine("sqlite://", creator=open_connection, poolclass=NullPool, hide_parameters=True)


def _bindable(value: object) -> object:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogateescape")
    return value


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _conversions() -> dict[Any, Any]:  # Any: the driver's own table of types and functions
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    as_text = {FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP, FIELD_TYPE.TIME, FIELD_TYPE.NEWDATE}
    return {kind: convert for kind, convert in conversions.items() if kind not in as_text}


def _begin(session: Session, snapshot: str | None) -> None:
    if session.family == POSTGRESQL:
        _read_texts(session)
        session._run(*_BEGIN_POSTGRESQL)
        if snapshot is not None:
            safe = "".join(sign for sign in snapshot if sign.isalnum() or sign == "-")
            session._run(f"SET TRANSACTION SNAPSHOT '{safe}'")
    elif session.family == MYSQL:
        session._run(*_BEGIN_MYSQL)
    elif session.family == SQLITE:
        session._run(*_BEGIN_SQLITE)
        session.rows("SELECT count(*) FROM sqlite_schema")  # the file is read now, and judged
    else:
        _begin_other(session)


def _begin_other(session: Session) -> None:
    """The strongest that a server of another kind offers."""
    for level in ("REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE"):
        with suppress(SQLAlchemyError):
            session._connection.execution_options(isolation_level=level)
            return


def _read_texts(session: Session) -> None:
    """Has PostgreSQL's dates, ranges and JSON come as texts: what Python cannot hold (BC, infinity) is kept so."""
    from psycopg.types.string import TextLoader

    adapters = session._connection.connection.driver_connection.adapters  # type: ignore[union-attr]  # psycopg's own
    for name in _TEXTS_OF_POSTGRESQL:
        adapters.register_loader(name, TextLoader)
    encoding = session.first_row("SHOW server_encoding")
    if encoding and encoding[0] == "SQL_ASCII":
        raise SourceDenied(where=session.address.where, why="database-without-charset")
