"""Tokens: issued for a client's secret, stored as hashes, and checked for every call.

A token becomes invalid when it expires, when the account's secret changes, and when the account is removed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from noarkit.errors import ConfigFault
from noarkit.server.clients import Account, Accounts, ClientsFile
from noarkit.server.database import Database
from noarkit.server.rights import AccountRights, Grants, load_grants
from noarkit.server.settings import Settings
from noarkit.server.wire import Answer, Caller, Refusal

REFRESH_TTL_S = 14 * 24 * 3600

_TOKEN_LENGTH = 40
_LARGEST_CACHE = 10_000


def statements() -> Iterator[str]:
    """The table of tokens; `hash` is all that is kept of one."""
    yield (
        "CREATE TABLE token (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, account TEXT NOT NULL, mark TEXT NOT NULL,"
        " expires_ms INTEGER NOT NULL) WITHOUT ROWID"
    )


class OAuthFault(Exception):
    """A token request that fails, in the words of OAuth."""

    def __init__(self, status: int, error: str, description: str) -> None:
        super().__init__(status, error, description)
        self.answer = Answer(status, {"error": error, "error_description": description})


@dataclass(frozen=True, slots=True)
class _Token:
    account: str
    mark: str
    expires_ms: int


class Identity:
    """The accounts of one archive and their rights; issues tokens and finds the caller of a token."""

    def __init__(self, db: Database, clients: ClientsFile, settings: Settings, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._clients = clients
        self._settings = settings
        self._now_ms = now_ms
        self._tokens: dict[str, _Token] = {}
        self._grants: dict[str, tuple[int, frozenset[str], Grants]] = {}
        self._generation = 0

    def rights_changed(self) -> None:
        """Forgets cached rights; to be called after each commit that changes groups or modifiers."""
        self._generation += 1

    def caller(self, token: str) -> Caller | None:
        """The caller that a token was issued to; None if it is unknown or has expired."""
        if len(token) != _TOKEN_LENGTH:
            return None
        key = _hash(token)
        stored_token = self._tokens.get(key) or self._look_up(key)
        if stored_token is None:
            return None
        accounts = self._accounts()
        if (
            stored_token.expires_ms <= self._now_ms()
            or accounts.fingerprints.get(stored_token.account) != stored_token.mark
        ):
            self._tokens.pop(key, None)
            return None
        return self._caller_of(accounts.accounts[stored_token.account])

    def background_caller(self, account_id: str) -> Caller | None:
        """The caller for background work of an account whose call was answered already; None if it is gone."""
        account = self._accounts().accounts.get(account_id)
        return None if account is None else self._caller_of(account)

    def _caller_of(self, account: Account) -> Caller:
        return Caller(account.id, account.name, AccountRights(self._grants_of(account)))

    def token(self, form: Mapping[str, str], basic: tuple[str, str] | None) -> Answer:
        """The answer to a token request: a token with status 200, or the error object of OAuth."""
        try:
            return self._grant(form, basic)
        except OAuthFault as fault:
            return fault.answer

    def userinfo(self, caller: Caller) -> Answer:
        """The user info of a caller; the groups are under the claims that the settings name."""
        account = self._accounts().accounts.get(caller.account)
        if account is None:
            raise Refusal(401, "the account is gone")
        payload: dict[str, object] = {
            "sub": account.id,
            "preferred_username": account.id,
            "name": account.name,
            **{claim: sorted(account.groups) for claim in self._settings.group_claims()},
        }
        return Answer(body=payload | ({"email": account.email} if account.email else {}))

    def _grant(self, form: Mapping[str, str], basic: tuple[str, str] | None) -> Answer:
        grant = form.get("grant_type", "")
        if not grant:
            raise OAuthFault(400, "invalid_request", "grant_type is missing")
        grants = ("client_credentials", "password", *(("refresh_token",) if self._settings.refresh_tokens else ()))
        if grant not in grants:
            raise OAuthFault(400, "unsupported_grant_type", f"{grant[:40]} is not a grant type of this service")
        accounts = self._accounts()
        client = _client(accounts, form, basic)
        if grant == "client_credentials":
            return self._issue_token(accounts, client)
        if grant == "password":
            user = _user(accounts, form.get("username", ""), form.get("password", ""))
            return self._issue_token(
                accounts, user, refresh_token=_new_token() if self._settings.refresh_tokens else ""
            )
        return self._renew(accounts, form.get("refresh_token", ""))

    def _renew(self, accounts: Accounts, refresh_token: str) -> Answer:
        with self._db.snapshot() as db:
            stored_token = _find_token(db, _hash(refresh_token), "refresh")
        if (
            stored_token is None
            or stored_token.expires_ms <= self._now_ms()
            or accounts.fingerprints.get(stored_token.account) != stored_token.mark
        ):
            raise OAuthFault(400, "invalid_grant", "the refresh token is unknown or has expired")
        return self._issue_token(accounts, accounts.accounts[stored_token.account], refresh_token=refresh_token)

    def _issue_token(self, accounts: Accounts, account: Account, refresh_token: str = "") -> Answer:
        now_ms, lifetime_s = self._now_ms(), self._settings.token_ttl_s
        access_token, mark = _new_token(), accounts.fingerprints[account.id]
        with self._db.transaction() as db:
            db.execute("DELETE FROM token WHERE expires_ms <= ?", (now_ms,))
            _store_token(db, access_token, "access", _Token(account.id, mark, now_ms + lifetime_s * 1000))
            if refresh_token:
                _store_token(db, refresh_token, "refresh", _Token(account.id, mark, now_ms + REFRESH_TTL_S * 1000))
        payload = {"access_token": access_token, "token_type": "Bearer", "expires_in": lifetime_s, "scope": "openid"}
        return Answer(body=payload | ({"refresh_token": refresh_token} if refresh_token else {}))

    def _look_up(self, key: str) -> _Token | None:
        with self._db.snapshot() as db:
            stored_token = _find_token(db, key, "access")
        if stored_token is not None:
            if len(self._tokens) >= _LARGEST_CACHE:
                self._tokens.clear()
            self._tokens[key] = stored_token
        return stored_token

    def _grants_of(self, account: Account) -> Grants:
        generation = self._generation  # taken before the database is read: what changes meanwhile is read again
        cached = self._grants.get(account.id)
        if cached is not None and cached[0] == generation and cached[1] == account.groups:
            return cached[2]
        with self._db.snapshot() as db:
            grants = load_grants(db, account.groups)
        self._grants[account.id] = generation, account.groups, grants
        return grants

    def _accounts(self) -> Accounts:
        try:
            return self._clients.current()
        except ConfigFault as fault:
            raise Refusal(503, f"clients.toml cannot be used: {fault.data['why']}") from fault


def _client(accounts: Accounts, form: Mapping[str, str], basic: tuple[str, str] | None) -> Account:
    client_id, secret = basic or (form.get("client_id", ""), form.get("client_secret", ""))
    if not client_id:
        raise OAuthFault(400, "invalid_request", "client_id and client_secret are missing")
    if form.get("client_id", client_id) != client_id:
        raise OAuthFault(400, "invalid_request", "client_id differs from that of the Authorization header")
    client = accounts.accounts.get(client_id)
    if not _is_secret_of(client, secret) or client is None or client.kind != "clients":
        raise OAuthFault(401, "invalid_client", "client_id or client_secret is wrong")
    return client


def _user(accounts: Accounts, username: str, password: str) -> Account:
    user = accounts.accounts.get(username)
    if not _is_secret_of(user, password) or user is None or user.kind != "users":
        raise OAuthFault(400, "invalid_grant", "username or password is wrong")
    return user


def _is_secret_of(account: Account | None, secret: str) -> bool:
    """Compares a secret in constant time, also for an account that does not exist."""
    expected = "" if account is None else account.secret
    is_equal = hmac.compare_digest(_hash(expected), _hash(secret))
    return is_equal and account is not None


def _find_token(db: sqlite3.Connection, key: str, kind: str) -> _Token | None:
    sql = "SELECT account, mark, expires_ms FROM token WHERE hash = ? AND kind = ?"
    row = db.execute(sql, (key, kind)).fetchone()
    return None if row is None else _Token(*row)


def _store_token(db: sqlite3.Connection, token: str, kind: str, stored_token: _Token) -> None:
    """Stores the hash of a token; an existing one is left as it is, so that renewing does not extend its lifetime."""
    db.execute(
        "INSERT OR IGNORE INTO token (hash, kind, account, mark, expires_ms) VALUES (?, ?, ?, ?, ?)",
        (_hash(token), kind, stored_token.account, stored_token.mark, stored_token.expires_ms),
    )


def _new_token() -> str:
    return secrets.token_hex(_TOKEN_LENGTH // 2)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
