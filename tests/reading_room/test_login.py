"""An archive answers a browser with a room behind a login: who logs in sees what that client may read, and no more."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.store import write_catalogue
from noarkit.errors import ItemVanished
from noarkit.events import ignore_event
from noarkit.reading_room.content import Contents
from noarkit.reading_room.hosts import RoomHosts
from noarkit.reading_room.login_lobby import FailureCounter
from noarkit.reading_room.viewers.content import Tickets
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.web import Request
from noarkit.safe.tls import certificate_names
from tests.reading_room.town import Town
from tests.reading_room.wire import Reply, ask
from tests.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Served:
    """An archive that is served, and the secret of its client `admin`."""

    url: str
    secret: str
    folder: Path

    @property
    def clients(self) -> Path:
        """Where its clients stand."""
        return self.folder / "archive" / "clients.toml"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An archive with one record."""
    with serve_archive(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def guessed_archive(tmp_path: Path) -> Iterator[Served]:
    """One of its own for whoever guesses secrets: it lets nobody from this address in for a while."""
    with serve_archive(tmp_path) as served:
        yield served


@contextmanager
def serve_archive(folder: Path) -> Iterator[Served]:
    """Serves a new archive with one record, until the block ends."""
    (folder / "files").mkdir()
    (folder / "files" / "letter.txt").write_text("a letter")
    program = [sys.executable, "-m", "noarkit"]
    to = ["--archive", f"embedded:{folder / 'archive'}"]
    subprocess.run([*program, "ingest", str(folder / "files"), "-o", str(folder / "run"), *to, "-q"], check=True)
    words = [*program, "serve", "--data", str(folder / "archive"), "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = re.search(r'"url": "(http://[^/"]+)', process.stdout.readline())
        assert url is not None
        clients = tomllib.loads((folder / "archive" / "clients.toml").read_text())
        try:
            yield Served(url[1], clients["clients"]["admin"]["secret"], folder)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0


def _form_of(archive: Served) -> tuple[Reply, str]:
    page = ask(archive.url, "/")
    return page, page.headers["set-cookie"].partition(";")[0]


def _log_in(archive: Served, secret: str, account: str = "admin") -> Reply:
    page, cookie = _form_of(archive)
    form = {"csrf": page.csrf, "account": account, "secret": secret, "here": "/"}
    return ask(archive.url, "/login", method="POST", cookie=cookie, form=form)


def _cookie_of(reply: Reply) -> str:
    assert reply.status == 303
    return next(pair.partition(";")[0] for pair in reply.cookies if pair.startswith("noarkit-room-"))


def test_a_browser_gets_a_page_to_log_in_and_the_archive_still_answers_others(archive: Served) -> None:
    page, _ = _form_of(archive)
    assert page.status == 200 and 'name="secret"' in page.body and "letter" not in page.body
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    api = ask(archive.url, "/rms/api/public/noark5/v1/nothing")
    assert (api.status, api.body) == (404, "no such call")


def test_the_room_opens_when_the_archive_is_read(archive: Served) -> None:
    cookie = _cookie_of(_log_in(archive, archive.secret))
    deadline = time.monotonic() + PATIENCE_S
    while "being read" in (page := ask(archive.url, "/", cookie=cookie)).body and time.monotonic() < deadline:
        time.sleep(0.2)
    assert page.status == 200 and "record" in page.body and "Log out" in page.body
    found = ask(archive.url, "/search?q=letter", cookie=cookie)
    assert "letter.txt" in found.body or "<mark>letter</mark>" in found.body
    # its texts are not read here, and the page says who can read them and how
    assert f"noarkit search {archive.url}/rms/api/public … --read-documents" in found.body
    assert "NOARKIT_CLIENT_SECRET" in found.body


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_this_machine_cannot_use_a_cookie_of_the_room(archive: Served) -> None:
    cookie = _cookie_of(_log_in(archive, archive.secret))
    assert 'name="secret"' not in ask(archive.url, "/help", cookie=cookie).body
    program = (
        "import http.client, sys\n"
        "connection = http.client.HTTPConnection(sys.argv[1], timeout=20)\n"
        "connection.request('GET', '/help', headers={'Cookie': sys.argv[2]})\n"
        "print(connection.getresponse().read().decode())\n"
    )
    words = ["/usr/bin/python3", "-I", "-c", program, urlsplit(archive.url).netloc, cookie]
    done = subprocess.run(words, user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True, check=True)
    assert b'name="secret"' in done.stdout


def test_a_wrong_secret_and_an_unknown_client_are_told_apart_by_nobody(archive: Served) -> None:
    replies = [_log_in(archive, "wrong"), _log_in(archive, "wrong", "nobody")]
    assert [reply.status for reply in replies] == [403, 403]
    assert len({re.sub(r'value="[^"]*"', "", reply.body) for reply in replies}) == 1


def test_a_login_form_of_another_site_is_refused(archive: Served) -> None:
    page, cookie = _form_of(archive)
    form = {"csrf": page.csrf, "account": "admin", "secret": archive.secret}
    origin = {"Origin": "http://evil.example"}
    assert ask(archive.url, "/login", method="POST", cookie=cookie, form=form, headers=origin).status == 403
    assert ask(archive.url, "/login", method="POST", form=form).status == 403
    assert ask(archive.url, "/login", method="POST", cookie=cookie, form={**form, "csrf": "x"}).status == 403


def test_a_login_leads_nowhere_else(archive: Served) -> None:
    page, cookie = _form_of(archive)
    for here in ("//evil.example", "http://evil.example", "/\\evil.example"):
        form = {"csrf": page.csrf, "account": "admin", "secret": archive.secret, "here": here}
        assert ask(archive.url, "/login", method="POST", cookie=cookie, form=form).headers["location"] == "/"


def test_who_logs_out_is_out(archive: Served) -> None:
    cookie = _cookie_of(_log_in(archive, archive.secret))
    page = _wait_until_read(archive, cookie)
    assert ask(archive.url, "/logout", method="POST", cookie=cookie, form={"csrf": "x"}).status == 403
    form = {"csrf": page.csrf}
    assert ask(archive.url, "/logout", method="POST", cookie=cookie, form=form).status == 303
    assert 'name="secret"' in ask(archive.url, "/", cookie=cookie).body


def test_contents_are_for_who_is_logged_in(archive: Served) -> None:
    assert ask(archive.url, "/content/" + "A" * 43).status == 404


def test_wrong_secrets_cost_time(guessed_archive: Served) -> None:
    statuses = [_log_in(guessed_archive, "wrong", "guessed").status for _ in range(6)]
    assert statuses[-1] == 429 and "retry-after" in _log_in(guessed_archive, guessed_archive.secret).headers
    assert urlsplit(guessed_archive.url).hostname == "127.0.0.1"


def test_attempts_are_counted_by_address_and_account_and_forgotten_in_time() -> None:
    now = [0.0]
    counter = FailureCounter(lambda: now[0])
    for _ in range(5):
        counter.count("address a", "account b")
    assert counter.wait_s("address a") == counter.wait_s("account b") == 301
    assert counter.wait_s("address c", "account d") == 0
    now[0] = 301.0
    assert counter.wait_s("address a", "account b") == 0


@pytest.mark.parametrize(
    ("wish", "lang"),
    [("nb-NO,nb;q=0.9,en;q=0.4", "nb"), ("no", "nb"), ("en;q=0.4, nn-NO;q=0.8", "nn"), ("en-GB,nb;q=0.5", "en")],
)
def test_the_page_to_log_in_speaks_the_language_of_the_browser(wish: str, lang: str, archive: Served) -> None:
    assert f'<html lang="{lang}"' in ask(archive.url, "/", headers={"Accept-Language": wish}).body


def test_a_cookie_that_is_none_of_ours_is_not_sent_back(archive: Served) -> None:
    reply = ask(archive.url, "/", cookie=r'noarkit-login="a\015\012set-cookie: b=c"')
    cookie = reply.headers["set-cookie"].partition(";")[0]
    assert re.fullmatch(r"noarkit-login=[A-Za-z0-9_-]{43}", cookie)
    assert "b=c" not in str(reply.headers)
    assert reply.csrf == cookie.partition("=")[2]


def test_a_name_that_is_pointed_here_by_somebody_else_gets_no_page(archive: Served) -> None:
    port = urlsplit(archive.url).port
    for path in ("/", "/login", "/assets/noarkit.css", "/content/" + "A" * 43):
        reply = ask(archive.url, path, host=f"evil.example:{port}")
        assert reply.status == 421 and not reply.cookies
    assert ask(archive.url, "/", host=f"192.0.2.1:{port}").status == 421
    assert [ask(archive.url, "/", host=f"{name}:{port}").status for name in ("localhost", "[::1]")] == [200, 200]
    assert ask(archive.url, "/rms/api/public/noark5/v1/nothing", host="evil.example").status == 404


def test_the_room_answers_to_figures_and_names_where_the_archive_is_open_to_others() -> None:
    hosts = RoomHosts("::", ("archive.example", "*.example.no"))
    for host in ("192.0.2.1:8083", "[2001:db8::1]", "archive.example", "ARCHIVE.example:443", "a.example.no"):
        assert hosts.has(host)
    for host in ("", "evil.example", "a.b.example.no", "archive.example.evil", "archive.example@evil", "a b"):
        assert not hosts.has(host)


def test_the_names_of_a_certificate_are_those_that_openssl_wrote(tmp_path: Path) -> None:
    names = ("archive.example", "*.example.no", *(f"n{n}.{'a' * 40}.example" for n in range(8)))
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=x",
    ]
    more = ["-addext", "subjectAltName=IP:192.0.2.1," + ",".join(f"DNS:{name}" for name in names)]
    to = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert")]
    subprocess.run([*words, *more, *to], check=True, capture_output=True)
    assert certificate_names(tmp_path / "cert") == names
    assert certificate_names(tmp_path / "key") == ()


def _wait_until_read(archive: Served, cookie: str) -> Reply:
    deadline = time.monotonic() + PATIENCE_S
    while "being read" in (page := ask(archive.url, "/", cookie=cookie)).body and time.monotonic() < deadline:
        time.sleep(0.2)
    return page


@pytest.mark.parametrize("change", ["secret", "groups", "removed"])
def test_a_session_ends_when_its_account_is_another_or_gone(change: str, archive: Served) -> None:
    before = archive.clients.read_text()
    secret = tomllib.loads(before)["clients"]["integration"]["secret"]
    cookie = _cookie_of(_log_in(archive, secret, "integration"))
    other = _cookie_of(_log_in(archive, archive.secret))
    assert 'name="secret"' not in ask(archive.url, "/help", cookie=cookie).body
    head, _, tail = before.partition("[clients.integration]")
    after = {
        "secret": before.replace(secret, "another-secret-of-somebody"),
        "groups": head + "[clients.integration]" + tail.replace('"integration"', '"readers"'),
        "removed": head,
    }[change]
    try:
        archive.clients.write_text(after)
        for path in ("/help", "/", "/search?q=letter"):
            assert 'name="secret"' in ask(archive.url, path, cookie=cookie).body
        assert 'name="secret"' not in ask(archive.url, "/help", cookie=other).body
    finally:
        archive.clients.write_text(before)
    # what was ended does not begin again by itself
    assert 'name="secret"' in ask(archive.url, "/help", cookie=cookie).body


def test_the_room_says_that_the_archive_has_changed_and_reads_it_again(archive: Served) -> None:
    cookie = _cookie_of(_log_in(archive, archive.secret))
    page = _wait_until_read(archive, cookie)
    assert "has changed since" not in page.body
    (archive.folder / "more").mkdir()
    (archive.folder / "more" / "postcard.txt").write_text("a postcard")
    words = ["ingest", str(archive.folder / "more"), "-o", str(archive.folder / "run2"), "-q"]
    to = ["--archive", f"embedded:{archive.folder / 'archive'}"]
    subprocess.run([sys.executable, "-m", "noarkit", *words, *to], check=True)
    time.sleep(1.1)  # as long as an answer of before is believed
    page = ask(archive.url, "/", cookie=cookie)
    assert "has changed since" in page.body
    assert ask(archive.url, "/refresh", method="POST", cookie=cookie, form={"csrf": "x"}).status == 403
    assert ask(archive.url, "/refresh", method="POST", cookie=cookie, form={"csrf": page.csrf}).status == 303
    assert "has changed since" not in _wait_until_read(archive, cookie).body
    assert "<mark>postcard</mark>" in ask(archive.url, "/search?q=postcard", cookie=cookie).body


def test_an_account_neither_sees_what_another_laid_out_nor_uses_its_tokens(tmp_path: Path) -> None:
    path, town = tmp_path / "town.db", Town(3)
    write_catalogue(path, town.identity, town.items(ignore_event))
    refused = Town(3)
    refused.contents = {}
    with Catalogue(path, town) as ours, Catalogue(path, refused) as theirs, Viewer(Tickets()) as viewer:
        owner, other = (
            Contents(catalogue, viewer, "", "'self'", owner=name) for catalogue, name in ((ours, "a"), (theirs, "b"))
        )
        request = Request("GET", b"/document/note", {}, {}, (), {})
        document, _ = ours.document("note")
        shown = owner.view(document, request, "/document/note", "en")
        token = re.search(r"/content/[A-Za-z0-9_-]{43}", shown.piece)
        assert token is not None
        with pytest.raises(ItemVanished):
            other.view(document, request, "/document/note", "en")
        asked = replace(request, path=token[0].encode())
        assert (owner.answer(asked).status, other.answer(asked).status) == (200, 404)
