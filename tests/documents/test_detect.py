"""What files are: media types by first bytes, PRONOM identifiers by a worker."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from noarkit.documents.detect import MediaTypes, format_of, looks_like_mailbox
from noarkit.events import ignore_event
from noarkit.records import SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.puids import Puids
from noarkit.sources.files.source import FileTree
from tests.documents.readings import Doors
from tests.processes import children

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"


@pytest.mark.parametrize(
    ("head", "ext", "expected"),
    [
        (PDF, "", "application/pdf"),
        (PNG, "pdf", "image/png"),
        ("blåbær og bringebær\n".encode(), "txt", "text/plain"),
        (b"Subject: hei\nTo: a@b.no\n\nx", "eml", "message/rfc822"),
        (b"Subject: hei\r\nX-A: b\r\n c\r\nTo: a@b.no\r\nFrom: c@d.no\r\n\r\nx", "", "message/rfc822"),
        (b"Subject: hei\n\nFrom: me\nTo: you\nDate: today\n", "txt", "text/plain"),
    ],
)
def test_media_types_are_told_by_the_first_bytes(head: bytes, ext: str, expected: str) -> None:
    assert MediaTypes().of(head, ext) == expected


def test_each_thread_has_a_handle_of_its_own() -> None:
    media_types = MediaTypes()
    with ThreadPoolExecutor(4) as threads:
        told = set(threads.map(lambda _: media_types.of(PDF, "pdf"), range(64)))
    assert told == {"application/pdf"}


def test_a_system_without_signatures_gets_those_that_came_along() -> None:
    code = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name == "magic" and "pylibmagic" not in sys.modules:
            raise ImportError("no libmagic")
sys.meta_path.insert(0, Without())
from noarkit.documents.detect import MediaTypes
try:
    print(MediaTypes().of(b"%PDF-1.7", "pdf"))
except Exception as error:  # noqa: BLE001 - printed
    print(type(error).__name__, error)
print("pylibmagic" in sys.modules)
"""
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True"


def test_a_mailbox_is_known_by_its_first_lines() -> None:
    assert looks_like_mailbox(b"From a@b.no Mon Jan  6 12:00:00 2020\nSubject: x\n")
    assert not looks_like_mailbox(b"From here on, at 12:00 in 2020\nno header")


def test_records_carry_what_was_told_and_the_plan_may_do_without(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(PDF)
    for policy, expected in ((FilePolicy(), "application/pdf"), (FilePolicy(media_types=False), None)):
        (record,) = FileTree(tmp_path, policy).records(ignore_event)
        assert isinstance(record, SourceRecord)
        assert record.fields["media_type"] == expected
        assert record.contents[0].media_type == expected


def test_puids_are_told_whatever_the_name_and_alike_files_are_asked_for_once(tmp_path: Path) -> None:
    pytest.importorskip("pygfried")
    for name in ("a.pdf", "\udcff.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(PDF)
    (tmp_path / "c.eml").write_bytes(b"Subject: hei\nFrom: a@b.no\n\nx")
    (tmp_path / "d").write_bytes(b"")
    (tmp_path / "e").write_bytes(os.urandom(300_000))
    records = FileTree(tmp_path, FilePolicy(puids=True)).records(ignore_event)
    told = {item.key: item.contents[0].puid for item in records if isinstance(item, SourceRecord)}
    assert told == {
        "a.pdf": "fmt/276",
        "b.pdf": "fmt/276",
        "%FF.pdf": "fmt/276",
        "c.eml": "fmt/278",
        "d": None,
        "e": None,
    }


def test_a_worker_that_dies_costs_one_answer(tmp_path: Path) -> None:
    pytest.importorskip("pygfried")
    for number in range(3):
        (tmp_path / f"{number}.pdf").write_bytes(PDF + b"%" * number)
    others = set(children(os.getpid()))
    with Puids() as puids:
        told = []
        for number in (0, 0, 1, 2):
            handle = os.open(tmp_path / f"{number}.pdf", os.O_RDONLY)
            told.append(puids.of(handle, "pdf", PDF))
            os.close(handle)
            if told == ["fmt/276"]:
                kill(set(children(os.getpid())) - others)
    assert told == ["fmt/276", "fmt/276", None, "fmt/276"]  # the second was remembered


def kill(processes: set[int]) -> None:
    """Ends them and waits until they are gone; other children of the tests, a database server's, are none of them."""
    assert processes
    for one in processes:
        os.kill(one, 9)
        os.waitid(os.P_PID, one, os.WEXITED | os.WNOWAIT)


_FEW_HEADERS = b"Subject: hei\nTo: a@b.no\nContent-Transfer-Encoding: quoted-printable\n\nBl=C3=A5b=C3=A6r\n"


@pytest.mark.parametrize(
    ("content", "ending", "expected", "words"),
    [
        pytest.param(_FEW_HEADERS, "eml", "eml", "Blåbær", id="two headers and a name are a mail"),
        pytest.param(_FEW_HEADERS, "dat", "text", "Bl=C3=A5b=C3=A6r", id="two headers alone are a text"),
        pytest.param(b"From: a\n" + _FEW_HEADERS, "txt", "eml", "Blåbær", id="three headers are a mail by any name"),
        pytest.param("\b\a\x1b[1mBlåbær\x1b[0m".encode(), "txt", "text", "Blåbær", id="what a terminal wrote down"),
        pytest.param("<b>Blå</b>bær".encode(), "dat", "html", "Blåbær", id="a fragment of a page"),
        pytest.param(b"Bl&aring;<b>b&aelig;r</b>", "html", "html", "Blåbær", id="a page by its name and a tag"),
        pytest.param("Blåbær < 5 & > 3".encode(), "html", "text", "Blåbær", id="no page without one"),
        pytest.param("<p>Blå<b>bær</b></p>".encode(), "txt", "html", "Blåbær", id="a page by any name"),
        pytest.param(b"\xef\xbb\xbf" + "<notat>Blåbær</notat>".encode(), "dat", "xml", "Blåbær", id="XML by itself"),
        pytest.param("<html><p>Blå<i>bær".encode("utf-16-le"), "dat", "html", "Blåbær", id="a page of wide characters"),
        pytest.param("<p>Blå<i>bær</i></p>%PDF-1.4".encode(), "dat", "html", "Blåbær", id="a page that speaks of PDF"),
    ],
)
def test_a_search_and_a_viewer_take_a_document_for_the_same(
    content: bytes, ending: str, expected: str, words: str, tmp_path: Path
) -> None:
    doors = Doors(tmp_path, content, ending)
    answer = doors.answer()
    assert answer.detected is not None
    assert (answer.detected.format, format_of(content, f"a.{ending}")) == (expected, expected)
    assert words in doors.search
    assert words in doors.server


def test_a_mail_is_shown_as_one_where_what_is_stated_of_it_says_so(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _FEW_HEADERS, "dat", "message/rfc822; charset=utf-8")
    assert doors.view == "Blåbær"
    assert "Blåbær" in doors.search
    assert "Bl=C3" not in doors.search
