"""What is delivered and no depot can use stands in the list beside the package, with its reason in both languages."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest

import noarkit
from noarkit.extraction.delivered_formats import (
    CODEC,
    DAMAGED,
    EMPTY,
    NO_PDFA_BESIDE,
    NOT_PDFA,
    NOT_TAKEN,
    PASSWORD,
    REASONS,
    reason_not_taken,
)
from noarkit.words.texts import LANGUAGES, texts
from tests.copies.corpus import odf, office
from tests.copies.corpus.pdf import pdf
from tests.copies.planning.made import pdfa_of, picture
from tests.sources.files.test_codecs import mp4

LETTER = office.docx(office.paragraph("Svar på søknad"))
LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(512)
PLAIN = pdf(["Vedtak"])
ARCHIVAL = pdfa_of(picture(7))


def locked_zip() -> bytes:
    """A zip whose only member is marked as locked."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("brev.txt", "hemmelig")
    content = bytearray(buffer.getvalue())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def locked_odt() -> bytes:
    """An OpenDocument whose manifest says that its content is encrypted."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(odf.odt("x"))) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            if name != "META-INF/manifest.xml":
                new.writestr(name, old.read(name))
        space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        new.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{space}"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>',
        )
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("brev.docx", LETTER, None),
        ("pakke.zip", locked_zip(), PASSWORD),
        ("film.mp4", mp4(b"avc1"), None),
        ("film.mp4", mp4(b"hvc1"), CODEC),
        ("brev.docx", LETTER[: len(LETTER) // 2], DAMAGED),
        ("brev.docx", LOCKED, PASSWORD),
        ("brev.docx", LOCKED.replace("Enc".encode("utf-16-le"), b"xxxxxx"), DAMAGED),
        ("brev.odt", locked_odt(), PASSWORD),
        ("brev.odt", odf.odt("x"), None),
        ("vedtak.pdf", PLAIN, NOT_PDFA),
        ("vedtak.pdf", ARCHIVAL, None),
        ("vedtak.pdf", pdf(["x"], lock="hemmelig"), PASSWORD),
        ("vedtak.pdf", PLAIN[: len(PLAIN) // 2], DAMAGED),
        ("bilde.png", b"", EMPTY),
        ("bilde.png", picture(7)[:-8], DAMAGED),
        ("bilde.png", picture(7), None),
    ],
)
def test_a_right_name_is_no_proof(tmp_path: Path, name: str, content: bytes, reason: str | None) -> None:
    (tmp_path / name).write_bytes(content)
    assert reason_not_taken(tmp_path / name, name.rpartition(".")[2]) == reason


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_has_its_sentence(lang: str) -> None:
    assert texts(lang).tables["delivered_formats"].keys() == set(REASONS)


def test_the_list_beside_a_package_has_them_all_with_their_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    contents = {
        "hel.docx": LETTER,
        "avkuttet.docx": LETTER[: len(LETTER) // 2],
        "last.docx": LOCKED,
        "vanlig.pdf": PLAIN,
        "arkiv.pdf": ARCHIVAL,
        "gammel.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024),
    }
    Path("sak").mkdir()
    for name, content in contents.items():
        Path("sak", name).write_bytes(content)
    noarkit.plan("sak", "run")
    noarkit.ingest("run", archive="embedded:arkiv", workers=0)
    noarkit.close("run", archive="embedded:arkiv")
    norwegian = noarkit.read_settings(environment={"NOARKIT_LANG": "nb"})
    result = noarkit.extract("package", archive="embedded:arkiv", settings=norwegian)
    with Path("package.formats-not-taken.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert sorted((row["format"], row["code"]) for row in rows) == [
        ("doc", NOT_TAKEN),
        ("docx", DAMAGED),
        ("docx", NO_PDFA_BESIDE),
        ("docx", PASSWORD),
        ("pdf", NOT_PDFA),
    ]
    assert {row["means"] for row in rows if row["code"] == PASSWORD} == {"Det er beskyttet med passord."}
    assert list(rows[0]) == ["folder", "record", "document", "format", "file", "code", "means"]
    assert result.formats_not_taken == 5
    assert all(Path("package", row["file"]).is_file() for row in rows)


def test_the_extract_counts_what_its_validation_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One function decides what is taken by its format: the list, the rules and the verdict have the same number."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src" / "Sak"
    folder.mkdir(parents=True)
    for name, content in (
        ("pakke.zip", locked_zip()),
        ("film.mp4", mp4(b"hvc1")),
        ("kino.mp4", mp4(b"avc1")),
        ("brev.txt", b"brev"),
        ("lyd.m4a", b"lyd"),
        ("vedtak.pdf", PLAIN),
        ("tom.txt", b""),
    ):
        (folder / name).write_bytes(content)
    noarkit.plan("src", "run", archive="embedded:arc")
    noarkit.ingest("run", archive="embedded:arc", workers=0)
    made = noarkit.extract("pkg", archive="embedded:arc")
    with (tmp_path / "pkg.formats-not-taken.csv").open(encoding="utf-8-sig") as file:
        reasons = sorted(row["code"] for row in csv.DictReader(file, delimiter=";"))
    assert reasons == sorted([PASSWORD, CODEC, NOT_TAKEN, NOT_PDFA, EMPTY])
    assert made.verdict is not None
    counts = {reason.code: reason.count for reason in made.verdict.reasons}
    assert counts["formats"] + counts["unusable"] == made.formats_not_taken == len(reasons)
