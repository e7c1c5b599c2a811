"""The lobby of an archive's own room: accounts of the archive log in, and each sees what it may read there.

An account's room is over a catalogue that was read with that account's own rights, in a thread of its own while a page
tells how far it has come. Wrong secrets cost time: after a few, an address and an account have to wait.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from noarkit.catalogue.catalogue import Catalogue
from noarkit.errors import NoarkitError
from noarkit.events import Event, Listener
from noarkit.reading_room.content import Contents
from noarkit.reading_room.gate import Gate, is_our_form
from noarkit.reading_room.hosts import RoomHosts
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.pages import render_bare, render_login
from noarkit.reading_room.room import Room, asset, look_of, preferred_language
from noarkit.reading_room.session import Doorkeeper, Session
from noarkit.reading_room.viewers.content import Tickets
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.web import Answer, Request, redirect, text_answer
from noarkit.words.texts import sentence

LOGIN_COOKIE = "noarkit-login"
_MOST_FAILURES = 5
_WITHIN_S = 300.0
_MOST_REMEMBERED = 10_000
_MOST_CHARACTERS = 512
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
"""What a token of ours looks like; any other text is not sent back."""

Check = Callable[[str, str], bool]
"""Whether a secret is that of an account of the archive."""
MarkOf = Callable[[str], str]
"""What an account of the archive is now: another text when its secret or its groups change, none when it is gone."""
Reader = Callable[[str, Listener], Catalogue]
"""Reads the archive as an account."""
Revision = Callable[[], int]
"""The number of the newest change of the archive."""
_ASKED_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class ServedArchive:
    """The archive behind a lobby: who its accounts are, how it is read, and how far it has come."""

    check: Check
    mark_of: MarkOf
    read: Reader
    revision: Revision


@dataclass(slots=True)
class _AccountRoom:
    """The room of one account: being read, open, or failed."""

    revision: int = 0
    items: int = 0
    room: Room | None = None
    contents: Contents | None = None
    catalogue: Catalogue | None = None
    fault: NoarkitError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class FailureCounter:
    """Counts failed attempts by address and by account, and says who has to wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def wait_s(self, *keys: str) -> int:
        """How long whoever these keys name has to wait, in seconds; 0 for at once."""
        now = self._clock()
        with self._lock:
            return max((self._wait_of(key, now) for key in keys), default=0)

    def count(self, *keys: str) -> None:
        """Remembers a failed attempt."""
        with self._lock:
            if len(self._failures) > _MOST_REMEMBERED:
                self._failures.clear()
            for key in keys:
                self._failures.setdefault(key, deque(maxlen=_MOST_FAILURES)).append(self._clock())

    def forget(self, *keys: str) -> None:
        """Forgets the failures of an account that came in."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)

    def _wait_of(self, key: str, now: float) -> int:
        times = self._failures.get(key)
        if times is None or len(times) < _MOST_FAILURES or now - times[0] > _WITHIN_S:
            return 0
        return int(times[0] + _WITHIN_S - now) + 1


class LoginLobby:
    """Lets accounts in. `close` ends what they opened."""

    def __init__(
        self,
        archive: ServedArchive,
        *,
        hosts: RoomHosts,
        clock: Callable[[], float],
        lang: str,
        is_secure: bool,
        emit: Listener,
    ) -> None:
        self._archive = archive
        self._clock = clock
        self._revision, self._asked_at = 0, -_ASKED_EVERY_S
        self._left: list[_AccountRoom] = []
        self._lang = lang
        self._emit = emit
        self._flags = "; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if is_secure else "")
        self._gate = Gate(hosts.has, scheme="https" if is_secure else "http")
        self._content_gate = Gate(hosts.has, from_siblings=True)
        self._doorkeeper = Doorkeeper(clock)
        self._failures = FailureCounter(clock)
        self._viewer = Viewer(Tickets())
        self._rooms: dict[str, _AccountRoom] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes every room."""
        for account in (*self._rooms.values(), *self._left):
            with account.lock:
                if account.catalogue is not None:
                    account.catalogue.close()
        self._viewer.close()

    def is_content(self, port: int, path: bytes) -> bool:
        """The address tells: both come to one port here, and contents are shut in by their headers."""
        return path.startswith(b"/content/")

    def content_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of what is refused there."""
        return (("content-security-policy", "sandbox; default-src 'none'; frame-ancestors 'self'"),)

    def answer_content(self, request: Request, query: bytes) -> Answer:
        """The bytes that a token is good for, for whoever is logged in."""
        refusal = self._content_gate.refusal(request, query)
        session = self._session_of(request)
        account = self._rooms.get(session.account) if session is not None else None
        if refusal is not None:
            return refusal
        if account is None or account.contents is None:
            return text_answer(404, "There is nothing here.")
        return account.contents.answer(request)

    def answer_page(self, request: Request, query: bytes) -> Answer:
        """A page for who is logged in; for others the page to log in."""
        refusal = self._gate.refusal(request, query)
        if refusal is not None:
            return refusal
        if request.path.startswith(b"/assets/"):
            return asset(request)
        session = self._session_of(request)
        if request.path == b"/login":
            return self._log_in(request) if request.method == "POST" else self._form(request)
        if session is None:
            return self._form(request) if request.method != "POST" else text_answer(403, "Log in first.")
        if request.path == b"/logout":
            return self._log_out(request, session)
        return self._answer_of_room(request, session)

    def _session_of(self, request: Request) -> Session | None:
        """The session of whoever asks. That of an account that is gone, or another now, ends; so does its room, which
        was read with the rights of before."""
        session = self._doorkeeper.find(request.cookies, request.uid)
        if session is None or hmac.compare_digest(
            self._archive.mark_of(session.account).encode(), session.mark.encode()
        ):
            return session
        self._doorkeeper.dismiss(session)
        self._leave_room(session.account)
        return None

    def _log_in(self, request: Request) -> Answer:
        form = request.form
        known = _login_token(request)
        if not known or not hmac.compare_digest(known.encode(), form.get("csrf", "").encode()):
            return text_answer(403, "This form is not ours.")
        name, secret = form.get("account", "")[:_MOST_CHARACTERS], form.get("secret", "")[:_MOST_CHARACTERS]
        keys = (f"address {request.client}", f"account {name}")
        wait_s = self._failures.wait_s(*keys)
        if wait_s:
            return self._form(request, "wait", status=429).with_headers(("retry-after", str(wait_s)))
        mark = self._archive.mark_of(name)
        if not name or not self._archive.check(name, secret) or not mark:
            self._failures.count(*keys)
            return self._form(request, "wrong", status=403)
        self._failures.forget(*keys)
        self._open_room(name)
        cookie = self._doorkeeper.admit(request.uid, name, mark)
        here = form.get("here", "/")
        target = here if urlsplit(here).netloc == "" and here.startswith("/") and not here.startswith("//") else "/"
        target = target if target.isascii() and target.isprintable() and "\\" not in target else "/"
        return redirect(target).with_headers(
            ("set-cookie", f"{self._doorkeeper.cookie_name}={cookie}{self._flags}"),
            ("set-cookie", f"{LOGIN_COOKIE}=; Max-Age=0{self._flags}"),
        )

    def _log_out(self, request: Request, session: Session) -> Answer:
        if request.method != "POST" or not is_our_form(request, session.csrf):
            return text_answer(403, "This form is not ours.")
        self._doorkeeper.dismiss(session)
        return redirect("/login").with_headers(
            ("set-cookie", f"{self._doorkeeper.cookie_name}=; Max-Age=0{self._flags}")
        )

    def _form(self, request: Request, problem: str = "", *, status: int = 200) -> Answer:
        token = _login_token(request) or secrets.token_urlsafe(32)
        here = "/" if request.path == b"/login" else request.path.decode("ascii")
        lang, theme = look_of(request, preferred_language(request, self._lang))
        page = render_login(lang, theme, csrf=token, here=request.form.get("here", here), problem=problem)
        return Answer(status, page.encode()).with_headers(("set-cookie", f"{LOGIN_COOKIE}={token}{self._flags}"))

    def _answer_of_room(self, request: Request, session: Session) -> Answer:
        account = self._rooms.get(session.account)
        if account is None:
            account = self._open_room(session.account)
        if request.path == b"/refresh":
            return self._refresh(request, session)
        if account.room is not None:
            return account.room.answer(request, session)
        lang, _ = look_of(request, preferred_language(request, self._lang))
        if account.fault is not None:
            page = render_bare("not-read", lang, lines=(sentence(account.fault, lang),))
            self._doorkeeper.dismiss(session)
            return Answer(503, page.encode())
        page = render_bare("being-read", lang, next_address="/", wait_s=2, count=account.items)
        return Answer(200, page.encode())

    def _refresh(self, request: Request, session: Session) -> Answer:
        """Reads the archive again for an account."""
        if request.method != "POST" or not is_our_form(request, session.csrf):
            return text_answer(403, "This form is not ours.")
        self._leave_room(session.account)
        self._open_room(session.account)
        return redirect("/")

    def _leave_room(self, name: str) -> None:
        """Forgets the room of an account; who still reads a page of it may do so to its end."""
        with self._lock:
            account = self._rooms.pop(name, None)
            if account is not None:
                self._left.append(account)

    def _is_outdated(self, account: _AccountRoom) -> bool:
        """True where the archive has changed since it was read for an account, as it was at most a moment ago."""
        now = self._clock()
        if now - self._asked_at > _ASKED_EVERY_S:
            self._revision, self._asked_at = self._archive.revision(), now
        return self._revision != account.revision

    def _open_room(self, name: str) -> _AccountRoom:
        """Reads the archive as an account, in a thread; whoever is in the account's room already stays there."""
        with self._lock:
            account = self._rooms.get(name)
            if account is not None and account.fault is None:
                return account
            account = self._rooms[name] = _AccountRoom(self._archive.revision())
        threading.Thread(target=self._fill, args=(account, name), name="noarkit-reading", daemon=True).start()
        return account

    def _fill(self, account: _AccountRoom, name: str) -> None:
        def listen(event: Event, /) -> None:
            items = event.data.get("items")
            account.items = items if isinstance(items, int) else account.items

        try:
            catalogue = self._archive.read(name, listen)
        except NoarkitError as fault:
            account.fault = fault
            return
        except Exception as error:  # noqa: BLE001  # the last door of a thread: the page says that something failed
            account.fault = NoarkitError(error=type(error).__name__)
            return
        with account.lock:
            account.catalogue = catalogue
            account.contents = Contents(catalogue, self._viewer, "", "'self'", owner=name)
            account.room = Room(
                Looks(catalogue),
                account.contents,
                lang=self._lang,
                can_log_out=True,
                follows_browser=True,
                is_outdated=partial(self._is_outdated, account),
            )


def _login_token(request: Request) -> str:
    """The token of the form to log in that a browser has, or nothing where that is none of ours."""
    return next((value for name, value in request.cookies if name == LOGIN_COOKIE and _TOKEN.fullmatch(value)), "")
