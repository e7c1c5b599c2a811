"""A package that its own description contradicts is neither planned nor converted as if it were whole."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.forms.siard.exports import HOME, WRONG, Export

Harm = Callable[[bytes], bytes]
_XXE = b'<!DOCTYPE mets [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
_BOMB = b'<!DOCTYPE mets [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder with some case files in it."""
    monkeypatch.chdir(tmp_path)
    for name, content in {"mapper/sak 1/brev.txt": b"hei", "mapper/tom.txt": b"", "mapper/notat.bin": b"\0\1"}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def half(content: bytes) -> bytes:
    """The first half."""
    return content[: len(content) // 2]


def without_end(content: bytes) -> bytes:
    """All but the last tag."""
    return content[: content.rstrip().rindex(b"</")]


def emptied(content: bytes) -> bytes:
    """Nothing."""
    return b""


def first_line_gone(content: bytes) -> bytes:
    """One file less is listed."""
    return content.split(b"\n", 1)[1]


def with_name(name: bytes) -> Harm:
    """A manifest whose first line names another file."""
    return lambda content: re.sub(rb"data/[^\n]*", lambda _: name, content, count=1)


def with_digest(content: bytes) -> bytes:
    """A manifest whose first checksum is another."""
    return bytes([content[0] ^ 1]) + content[1:] if content[:1] in b"02468" else b"0" + content[1:]


def declaring(declared: bytes, entity: bytes) -> Harm:
    """A document type before the root, and an entity in it."""

    def harm(content: bytes) -> bytes:
        root = re.search(rb"<(?:\w+:)?mets", content)
        assert root is not None
        return content[: root.start()] + declared + content[root.start() :].replace(b">", b">" + entity, 1)

    return harm


XML_HARMS: dict[str, Harm] = {
    "cut in half": half,
    "without its last tag": without_end,
    "emptied": emptied,
    "an entity of a file": declaring(_XXE, b"&x;"),
    "an entity of entities": declaring(_BOMB, b"&b;"),
    "an entity nobody uses": declaring(_XXE, b""),
}
MANIFEST_HARMS: dict[str, Harm] = {
    "cut in half": half,
    "emptied": emptied,
    "a line gone": first_line_gone,
    "a way out": with_name(b"data/../../../etc/passwd"),
    "a way out at once": with_name(b"../brev.txt"),
    "a NUL": with_name(b"data/br\0ev.txt"),
    "another checksum": with_digest,
}
"""What is done to the document that says what a package holds."""


@dataclass(frozen=True, slots=True)
class Case:
    """A package with one fault: its form, the file that is harmed, and how it is packed."""

    form: str
    file: str
    harm: str
    packed: str = ""


CASES = [
    *(Case("bagit", "manifest-sha512.txt", harm, packed) for harm in MANIFEST_HARMS for packed in ("", ".zip")),
    *(Case("eark-sip", "METS.xml", harm, packed) for harm in XML_HARMS for packed in ("", ".zip")),
    *(Case("eark-sip", "representations/files/METS.xml", harm) for harm in XML_HARMS),
    *(Case("dias-sip", "dias-mets.xml", harm) for harm in XML_HARMS),
]


def broken(case: Case) -> Path:
    """The package with its fault."""
    assert main(["convert", "mapper", "--as", case.form, "-o", "pakke"], {}) == 0
    harm = (MANIFEST_HARMS if case.form == "bagit" else XML_HARMS)[case.harm]
    if case.form == "dias-sip":
        (sealed,) = Path("pakke").glob("*.tar")
        with tarfile.open(sealed) as archive:
            archive.extractall("opened")  # noqa: S202  # a package of our own
        (home,) = Path("opened").iterdir()
    else:
        home = Path("pakke")
    place = home / case.file
    place.write_bytes(harm(place.read_bytes()))
    if case.form == "bagit":  # the harm is told by nothing else
        for tags in home.glob("tagmanifest-*.txt"):
            tags.unlink()
    if case.packed:
        with zipfile.ZipFile(f"pakke{case.packed}", "w") as archive:
            for one in sorted(home.rglob("*")):
                if one.is_file():
                    archive.write(one, f"pakke/{one.relative_to(home).as_posix()}")
        return Path(f"pakke{case.packed}")
    return home


ONE_BY_ONE = {("another checksum", "plan"): 3, ("a line gone", "plan"): 3}
"""What a plan sets aside by itself, for the rest is as it should be."""
WAYS = {
    "plan": lambda source: ["plan", str(source), "-o", "run"],
    "convert": lambda source: ["convert", str(source), "--as", "bagit", "-o", "out"],
    "convert to another form": lambda source: ["convert", str(source), "--as", "dias-sip", "-o", "out"],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.form}{case.packed}-{case.file}-{case.harm}")
def test_a_package_whose_description_is_broken_goes_nowhere(case: Case, way: str) -> None:
    source = broken(case)
    assert main(WAYS[way](source), {}) == ONE_BY_ONE.get((case.harm, way), 4)
    assert not Path("out").exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_submission_description_without_its_tar_goes_nowhere(way: str) -> None:
    assert main(["convert", "mapper", "--as", "dias-sip", "-o", "pakke"], {}) == 0
    (sealed,) = Path("pakke").glob("*.tar")
    sealed.unlink()
    assert main(WAYS[way](Path("pakke")), {}) == 4
    assert not Path("out").exists()


@pytest.mark.parametrize("part", ["METS.xml", "PREMIS.xml"])
@pytest.mark.parametrize("harm", [half, emptied])
def test_an_eark_package_whose_provenance_is_broken_is_not_converted(part: str, harm: Harm) -> None:
    assert main(["convert", "mapper", "--as", "eark-sip", "-o", "pakke"], {}) == 0
    (place,) = (one for one in Path("pakke", "representations").rglob("*.xml") if one.name.lower() == part.lower())
    place.write_bytes(harm(place.read_bytes()))
    assert main(["convert", "pakke", "--as", "dias-sip", "-o", "out"], {}) == 4
    place.unlink()
    assert main(["convert", "pakke", "--as", "dias-sip", "-o", "out"], {}) == 4


def test_a_file_that_is_not_what_its_manifest_says_is_not_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    source = broken(Case("bagit", "manifest-sha512.txt", "another checksum"))
    assert main(["ingest", str(source), "-o", "run", "--json"], {}) == 3
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith('{"event": "summary"')]
    assert [(one["archived"], one["set_aside"]) for one in told] == [(4, 1)]  # the tag files, too


@pytest.mark.parametrize("packed", ["", ".zip"])
@pytest.mark.parametrize("file", ["bag-info.txt", "manifest-sha512.txt"])
def test_a_bag_whose_tag_files_were_changed_is_planned_only_where_that_is_wished(file: str, packed: str) -> None:
    assert main(["convert", "mapper", "--as", "bagit", "-o", f"pakke{packed}"], {}) == 0
    more = {"bag-info.txt": b"Contact-Name: X\n"}.get(file, b"\n")

    def harm(content: bytes) -> bytes:
        return content + more

    if packed:
        rewritten(Path("pakke.zip"), f"pakke/{file}", harm)
    else:
        Path("pakke", file).write_bytes(harm(Path("pakke", file).read_bytes()))
    assert main(["plan", f"pakke{packed}", "-o", "run"], {}) == 4
    assert main(["plan", f"pakke{packed}", "-o", "run", "--despite-damage"], {}) == 0
    assert main(["ingest", "run"], {}) == 0


def rewritten(path: Path, name: str, harm: Harm) -> None:
    """A zip with one file harmed, and as whole as a zip can be."""
    with zipfile.ZipFile(path) as archive:
        held = {one: archive.read(one) for one in archive.namelist()}
    held[name] = harm(held[name])
    with zipfile.ZipFile(path, "w") as archive:
        for one, content in held.items():
            archive.writestr(one, content)


SIARD_HARMS: dict[str, Harm] = {
    "cut in half": half,
    "without its last tag": without_end,
    "emptied": emptied,
    "a byte that is no letter": lambda content: content.replace(b"</c2>", b"\xff</c2>", 1),
}


@pytest.mark.parametrize("harm", SIARD_HARMS)
@pytest.mark.parametrize("proven", [True, False], ids=["with a message digest", "without"])
def test_a_table_that_cannot_be_read_is_set_aside_and_the_others_are_taken(
    harm: str, proven: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect("saker.db")) as db, db:
        db.execute("CREATE TABLE sak (nummer INTEGER PRIMARY KEY, tittel TEXT)")
        db.execute("CREATE TABLE brev (nummer INTEGER PRIMARY KEY, sak INTEGER REFERENCES sak, tekst TEXT)")
        db.executemany("INSERT INTO sak VALUES (?, ?)", [(1, "Bro"), (2, "Vei")])
        db.executemany("INSERT INTO brev VALUES (?, ?, ?)", [(1, 1, "hei"), (2, 1, "hopp")])
    db.close()
    assert main(["convert", "saker.db", "--as", "siard", "-o", "saker.siard"], {}) == 0
    with zipfile.ZipFile("saker.siard") as archive:
        (table,) = [one for one in archive.namelist() if one.endswith(".xml") and b"Vei" in archive.read(one)]
    rewritten(Path("saker.siard"), table, SIARD_HARMS[harm])
    if not proven:
        digest = re.compile(rb"<messageDigest>.*?</messageDigest>", re.DOTALL)
        rewritten(Path("saker.siard"), "header/metadata.xml", lambda content: digest.sub(b"", content))
    else:
        assert main(["plan", "saker.siard", "-o", "run"], {}) == 4
        assert main(["convert", "saker.siard", "--as", "sqlite", "-o", "out"], {}) == 4
        assert main(["convert", "saker.siard", "--as", "bagit", "-o", "out"], {}) == 4
        assert not Path("out").exists()
    despite = ["--despite-damage"] if proven else []
    capsys.readouterr()
    assert main(["convert", "saker.siard", "--as", "sqlite", "-o", "ut.db", *despite], {}) == 3
    with closing(sqlite3.connect("ut.db")) as again, again:
        assert again.execute("SELECT * FROM brev").fetchall() == [(1, 1, "hei"), (2, 1, "hopp")]
        assert again.execute("SELECT * FROM sak").fetchall() == []
    again.close()
    listed = Path("ut.db.set-aside.csv").read_text("utf-8-sig")
    assert "sak#table-broken" in listed and table in listed and "SIARD-T_6.0-1-XML" in listed
    assert main(["plan", "saker.siard", "-o", "run", *despite], {}) == 3
    assert "sak#table-broken" in Path("run", "set-aside.csv").read_text("utf-8-sig")


@pytest.mark.parametrize("form", ["bagit", "eark-sip", "dias-sip"])
@pytest.mark.parametrize("harmed", ["the message digest", "the digest of a large value"])
def test_a_siard_archive_that_is_not_what_it_says_goes_into_no_package(harmed: str, form: str) -> None:
    file = (f"{HOME}/lob2/record0.bin", WRONG if "large" in harmed else b"abc", f"{HOME}/lob2/record0.bin")
    schema = {f"{HOME}/table0.xsd": b"<schema/>"}
    columns = [("id", "INTEGER"), ("scan", "BLOB")]
    digest = hashlib.md5(b"other", usedforsecurity=False).hexdigest() if "message" in harmed else ""
    export = Export("2.1", columns, [("1", file)], digests=True, key="id", digest=digest, files=schema)
    export.written(Path("a.siard"))
    assert main(["convert", "a.siard", "--as", form, "-o", "out"], {}) == 4
    assert main(["convert", "a.siard", "--as", form, "-o", "out", "--despite-damage"], {}) == 0
    assert main(["plan", "a.siard", "-o", "run"], {}) == (4 if digest else 3)
