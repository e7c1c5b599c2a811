"""Reads `clients.toml`: the clients and users that may call the archive, with their secrets and groups.

The file is readable by its owner alone, written atomically, and read again when it changes.

`[clients.NAME]` has `secret` and `groups` (matched with the claims of access groups) and may have `name` and `email`;
`[users.NAME]` the same with `password`, for people who come through a client.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from noarkit.errors import ConfigFault, SecretFault
from noarkit.safe import atomic
from noarkit.safe.owners import is_open_to_others
from noarkit.safe.secret_files import CLIENTS_FILE
from noarkit.safe.toml import BadToml, load_toml, read_text

FIRST_CLIENTS: Mapping[str, str] = {"admin": "admin", "integration": "integration"}

Kind = Literal["clients", "users"]
_SECRET_MEMBER: Mapping[Kind, str] = {"clients": "secret", "users": "password"}
_MEMBERS = frozenset({"groups", "name", "email"})
_HEAD = """\
# Who may call this archive. The id of a client is its name; its groups are matched with the claims of access groups.
# Nobody but the owner may read this file. A change counts from the next call; who is taken out is let out at once.
"""


@dataclass(frozen=True, slots=True)
class Account:
    """A client or a user, as the file has it."""

    kind: Kind
    id: str
    name: str
    email: str
    groups: frozenset[str]
    secret: str = field(repr=False)

    def fingerprint(self) -> str:
        """A short hash of id and secret; tokens carry it, so that they become invalid when the secret changes."""
        return hashlib.sha256(f"{self.kind}\0{self.id}\0{self.secret}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Accounts:
    """All accounts of the file by id, which clients and users share; `fingerprints` holds that of each,
    computed once."""

    accounts: Mapping[str, Account]
    fingerprints: Mapping[str, str]

    def is_client(self, account_id: str, secret: str) -> bool:
        """True if a secret is that of a client; it takes as long where there is no such client."""
        account = self.accounts.get(account_id)
        expected = "" if account is None else account.secret
        left, right = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (expected, secret))
        return hmac.compare_digest(left, right) and account is not None and account.kind == "clients"

    def mark_of(self, account_id: str) -> str:
        """A text that changes with the secret or the groups of a client; empty where there is no such client."""
        account = self.accounts.get(account_id)
        if account is None or account.kind != "clients":
            return ""
        return " ".join((account.fingerprint(), *sorted(account.groups)))

    def secret_of(self, account_id: str) -> str:
        """The secret of a client that logged in; empty where it is gone since."""
        account = self.accounts.get(account_id)
        return "" if account is None else account.secret


class ClientsFile:
    """The current content of the file, cached by its time stamps, size and inode."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._file_stamp: tuple[int, int, int, int] | None = None
        self._accounts = Accounts({}, {})

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def current(self) -> Accounts:
        """The accounts as the file has them now. A file that cannot be used raises `ConfigFault` or `SecretFault`."""
        stamp = self._read_stamp()
        if stamp != self._file_stamp:
            with self._lock:
                if stamp != self._file_stamp:
                    accounts = _read(self._path)
                    self._accounts, self._file_stamp = accounts, stamp
        return self._accounts

    def _read_stamp(self) -> tuple[int, int, int, int]:
        try:
            status = self._path.stat()
        except OSError as fault:
            raise ConfigFault(where=str(self._path), why="cannot be read") from fault
        if is_open_to_others(status):
            raise SecretFault(where=str(self._path), why="others than its owner may read it (chmod 600)")
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def open_clients(data_dir: Path) -> ClientsFile:
    """The clients of the archive in `data_dir`; a new archive gets its first clients, with random secrets."""
    path = data_dir / CLIENTS_FILE
    if not path.exists():
        atomic.write_text(path, _first_text(), mode=0o600)
    clients = ClientsFile(path)
    clients.current()
    return clients


def _first_text() -> str:
    tables = [
        f'[clients.{name}]\nsecret = "{secrets.token_urlsafe(32)}"\ngroups = ["{group}"]\n'
        for name, group in FIRST_CLIENTS.items()
    ]
    return "\n".join([_HEAD, *tables])


def _read(path: Path) -> Accounts:
    try:
        content = load_toml(read_text(path))
    except BadToml as fault:
        raise ConfigFault(where=str(path), why=fault.why) from None  # its text could quote a secret
    accounts: dict[str, Account] = {}
    for kind in _SECRET_MEMBER:
        tables = content.pop(kind, {})
        if not isinstance(tables, dict):
            raise ConfigFault(where=f"{path} [{kind}]", why="must be a table")
        for account_id, table in tables.items():
            if account_id in accounts:
                raise ConfigFault(where=f"{path} [{kind}.{account_id}]", why="a client has that name")
            accounts[account_id] = _read_account(path, kind, account_id, table)
    if content:
        raise ConfigFault(where=str(path), why=f"unknown table {next(iter(content))}")
    return Accounts(accounts, {account_id: account.fingerprint() for account_id, account in accounts.items()})


def _read_account(path: Path, kind: Kind, account_id: str, table: object) -> Account:
    location = f"{path} [{kind}.{account_id}]"
    if not isinstance(table, dict):
        raise ConfigFault(where=location, why="must be a table")
    secret_member = _SECRET_MEMBER[kind]
    for name in table:
        if name not in _MEMBERS and name != secret_member:
            raise ConfigFault(where=location, why=f"unknown member {name}")
    groups = table.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise ConfigFault(where=location, why="groups must be a list of texts")
    return Account(
        kind=kind,
        id=account_id,
        name=_text(location, table, "name", account_id),
        email=_text(location, table, "email", ""),
        groups=frozenset(groups),
        secret=_secret(location, table, secret_member),
    )


def _text(location: str, table: Mapping[str, object], name: str, default: str) -> str:
    value = table.get(name, default)
    if not isinstance(value, str):
        raise ConfigFault(where=location, why=f"{name} must be a text")
    return value


def _secret(location: str, table: Mapping[str, object], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str) or not value:
        raise SecretFault(where=location, why=f"{name} must be a text that is not empty")
    return value
