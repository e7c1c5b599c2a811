"""What drivers say when something is wrong, in our words: away, not let in, gone, or changed under our hands."""

from __future__ import annotations

import sqlite3

from noarkit.errors import DiskFull, NoarkitError, SourceAway, SourceDenied, SourceGone
from noarkit.sources.database.address import Address

_MYSQL_DENIED = {1044, 1045, 1129, 1130, 1142, 1143, 1227, 1370, 1410, 1524, 1698, 1792, 1820, 1862, 2059, 2061, 4151}
_MYSQL_GONE = {1049}
_MYSQL_ALTERED = {1054, 1146, 1412, 1356, 1072, 1109}
_MYSQL_AWAY = {
    *(0, 1040, 1053, 1077, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1205, 1213, 1226, 1317, 1927, 1969, 3024),
    *range(2000, 2056),
}
_POSTGRESQL_ALTERED = ("42P01", "42703", "3F000", "42704", "42883", "0A000")


def fault_of(address: Address, error: BaseException) -> NoarkitError:
    """The fault that a driver's exception means. What it says in prose is not repeated: it may quote values."""
    if address.family == "postgresql":
        return _postgresql_fault(address, error)
    if address.family == "mysql":
        return _mysql_fault(address, error)
    if isinstance(error, sqlite3.Error):
        return _sqlite_fault(address, error)
    return _other_fault(address, error)


def _postgresql_fault(address: Address, error: BaseException) -> NoarkitError:
    where = address.where
    state = getattr(error, "sqlstate", None)
    if state is None:
        message = str(error)
        if "authentication failed" in message or "no password supplied" in message or "pg_hba.conf" in message:
            return SourceDenied(where=where, why="database-login")
        if "does not exist" in message:
            denied = "role" in message
            return SourceDenied(where=where, why="database-login") if denied else SourceGone(where=where, why="ENOENT")
        if "permission denied for database" in message:
            return SourceDenied(where=where, why="database-login")
        return SourceAway(where=where, why="database-away")
    if state.startswith("28"):
        return SourceDenied(where=where, why="database-login")
    if state in ("42501", "25006"):
        return SourceDenied(where=where, why="database-right", what=_object_name(error))
    if state == "3D000":
        return SourceGone(where=where, why="ENOENT")
    if state in _POSTGRESQL_ALTERED:
        return SourceGone(where=where, why="table-altered")
    if state[:2] in ("08", "53", "55", "57", "40", "58", "25"):
        return SourceAway(where=where, why="database-away", detail=state)
    return SourceGone(where=where, why="database-refused", detail=state)


def _mysql_fault(address: Address, error: BaseException) -> NoarkitError:
    where = address.where
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    if number in _MYSQL_DENIED:
        why = "database-right" if number in (1142, 1143, 1227, 1370, 1792) else "database-login"
        return SourceDenied(where=where, why=why)
    if number in _MYSQL_GONE:
        return SourceGone(where=where, why="ENOENT")
    if number in _MYSQL_ALTERED:
        return SourceGone(where=where, why="table-altered")
    if number is None or number in _MYSQL_AWAY:
        return SourceAway(where=where, why="database-away", detail=number)
    return SourceGone(where=where, why="database-refused", detail=number)


def _sqlite_fault(address: Address, error: sqlite3.Error) -> NoarkitError:
    where = address.where
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return SourceGone(where=where, why="not-a-database")
    if name.startswith("SQLITE_CANTOPEN"):
        return SourceGone(where=where, why="ENOENT" if not address.file.exists() else "EACCES")
    if name.startswith(("SQLITE_PERM", "SQLITE_AUTH", "SQLITE_READONLY")):
        return SourceDenied(where=where, why="database-right")
    if name.startswith("SQLITE_FULL"):
        return DiskFull(where=where)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR")):
        return SourceAway(where=where, why="database-away", detail=name)
    message = str(error)
    if "no such table" in message or "no such column" in message:
        return SourceGone(where=where, why="table-altered")
    return SourceGone(where=where, why="database-refused", detail=name)


def _other_fault(address: Address, error: BaseException) -> NoarkitError:
    kind = type(error).__name__
    if kind in ("OperationalError", "InterfaceError", "InternalError"):
        return SourceAway(where=address.where, why="database-away", detail=kind)
    return SourceGone(where=address.where, why="database-refused", detail=kind)


def _object_name(error: BaseException) -> str:
    """The table or schema that PostgreSQL names; never a value."""
    diagnostics = getattr(error, "diag", None)
    parts = (getattr(diagnostics, "schema_name", None), getattr(diagnostics, "table_name", None))
    return ".".join(part for part in parts if part)
