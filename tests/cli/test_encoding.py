"""Names in archive files of other makers that are no UTF-8 are read in the encoding that is named."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.records import SourceRecord

pytestmark = pytest.mark.usefixtures("one_archive")

NAME = "blåbær/søknad.txt"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


def bag(encoding: str) -> list[tuple[bytes, bytes]]:
    """A bag with one file; its names are bytes of an encoding, its tag files UTF-8."""
    manifest = f"{hashlib.sha512(b'hei').hexdigest()}  data/{NAME}\n".encode()
    return [
        (b"bag/bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"),
        (b"bag/manifest-sha512.txt", manifest),
        (b"bag/data/" + NAME.encode(encoding), b"hei"),
    ]


def tarred(form: int) -> Callable[[str], Path]:
    """A tar whose names are raw bytes, as GNU and old makers write them, or in PAX headers that say they are binary."""

    def make(encoding: str) -> Path:
        with tarfile.open("bag.tar", "w", format=form, encoding="utf-8", errors="surrogateescape") as archive:
            for name, content in bag(encoding):
                info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return Path("bag.tar")

    return make


def zipped(encoding: str) -> Path:
    """A zip whose names are bytes of an encoding, not marked as UTF-8."""
    end = NAME.encode(encoding)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:  # a name of as many bytes, which is then written over
        for name, held in bag("utf-8"):
            archive.writestr(name.decode().replace(NAME, "x" * len(end)), held)
    Path("bag.zip").write_bytes(packed.getvalue().replace(b"x" * len(end), end))
    return Path("bag.zip")


MAKERS = {
    "gnu": tarred(tarfile.GNU_FORMAT),
    "ustar": tarred(tarfile.USTAR_FORMAT),
    "pax": tarred(tarfile.PAX_FORMAT),
    "zip": zipped,
}
CASES = [
    *(("gnu", one) for one in ("latin-1", "cp1252", "cp865")),
    ("ustar", "latin-1"),
    ("pax", "latin-1"),
    *(("zip", one) for one in ("latin-1", "cp865")),
]


@pytest.mark.parametrize(("maker", "encoding"), CASES)
def test_every_command_reads_the_names(maker: str, encoding: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = MAKERS[maker](encoding)
    assert main(["validate", str(place), "--encoding", encoding], {}) == 0
    assert main(["scan", str(place), "--encoding", encoding], {}) == 0
    assert main(["plan", str(place), "-o", "run", "--encoding", encoding], {}) == 0
    assert main(["convert", str(place), "--as", "eark-sip", "-o", "sip", "--encoding", encoding], {}) == 0
    assert (Path("sip/representations/files/data") / NAME).read_bytes() == b"hei"
    assert not Path("sip.names.csv").exists()


def test_ingest_reads_them_and_so_does_whoever_reads_the_source_again(capsys: pytest.CaptureFixture[str]) -> None:
    place = MAKERS["gnu"]("latin-1")
    line = ["ingest", str(place), "-o", "run", "--archive", "embedded:arkiv", "--encoding", "latin-1"]
    assert main(line, {}) == 0
    assert main(["verify", "run"], {}) == 0
    from dataclasses import replace

    from noarkit.safe.unpack import LIMITS

    source = open_source(str(place), limits=replace(LIMITS, encoding="latin-1"))
    again = reopen(source.identity)
    assert [one.key for one in again.records(ignore_event) if isinstance(one, SourceRecord)] == [NAME]


@pytest.mark.parametrize(("encoding", "guess"), [("latin-1", "latin-1"), ("cp865", "cp865")])
@pytest.mark.parametrize("lang", ["en", "nb"])
def test_without_it_the_option_is_named_with_a_guess(
    encoding: str, guess: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = MAKERS["gnu"](encoding)
    assert main(["validate", str(place), "--lang", lang], {}) == 4
    assert f"--encoding {guess}" in capsys.readouterr().err


def test_names_that_are_utf_8_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    place = MAKERS["gnu"]("utf-8")
    assert main(["plan", str(place), "-o", "run", "--encoding", "latin-1"], {}) == 0
    keys = [one.key for one in open_source(str(place)).records(ignore_event) if isinstance(one, SourceRecord)]
    assert keys == [NAME]


@pytest.mark.parametrize("name", ["ingenting", "hex", "rot13", "utf-16-ole"])
@pytest.mark.parametrize("command", ["scan", "plan", "ingest", "convert", "validate"])
def test_an_encoding_that_is_none_is_a_wrong_use(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = MAKERS["gnu"]("latin-1")
    more = {"plan": ["-o", "run"], "ingest": ["-o", "run"], "convert": ["--as", "eark-sip", "-o", "ut"]}.get(
        command, []
    )
    assert main([command, str(place), *more, "--encoding", name], {}) == 2
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["utf-7", "shift_jis", "cp037"])
def test_no_encoding_lets_a_name_lead_out(encoding: str, tmp_path: Path) -> None:
    raw = "bag/data/../../../ut.txt".encode(encoding) + b"\xff"
    with tarfile.open("ond.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in bag("utf-8"):
            info = tarfile.TarInfo(name.decode())
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        info = tarfile.TarInfo("x" * len(raw))
        archive.addfile(info)
    content = Path("ond.tar").read_bytes()
    at = content.index(b"x" * len(raw))
    header = bytearray(content[at : at + 512])
    header[: len(raw)] = raw
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    Path("ond.tar").write_bytes(content[:at] + bytes(header) + content[at + 512 :])
    assert main(["convert", "ond.tar", "--as", "eark-sip", "-o", "ut", "--encoding", encoding], {}) == 4
    assert not (tmp_path.parent / "ut.txt").exists() and not Path("ut").exists()


def test_a_resumed_line_of_json_counts_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    place = MAKERS["zip"]("cp865")
    capsys.readouterr()
    assert main(["scan", str(place), "--encoding", "cp865", "--json"], {}) == 0
    (told,) = [one for line in capsys.readouterr().out.splitlines() if (one := json.loads(line))["event"] == "scan"]
    assert told["records"] == 1
