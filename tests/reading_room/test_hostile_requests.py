"""Thirty and more requests that a reading room must not answer as their senders hope, each over a real socket."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from noarkit.catalogue.port import Document, Item
from noarkit.catalogue.veil import address_ref, veil_of
from noarkit.events import Listener
from noarkit.reading_room.serve import OpenRoom
from tests.reading_room.conftest import open_room
from tests.reading_room.town import HOSTILE, NUMBER, Town
from tests.reading_room.wire import Reply, ask, enter, send

SECRET = "Barnevern Ola Nordmann"


@pytest.fixture(scope="module")
def open_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenRoom, str, Path]]:
    """One room for all requests of this module: with the cookie of whoever opened it, and where its catalogue lies."""
    path = tmp_path_factory.mktemp("town") / "town.noarkit-catalogue.db"
    with open_room(Town(), path) as opened:
        yield opened, enter(opened), path


@pytest.fixture
def door(open_town: tuple[OpenRoom, str, Path]) -> OpenRoom:
    """The room."""
    return open_town[0]


@pytest.fixture
def cookie(open_town: tuple[OpenRoom, str, Path]) -> str:
    """The cookie of its owner."""
    return open_town[1]


def says_nothing(reply: Reply) -> bool:
    """True for an answer that holds nothing of the place."""
    return not re.search("Lillevik|Byggesak|naboen|Nordmann", reply.body)


# --- who may come in


def test_the_owner_comes_in(door: OpenRoom, cookie: str) -> None:
    reply = ask(door.url, "/", cookie=cookie)
    assert reply.status == 200 and "Lillevik kommune" in reply.body


def test_without_the_cookie_there_is_nothing_to_see(door: OpenRoom) -> None:
    for path in ("/", "/item/road", "/tree/fonds", "/search?q=bygg", "/list.csv?in=", "/document/letter"):
        reply = ask(door.url, path)
        assert reply.status == 403 and says_nothing(reply), path


def test_a_link_opens_the_room_once(door: OpenRoom, cookie: str) -> None:
    reply = ask(door.url, urlsplit(door.link).path)
    assert reply.status == 403 and "set-cookie" not in reply.headers


def test_a_guessed_link_opens_nothing_and_does_not_use_up_the_real_one(room: OpenRoom) -> None:
    assert ask(room.url, "/open/" + "A" * 43).status == 403
    assert enter(room)


def test_a_browser_that_fetches_links_ahead_does_not_use_the_link_up(room: OpenRoom) -> None:
    path = urlsplit(room.link).path
    assert ask(room.url, path, headers={"Sec-Purpose": "prefetch"}).status == 405
    assert ask(room.url, path, method="HEAD").status == 405
    assert enter(room)


def test_the_link_leads_to_an_address_without_a_token(room: OpenRoom) -> None:
    reply = ask(room.url, urlsplit(room.link).path)
    assert reply.headers["location"] == "/"
    assert re.fullmatch(
        r"noarkit-room-\w{12}=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict", reply.headers["set-cookie"]
    )


def test_the_cookie_of_a_room_that_was_closed_is_worth_nothing(door: OpenRoom, tmp_path: Path) -> None:
    with open_room(Town(3), tmp_path / "other.db") as other:
        stale = enter(other)
    assert ask(door.url, "/", cookie=stale).status == 403


def test_the_value_of_a_cookie_under_another_name_is_worth_nothing(door: OpenRoom, cookie: str) -> None:
    value = cookie.partition("=")[2]
    assert ask(door.url, "/", cookie=f"session={value}; noarkit-room-000000000000={value}").status == 403


def test_a_cookie_that_another_service_of_this_machine_put_beside_ours_does_not_shut_the_owner_out(
    door: OpenRoom, cookie: str
) -> None:
    name = cookie.partition("=")[0]
    assert ask(door.url, "/", cookie=f'{name}=planted; bad"=x; {cookie}').status == 200


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_this_machine_cannot_use_a_cookie_that_leaked(door: OpenRoom, cookie: str) -> None:
    assert ask(door.url, "/", cookie=cookie).status == 200
    assert _as_nobody(door.url, "/", cookie) == 403


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_this_machine_cannot_use_the_address_of_a_content(door: OpenRoom, cookie: str) -> None:
    address = _download_of(door, cookie, "letter")
    assert _as_nobody(door.content_url, urlsplit(address).path, "") == 404


# --- who may lead here


def test_another_name_for_this_machine_is_not_answered(door: OpenRoom, cookie: str) -> None:
    for host in ("evil.example", "localhost", f"localhost:{urlsplit(door.url).port}", "127.0.0.1", "127.0.0.1:1", ""):
        reply = ask(door.url, "/", host=host, cookie=cookie)
        assert reply.status == 421 and says_nothing(reply), host


def test_a_name_bound_to_this_machine_cannot_use_the_link(room: OpenRoom) -> None:
    host = f"attacker.example:{urlsplit(room.url).port}"
    assert ask(room.url, urlsplit(room.link).path, host=host).status == 421
    assert enter(room)


def test_two_hosts_are_refused(door: OpenRoom, cookie: str) -> None:
    netloc = urlsplit(door.url).netloc
    head = f"GET / HTTP/1.1\r\nHost: {netloc}\r\nHost: evil.example\r\nCookie: {cookie}\r\n\r\n"
    assert send(door.url, head.encode()).status == 400


def test_a_request_for_a_proxy_is_refused(door: OpenRoom, cookie: str) -> None:
    netloc = urlsplit(door.url).netloc
    head = f"GET http://evil.example/ HTTP/1.1\r\nHost: {netloc}\r\nCookie: {cookie}\r\n\r\n"
    assert send(door.url, head.encode()).status == 400


def test_a_tunnel_is_refused(door: OpenRoom) -> None:
    netloc = urlsplit(door.url).netloc
    assert send(door.url, f"CONNECT {netloc} HTTP/1.1\r\nHost: {netloc}\r\n\r\n".encode()).status == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_no_other_site_leads_a_browser_to_a_page(door: OpenRoom, cookie: str, site: str) -> None:
    reply = ask(door.url, "/item/road", cookie=cookie, headers={"Sec-Fetch-Site": site})
    assert reply.status == 403 and says_nothing(reply)


@pytest.mark.parametrize("dest", ["iframe", "frame", "embed", "object"])
def test_no_page_is_shown_in_a_frame(door: OpenRoom, cookie: str, dest: str) -> None:
    headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": dest}
    assert ask(door.url, "/", cookie=cookie, headers=headers).status == 403


def test_every_page_says_that_it_is_in_no_frame_and_takes_no_script_from_elsewhere(door: OpenRoom, cookie: str) -> None:
    for path in ("/", "/item/road", "/item/nowhere", "/search?q=x", "/open/x", "/assets/room.css"):
        headers = ask(door.url, path, cookie=cookie).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
        assert headers["cache-control"] == "no-store"


def test_no_site_may_read_an_answer(door: OpenRoom, cookie: str) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "GET"}
    for method in ("GET", "OPTIONS"):
        reply = ask(door.url, "/", method=method, cookie=cookie, headers=headers)
        assert not any(name.startswith("access-control") for name in reply.headers)


# --- forms


def test_a_form_of_another_site_changes_nothing(door: OpenRoom, cookie: str) -> None:
    csrf = ask(door.url, "/", cookie=cookie).csrf
    form = {"csrf": csrf, "lang": "nb", "here": "/"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", door.content_url):
        reply = ask(door.url, "/preferences", method="POST", cookie=cookie, form=form, headers={"Origin": origin})
        assert reply.status == 403 and "set-cookie" not in reply.headers, origin


def test_a_form_without_our_token_changes_nothing(door: OpenRoom, cookie: str) -> None:
    for form in ({"lang": "nb"}, {"lang": "nb", "csrf": ""}, {"lang": "nb", "csrf": "x" * 43}):
        assert ask(door.url, "/preferences", method="POST", cookie=cookie, form=form).status == 403


def test_a_form_in_another_encoding_is_no_form(door: OpenRoom, cookie: str) -> None:
    csrf = ask(door.url, "/", cookie=cookie).csrf
    body = json.dumps({"csrf": csrf, "lang": "nb"})
    head = f"POST /preferences HTTP/1.1\r\nHost: {urlsplit(door.url).netloc}\r\nCookie: {cookie}\r\n"
    head += f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    assert send(door.url, (head + body).encode()).status == 403


def test_what_changes_something_is_not_asked_for_by_get(door: OpenRoom, cookie: str) -> None:
    csrf = ask(door.url, "/", cookie=cookie).csrf
    for path in (f"/preferences?lang=nb&csrf={csrf}", f"/reveal/secret?reason=because&csrf={csrf}"):
        reply = ask(door.url, path, cookie=cookie)
        assert reply.status == 405 and "set-cookie" not in reply.headers


def test_a_switch_leads_back_to_us_alone(door: OpenRoom, cookie: str) -> None:
    csrf = ask(door.url, "/", cookie=cookie).csrf
    for here in ("//evil.example", "http://evil.example", "/\\evil.example", "/\r\nset-cookie: a=b", "javascript:1"):
        form = {"csrf": csrf, "theme": "dark", "here": here}
        reply = ask(door.url, "/preferences", method="POST", cookie=cookie, form=form)
        assert (reply.status, reply.headers["location"]) == (303, "/"), here


def test_a_form_without_end_is_refused(door: OpenRoom, cookie: str) -> None:
    form = {"csrf": "x", "reason": "a" * 100_000}
    assert ask(door.url, "/reveal/secret", method="POST", cookie=cookie, form=form).status == 413


# --- what is screened


def test_what_is_screened_is_nowhere_to_be_read(door: OpenRoom, cookie: str) -> None:
    for path in (
        "/item/secret",
        "/item/secret-letter",
        "/item/series?year=2011",
        "/tree/series?year=2011",
        "/search?q=Ola",
    ):
        reply = ask(door.url, path, cookie=cookie)
        assert reply.status == 200 and "Nordmann" not in reply.body.replace("Kari Nordmann", ""), path
    assert SECRET not in ask(door.url, "/list.csv?in=series", cookie=cookie).body


def test_an_identity_number_is_nowhere_to_be_read(door: OpenRoom, cookie: str) -> None:
    for path in ("/item/letter-1", f"/search?q={NUMBER}", "/search?q=naboen"):
        page = ask(door.url, path, cookie=cookie).body
        # what somebody typed is what they are told was not found
        for echo in (f'value="{NUMBER}"', f"q={NUMBER}", f": {NUMBER} ·", f": {NUMBER}</p>"):
            page = page.replace(echo, "")
        assert NUMBER not in page


def test_nothing_is_shown_without_a_reason_and_nothing_without_the_log(
    open_town: tuple[OpenRoom, str, Path],
) -> None:
    door, cookie, path = open_town
    csrf = ask(door.url, "/", cookie=cookie).csrf
    log = path.with_name("town.noarkit-access.jsonl")
    for reason in ("", "   "):
        reply = ask(door.url, "/reveal/secret", method="POST", cookie=cookie, form={"csrf": csrf, "reason": reason})
        assert reply.status == 404 and SECRET not in reply.body
    assert not log.exists()
    form = {"csrf": csrf, "reason": "innsyn\nsak 12"}
    assert SECRET in ask(door.url, "/reveal/secret", method="POST", cookie=cookie, form=form).body
    entry = json.loads(log.read_text().splitlines()[-1])
    assert (entry["ref"], entry["why"]) == (address_ref("secret"), "innsyn sak 12")
    assert SECRET not in ask(door.url, "/item/secret", cookie=cookie).body
    log.unlink()
    log.mkdir()
    try:
        reply = ask(door.url, "/reveal/secret", method="POST", cookie=cookie, form=form)
        assert reply.status >= 400 and SECRET not in reply.body
    finally:
        log.rmdir()


def test_a_screened_document_has_no_address_until_somebody_says_why(door: OpenRoom, cookie: str) -> None:
    page = ask(door.url, "/document/secret-doc", cookie=cookie)
    assert page.status == 200 and "/content/" not in page.body and "Nordmann" not in page.body
    form = {"csrf": page.csrf, "reason": "innsyn"}
    revealed = ask(door.url, "/reveal-document/secret-doc", method="POST", cookie=cookie, form=form)
    assert "/content/" in revealed.body


# --- addresses that try something


@pytest.mark.parametrize(
    "path",
    [
        "/item/../../etc/passwd",
        "/item/./road",
        "//evil.example/",
        "/item//road",
        "/\\evil.example",
        "/item/%",
        "/item/%zz",
        "/item/a%00b",
        "/assets/../room.py",
        "/item/road\x01",
    ],
)
def test_an_address_that_is_not_written_as_ours_is_refused(door: OpenRoom, cookie: str, path: str) -> None:
    reply = ask(door.url, path, cookie=cookie)
    assert reply.status == 400 and says_nothing(reply)


@pytest.mark.parametrize(
    "ref", ["../../etc/passwd", "/etc/passwd", "..%2f..%2fetc", "' OR 1=1 --", "\u202e", "é" * 900]
)
def test_a_reference_names_an_item_or_nothing(door: OpenRoom, cookie: str, ref: str) -> None:
    for page in ("item", "document", "tree"):
        reply = ask(door.url, f"/{page}/{quote(ref, safe='')}", cookie=cookie)
        assert reply.status == 404 and "root:" not in reply.body


def test_references_of_dots_and_slashes_are_items_like_others(door: OpenRoom, cookie: str) -> None:
    assert "Ref of dots" in ask(door.url, "/item/..%2Fetc%2Fpasswd", cookie=cookie).body
    assert "Ref of two dots" in ask(door.url, "/item/?ref=..", cookie=cookie).body


def test_no_file_but_ours_is_an_asset(door: OpenRoom, cookie: str) -> None:
    for name in ("room.py", "..%2froom.py", "..%2f..%2f..%2fetc%2fpasswd", "ROOM.CSS", "templates%2froom.html", ""):
        assert ask(door.url, f"/assets/{name}", cookie=cookie).status == 404, name


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(door: OpenRoom, cookie: str, method: str) -> None:
    assert ask(door.url, "/item/road", method=method, cookie=cookie).status == 405


def test_a_page_is_not_posted_to(door: OpenRoom, cookie: str) -> None:
    csrf = ask(door.url, "/", cookie=cookie).csrf
    assert ask(door.url, "/item/road", method="POST", cookie=cookie, form={"csrf": csrf}).status == 405


def test_a_head_without_end_is_refused(door: OpenRoom, cookie: str) -> None:
    assert ask(door.url, "/", cookie=cookie, headers={"X": "a" * 40_000}).status in (0, 400)
    assert ask(door.url, "/", cookie=cookie).status == 200


def test_an_address_without_end_is_refused(door: OpenRoom, cookie: str) -> None:
    assert ask(door.url, "/item/" + "a" * 9_000, cookie=cookie).status == 414
    assert ask(door.url, "/search?q=" + "a" * 5_000, cookie=cookie).status == 414


def test_a_second_request_within_a_body_is_not_answered(door: OpenRoom, cookie: str) -> None:
    netloc = urlsplit(door.url).netloc
    inner = f"GET /item/road HTTP/1.1\r\nHost: {netloc}\r\nCookie: {cookie}\r\n\r\n"
    head = f"POST /preferences HTTP/1.1\r\nHost: {netloc}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    reply = send(door.url, f"{head}0\r\n\r\n{inner}".encode())
    assert reply.status in (0, 400) and says_nothing(reply)


def test_an_unknown_transfer_coding_is_refused(door: OpenRoom) -> None:
    netloc = urlsplit(door.url).netloc
    head = f"POST /preferences HTTP/1.1\r\nHost: {netloc}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
    assert send(door.url, head.encode()).status in (400, 501)


def test_numbers_that_are_none_are_the_beginning(door: OpenRoom, cookie: str) -> None:
    first = ask(door.url, "/item/series", cookie=cookie).body
    for after in ("-1", "1e9", "9" * 400, "x", "0x10", "١"):
        assert "Byggesak 1<" in ask(door.url, f"/item/series?after={quote(after)}", cookie=cookie).body, after
    assert "Byggesak 1<" in first


def test_a_hostile_search_is_a_search(door: OpenRoom, cookie: str) -> None:
    for query in ('"', "*", "a AND", "NEAR(", "title:", "\0", "(" * 500, HOSTILE, "'; DROP TABLE item; --", "-"):
        reply = ask(door.url, f"/search?q={quote(query, errors='replace')}&offset=-1&type=&order=x", cookie=cookie)
        assert reply.status == 200 and "<script>alert" not in reply.body, query


# --- what others wrote


def test_nothing_of_a_title_becomes_markup(door: OpenRoom, cookie: str) -> None:
    for path in ("/item/hostile", "/item/series?year=2011", "/item/..%2Fetc%2Fpasswd", "/document/..%2F..%2Fdoc"):
        page = ask(door.url, path, cookie=cookie).body
        assert "<script>alert" not in page and "<img" not in page and "\u202e" not in page, path


def test_a_file_name_adds_no_header(door: OpenRoom, cookie: str) -> None:
    address = _download_of(door, cookie, "../../doc")
    reply = ask(door.content_url, urlsplit(address).path)
    assert reply.status == 200 and "set-cookie" not in reply.headers
    assert reply.headers["content-disposition"].startswith("attachment")


# --- the second origin


def test_contents_are_shut_in(door: OpenRoom, cookie: str) -> None:
    reply = ask(door.content_url, urlsplit(_download_of(door, cookie, "../../doc")).path)
    assert reply.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert f"frame-ancestors {door.url}" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_the_origin_of_contents_has_no_pages_and_the_origin_of_pages_no_contents(door: OpenRoom, cookie: str) -> None:
    path = urlsplit(_download_of(door, cookie, "letter")).path
    assert ask(door.url, path, cookie=cookie).status == 404
    for page in ("/", "/item/road", "/assets/room.css", "/search?q=bygg"):
        assert ask(door.content_url, page, cookie=cookie).status == 404


def test_a_cookie_opens_no_content_and_a_guessed_ticket_neither(door: OpenRoom, cookie: str) -> None:
    for token in ("", "letter", "A" * 43, "../letter", quote("../../doc", safe="")):
        assert ask(door.content_url, f"/content/{token}", cookie=cookie).status in (400, 404), token


def test_contents_answer_to_their_own_name_alone(door: OpenRoom, cookie: str) -> None:
    path = urlsplit(_download_of(door, cookie, "letter")).path
    assert ask(door.content_url, path, host="evil.example").status == 421
    assert ask(door.content_url, path, host=urlsplit(door.url).netloc).status == 421
    assert ask(door.content_url, path, headers={"Sec-Fetch-Site": "cross-site"}).status == 403


def test_a_browser_that_leaves_in_the_middle_holds_nothing_up(door: OpenRoom, cookie: str) -> None:
    where = urlsplit(door.url)
    for _ in range(60):
        with socket.create_connection(("127.0.0.1", where.port or 0)) as connection:
            connection.sendall(
                f"GET /search?q=bygg HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: {cookie}\r\n\r\n".encode()
            )
    assert ask(door.url, "/", cookie=cookie).status in (200, 503)


def test_many_requests_at_once_are_all_answered(door: OpenRoom, cookie: str) -> None:
    paths = ("/item/series", "/item/letter-1", "/search?q=bygg", "/journal", "/list.csv?in=series", "/tree/series")

    def statuses(number: int) -> set[int]:
        return {ask(door.url, paths[(number + at) % len(paths)], cookie=cookie).status for at in range(len(paths))}

    with ThreadPoolExecutor(16) as threads:
        answered = set().union(*threads.map(statuses, range(32)))
    assert answered == {200}


def _download_of(door: OpenRoom, cookie: str, ref: str) -> str:
    page = ask(door.url, f"/document/{quote(ref, safe='')}", cookie=cookie).body
    match = re.search(r'class="viewer-download"><a href="(http://[^"]+/content/[^"]+)"', page)
    assert match is not None, page
    return match[1]


def _as_nobody(url: str, path: str, cookie: str) -> int:
    """The status that another user of this machine gets."""
    where = urlsplit(url)
    program = (
        "import http.client, sys\n"
        "connection = http.client.HTTPConnection(sys.argv[1], timeout=20)\n"
        "connection.request('GET', sys.argv[2], headers={'Cookie': sys.argv[3]})\n"
        "print(connection.getresponse().status)\n"
    )
    words = ["/usr/bin/python3", "-I", "-c", program, where.netloc, path, cookie]
    done = subprocess.run(words, user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True, check=True)
    return int(done.stdout)


def test_a_table_has_a_veil_for_what_is_screened(door: OpenRoom, cookie: str) -> None:
    table = ask(door.url, "/list.csv?in=series", cookie=cookie).body
    assert "~" + veil_of("secret") in table and not re.search(r"[;,]\"?secret\b", table)


def test_a_masked_number_on_an_open_card_is_shown_to_who_says_why(room: OpenRoom, tmp_path: Path) -> None:
    cookie = enter(room)
    page = ask(room.url, "/item/letter-1", cookie=cookie)
    address = re.search(r'action="(/reveal/[^"]+)"', page.body)
    assert address is not None and NUMBER not in page.body
    form = {"csrf": page.csrf, "reason": "innsyn sak 13"}
    assert NUMBER in ask(room.url, address[1], method="POST", cookie=cookie, form=form).body
    (line,) = tmp_path.joinpath("town.db.noarkit-access.jsonl").read_text().splitlines()
    assert (json.loads(line)["ref"], json.loads(line)["why"]) == (address_ref("letter-1"), "innsyn sak 13")
    assert "/reveal/" not in ask(room.url, "/item/road", cookie=cookie).body


class Meadow(Town):
    """A place with one item and two versions of its document, of which no fault is known."""

    def items(self, emit: Listener) -> Iterator[Item]:
        """The item."""
        self.contents["odd"] = bytes(range(256))
        written = Document("written", "Brev", "brev.wpd", "Produksjonsformat", locator="odd")
        kept = Document("kept", "Brev", "brev.pdf", "Arkivformat", 2, locator="letter")
        other = Document("other", "Vedlegg", "vedlegg.pdf", "Arkivformat", locator="letter")
        yield Item("fonds", None, "Arkiv", "Lillevik kommune", documents=(written, kept, other))


def test_an_extract_that_was_only_read_is_not_praised(tmp_path: Path) -> None:
    with open_room(Meadow(), tmp_path / "town.db") as opened:
        page = ask(opened.url, "/", cookie=enter(opened)).body
    assert 'class="verdict open"' in page and "Read, not validated" in page
    assert "<code>noarkit validate /data/lillevik</code>" in page


def test_a_document_that_cannot_be_shown_leads_to_the_version_that_can(tmp_path: Path) -> None:
    with open_room(Meadow(), tmp_path / "town.db") as opened:
        cookie = enter(opened)
        written, kept = (ask(opened.url, f"/document/{ref}", cookie=cookie).body for ref in ("written", "kept"))
    assert "cannot be shown here" in written and f'href="/document/?veil={veil_of("kept")}"' in written
    assert "/document/other" not in written and "/document/written" not in kept
