"""Holes are filled on request alone, from hosts that were named, and with nothing but what was promised."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from noarkit.errors import NoarkitError, PackageFault, TooLarge, UnsafePath, UnsafeUrl
from noarkit.forms.bagit.fetch import FetchLimits, fetch_holes
from noarkit.forms.bagit.read import open_bag
from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.safe.urls import UrlPolicy
from tests.forms.bagit.bags import folder, lines, parts, seal, zipped

POLICY = UrlPolicy(frozenset(), frozenset({"http"}), frozenset({"127.0.0.1"}))
HOLE = b"far away"


class Host(http.server.BaseHTTPRequestHandler):
    """Serves what is in `pages`; a page that is text is where to go instead."""

    pages: ClassVar[dict[str, bytes | str]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:  # the library's name
        self.asked.append(self.path)
        page = self.pages.get(self.path)
        self.send_response(404 if page is None else 302 if isinstance(page, str) else 200)
        if isinstance(page, str):
            self.send_header("Location", page)
        self.end_headers()
        if isinstance(page, bytes):
            self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def host() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    Host.pages.clear()
    Host.asked.clear()
    Host.pages.update({"/hole": HOLE, "/turn": "/hole", "/out": "http://10.0.0.1/x", "/round": "/round"})
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def holed(tmp_path: Path, line: str) -> Path:
    whole = parts({"data/here.txt": b"here", "data/deep/hole.txt": HOLE})
    del whole["data/deep/hole.txt"]
    whole["fetch.txt"] = line.encode()
    return folder(tmp_path / "bag", seal(whole))


@pytest.mark.parametrize(("page", "length"), [("hole", "-"), ("hole", "8"), ("turn", "99")])
def test_a_hole_is_filled_once_and_the_bag_is_whole(tmp_path: Path, host: str, page: str, length: str) -> None:
    path = holed(tmp_path, f"{host}/{page} {length} data/deep/hole.txt\n")
    with open_bag(path) as bag:
        assert {entry.name: entry.size_bytes for entry in bag.entries()} == {"deep/hole.txt": None, "here.txt": 4}
    assert "BAGIT-3-HOLE" in validate_bag(path).codes
    assert Host.asked == []
    done = fetch_holes(path, POLICY)
    assert (done.files, done.size_bytes, done.already_present) == (1, 8, 0)
    assert validate_bag(path).codes == set()
    asked = len(Host.asked)
    assert fetch_holes(path, POLICY).already_present == 1
    assert len(Host.asked) == asked


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{host}/hole 7 data/deep/hole.txt\n", TooLarge),
        ("{host}/out - data/deep/hole.txt\n", UnsafeUrl),
        ("{host}/round - data/deep/hole.txt\n", PackageFault),
        ("{host}/nothing - data/deep/hole.txt\n", PackageFault),
        ("http://example.org/hole - data/deep/hole.txt\n", UnsafeUrl),
        ("file:///etc/passwd - data/deep/hole.txt\n", UnsafeUrl),
        ("{host}/hole - data/../../hole.txt\n", UnsafePath),
        ("{host}/hole - bag-info.txt\n", PackageFault),
    ],
)
def test_what_was_not_promised_or_allowed_is_not_taken(
    tmp_path: Path, host: str, line: str, fault: type[NoarkitError]
) -> None:
    path = holed(tmp_path, line.format(host=host))
    before = sorted(place for place in tmp_path.rglob("*") if place.is_file())
    with pytest.raises(fault):
        fetch_holes(path, POLICY)
    assert sorted(place for place in tmp_path.rglob("*") if place.is_file()) == before


def test_other_bytes_than_the_manifest_says_do_not_stay(tmp_path: Path, host: str) -> None:
    Host.pages["/hole"] = b"far awry"
    path = holed(tmp_path, f"{host}/hole 8 data/deep/hole.txt\n")
    with pytest.raises(PackageFault):
        fetch_holes(path, POLICY)
    assert list((path / "data" / "deep").iterdir()) == []


def test_no_more_comes_than_is_allowed(tmp_path: Path, host: str) -> None:
    path = holed(tmp_path, f"{host}/hole - data/deep/hole.txt\n")
    with pytest.raises(TooLarge):
        fetch_holes(path, POLICY, limits=FetchLimits(file_bytes=7))
    with pytest.raises(TooLarge):
        fetch_holes(path, POLICY, limits=FetchLimits(total_bytes=7))


def test_a_hole_that_not_every_manifest_knows_is_not_filled(tmp_path: Path, host: str) -> None:
    path = holed(tmp_path, f"{host}/hole - data/deep/hole.txt\n")
    (path / "manifest-sha512.txt").write_text(lines({"data/here.txt": b"here"}, "sha512"))
    with pytest.raises(PackageFault):
        fetch_holes(path, POLICY)


def test_a_packed_bag_is_not_filled(tmp_path: Path) -> None:
    with pytest.raises(PackageFault):
        fetch_holes(zipped(tmp_path / "bag.zip", parts()), POLICY)


def test_a_link_laid_in_the_way_is_not_followed(tmp_path: Path, host: str) -> None:
    path = holed(tmp_path, f"{host}/hole - data/deep/hole.txt\n")
    (tmp_path / "elsewhere").mkdir()
    (path / "data" / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoarkitError):
        fetch_holes(path, POLICY)
    assert list((tmp_path / "elsewhere").iterdir()) == []
