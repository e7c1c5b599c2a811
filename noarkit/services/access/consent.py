"""A person's first OAuth consent: in a browser that returns to a local port, or by pasting the address it ended at.

    consent = begin(Ask(auth_url, client_id, redirect_url, scopes))
    open_browser(consent.url)
    code = wait_for_code(consent, timeout_s=300)      # or: code_of(pasted, consent)
    grant = token_service.exchange(code, consent.redirect_url, consent.verifier)

Every consent has its own state, compared in constant time, and a PKCE verifier (S256).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import TCPServer
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit

from noarkit.errors import ConsentNeeded, UsageFault

_LONGEST_PASTE = 8_192
_PAGE = b"<!doctype html><meta charset=utf-8><title>noarkit</title><p>You may close this window."


@dataclass(frozen=True, slots=True)
class Ask:
    """What an OAuth consent asks for, and where the browser returns to (port 0: any free port)."""

    auth_url: str
    client_id: str
    redirect_url: str
    scopes: tuple[str, ...]
    separator: str = " "
    more: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Consent:
    """A consent under way: the address to visit, and the state and verifier that prove an answer belongs to it."""

    url: str
    redirect_url: str
    state: str
    verifier: str


def begin_consent(ask: Ask) -> Consent:
    """Builds the address a person must visit."""
    verifier = secrets.token_urlsafe(64)
    state = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    redirect = with_port(ask.redirect_url)
    query = {
        "response_type": "code",
        "client_id": ask.client_id,
        "redirect_uri": redirect,
        "scope": ask.separator.join(ask.scopes),
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **dict(ask.more),
    }
    return Consent(f"{ask.auth_url}?{urlencode(query)}", redirect, state, verifier)


def code_of(pasted_url: str, consent: Consent) -> str:
    """Reads the code from the address (or its query alone) that a browser ended at. Raises `ConsentNeeded`,
    `UsageFault`."""
    text = pasted_url.strip()
    if not text or len(text) > _LONGEST_PASTE:
        raise UsageFault(what="bad-value", where="code")
    query = urlsplit(text).query if "://" in text or text.startswith("/") else text
    parameters = parse_qs(query.lstrip("?"))
    answer = {name: values[0] for name, values in parameters.items()}
    if not hmac.compare_digest(answer.get("state", "").encode(), consent.state.encode()):
        raise ConsentNeeded(why="wrong-state")
    if answer.get("error"):
        raise ConsentNeeded(why="consent-refused")
    if not answer.get("code"):
        raise ConsentNeeded(why="no-code")
    return answer["code"]


def wait_for_code(consent: Consent, timeout_s: float, on_listening: Callable[[], None] = lambda: None) -> str:
    """Listens on this machine for the browser to return with a code; `on_listening` is called once it may come. Raises
    `ConsentNeeded` if it does not."""
    address = urlsplit(consent.redirect_url)
    try:
        server = _CallbackServer((address.hostname or "127.0.0.1", address.port or 80), consent)
    except OSError as error:
        raise UsageFault(what="port-taken", where=consent.redirect_url) from error
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        on_listening()
        came = server.came.wait(timeout_s)
        server.shutdown()
        thread.join()
    if server.fault is not None:
        raise server.fault
    if not came:
        raise ConsentNeeded(why="nobody-came")
    return server.code


class _CallbackServer(HTTPServer):
    """A one-visit HTTP server for the OAuth redirect; visits with another state are refused."""

    def __init__(self, place: tuple[str, int], consent: Consent) -> None:
        super().__init__(place, _CallbackHandler)
        self.consent = consent
        self.code = ""
        self.fault: ConsentNeeded | None = None
        self.came = threading.Event()

    def server_bind(self) -> None:
        """Binds the port without looking up a host name, as the library would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


class _CallbackHandler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        server = cast(_CallbackServer, self.server)  # it made us
        try:
            if urlsplit(self.path).path != (urlsplit(server.consent.redirect_url).path or "/"):
                raise ConsentNeeded(why="wrong-state")
            server.code = code_of(self.path, server.consent)
        except (ConsentNeeded, UsageFault) as fault:
            if isinstance(fault, ConsentNeeded) and fault.data.get("why") != "wrong-state":
                server.fault = fault
                server.came.set()
            self.send_error(400)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(_PAGE)
        server.came.set()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: the address holds the code."""


def with_port(redirect_url: str) -> str:
    """Replaces port 0 of a redirect address by a free port."""
    split = urlsplit(redirect_url)
    if split.port != 0:
        return redirect_url
    with socket.socket() as probe:
        probe.bind((split.hostname or "127.0.0.1", 0))
        port = probe.getsockname()[1]
    return split._replace(netloc=f"{split.hostname}:{port}").geturl()
