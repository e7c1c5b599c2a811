"""What the system and libraries say reaches people in their own language, with what it names."""

from __future__ import annotations

import ast
import errno
import os
import sqlite3
import tarfile
import zlib
from contextlib import closing
from pathlib import Path
from xml.parsers import expat

import pytest

from noarkit.errors import ItemUnreadable, JournalFault, PackageFault, PlanFault
from noarkit.recipes.read import read_recipe
from noarkit.words.messages import _PATTERNS, message_key
from noarkit.words.texts import LANGUAGES, render, texts
from tests.languages import foreign_words
from tests.package_code import PACKAGE, nodes_of

BROKEN_TOML = (
    *("[target", "[[map]", "a", "a = ", "a = 1 b = 2", "a = 1\na = 2", "a = {b = 1}\n[a.c]\n", "[a]\n[a]\n", "= 1"),
    *("a = [1, 2", "a = {b = 1", 'a = "b', "a = 2026-13-01", 'a = "\\uD800"', 'a = "\\q"', 'a = "b\\u00zz"', "a = @"),
    *("a = {b = 1, b = 2}", "a = '''", "a.b = 1\na.b.c = 2", "a = 1\rb = 2", "a = \x00"),
)
BROKEN_XML = (
    *("", "x", "<a>", "<a></b>", "<a/><b/>", '<a b="" b=""/>', "<a", "<a>&b;</a>", "<a><![CDATA["),
    "<a>\x01</a>",
)


@pytest.mark.parametrize("text", BROKEN_TOML)
def test_what_is_wrong_with_a_recipe_is_told_in_norwegian(text: str) -> None:
    with pytest.raises(PlanFault) as caught:
        read_recipe(text)
    said = "\n".join(render(caught.value, "nb"))
    assert foreign_words(said, "nb") == []
    assert message_key(str(caught.value.data["why"])) is not None, caught.value.data


@pytest.mark.parametrize("text", BROKEN_XML)
def test_what_is_wrong_with_xml_is_told_in_norwegian(text: str) -> None:
    parser = expat.ParserCreate()
    with pytest.raises(expat.ExpatError) as caught:
        parser.Parse(text, True)
    for detail in (str(caught.value), expat.ErrorString(caught.value.code)):
        fault = PackageFault(where="a.xml", why="malformed-xml", detail=detail)
        assert message_key(detail) is not None, detail
        assert foreign_words(render(fault, "nb")[0], "nb") == []


def damaged_database(folder: Path, harm: str) -> str:
    """What SQLite says of a file that was harmed."""
    path = folder / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(20000))")
    content = path.read_bytes()
    harmed = {"cut": content[:8192], "overwritten": b"x" * 5000, "gone": content, "without": content}[harm]
    path.write_bytes(harmed)
    where = f"file:{folder / 'nowhere' / 'a.db' if harm == 'gone' else path}?mode=ro"
    with pytest.raises(sqlite3.Error) as caught, closing(sqlite3.connect(where, uri=True)) as db:
        db.execute("SELECT y FROM b" if harm == "without" else "SELECT length(x), x FROM a").fetchall()
    return str(caught.value)


@pytest.mark.parametrize("harm", ["cut", "overwritten", "gone", "without"])
def test_what_sqlite_says_of_a_damaged_file_is_told_in_norwegian(harm: str, tmp_path: Path) -> None:
    said = damaged_database(tmp_path, harm)
    fault = JournalFault(where="run.db", why=said)
    assert message_key(said) is not None, said
    assert foreign_words("\n".join(render(fault, "nb")), "nb") == []


def test_all_that_our_own_reader_of_zips_says_has_its_sentence() -> None:
    said = []
    for node in nodes_of(PACKAGE / "safe" / "zipped.py"):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "zipfile.BadZipFile":
            text = node.args[0]
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            said.append("".join(str(part.value) if isinstance(part, ast.Constant) else "'a.txt'" for part in parts))
    assert len(said) > 10
    assert [text for text in said if message_key(text) is None] == []
    assert texts("nb").reason("'a.txt' is not what its checksum says") == "a.txt stemmer ikke med sjekksummen"


def test_what_decompressors_say_has_its_sentence() -> None:
    with pytest.raises(zlib.error) as damaged:
        zlib.decompress(b"zzz")
    assert message_key(str(damaged.value)) == ("compressed", {})
    with pytest.raises(tarfile.TarError) as header:
        tarfile.TarInfo.frombuf(b"z" * 512, "utf-8", "strict")
    assert message_key(str(header.value)) == ("header", {})


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_error_of_the_system_is_told_alike_by_its_name_and_by_its_words(lang: str) -> None:
    told = texts(lang)
    for name in ("EACCES", "EIO", "ENOENT", "ENOSPC", "EROFS", "ETIMEDOUT", "EISDIR"):
        assert told.reason(os.strerror(getattr(errno, name))) == told.reason(name) != name
    assert foreign_words(render(ItemUnreadable(key="a", why=os.strerror(errno.EROFS)), lang)[0], lang) == []


def test_what_nobody_knows_is_told_as_it_was_said() -> None:
    assert texts("nb").reason("half past nine") == "half past nine"
    assert message_key("x" * 600 + " is stored with two sizes") is None


def test_each_message_has_its_sentence_and_each_sentence_a_message() -> None:
    keys = {key for _, key in _PATTERNS}
    for lang in LANGUAGES:
        assert texts(lang).tables["messages"].keys() == keys
