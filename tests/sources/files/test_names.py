"""Names: whatever bytes a disk holds arrive apart, keep their bytes, and can be read by people."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from noarkit.errors import UnsafePath
from noarkit.events import ignore_event
from noarkit.records import SourceRecord
from noarkit.sources.files.names import find_twins, key_of, path_of, readable, text_of
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

ODD = [
    "blåbær.txt",
    unicodedata.normalize("NFD", "blåbær.txt"),
    "BLÅBÆR.txt",
    "linje\nskift",
    "tab\tog\rvogn",
    "\u202eexe.fdp",
    "null\u200bbredde",
    "100%25.txt",
    "100%.txt",
    "😀",
    "CON",
    "punktum. ",
    " ",
    "-rf",
    "\x01\x1b[31m",
    "a\\b",
    "\ufffe",
    "\u2028",
    "$(x);`y`'\"",
    "\ufffd",
]

names = st.one_of(
    st.sampled_from([name.encode() for name in ODD]),
    st.text(min_size=1, max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.binary(min_size=1, max_size=80),
).filter(lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..") and len(name) <= 255)


@given(st.lists(names, min_size=1, max_size=4))
def test_a_key_leads_back_to_the_exact_bytes(steps: list[bytes]) -> None:
    path = b"/".join(steps)
    assert path_of(key_of(path)) == path


@given(names, names)
def test_two_names_never_share_a_key(one: bytes, other: bytes) -> None:
    assert (key_of(one) == key_of(other)) == (one == other)


@given(names)
def test_a_key_is_text_without_signs_that_break_lines_or_xml(name: bytes) -> None:
    key = key_of(name)
    key.encode("utf-8")
    assert len(key.splitlines()) == 1
    etree.Element("a").text = key


@given(names)
def test_a_name_that_is_text_is_kept_sign_by_sign(name: bytes) -> None:
    try:
        exact = name.decode()
    except UnicodeDecodeError:
        assert "\ufffd" in text_of(name)
        return
    assert text_of(name) == exact


@given(st.text())
def test_readable_names_stand_in_xml_and_others_are_left_as_they_are(text: str) -> None:
    shown = readable(text)
    assert len(shown) == len(text)
    etree.Element("a").text = shown
    try:
        etree.Element("a").text = text
    except (ValueError, UnicodeEncodeError):
        assert shown != text
    else:
        assert shown == text


def test_what_xml_forbids_is_shown_by_a_stated_sign() -> None:
    assert readable("a\x00b\x1bc\ufffed") == "a␀b␛c\ufffdd"


@pytest.mark.parametrize("key", ["a/../b", "..", "/a", "a//b", "a%00", "%", "%zz", "%2", "", "a%2F..%2Fb", "%ff"])
def test_keys_that_no_path_ever_had_are_refused(key: str) -> None:
    with pytest.raises(UnsafePath):
        path_of(key)


def test_twins_are_told_by_case_and_by_composition() -> None:
    composed, loose = "æå".encode(), unicodedata.normalize("NFD", "æå").encode()
    held = [b"a", b"A", b"b", composed, loose, b"\xff", b"\xfe"]
    assert find_twins(held, held) == {b"a": True, b"A": True, composed: False, loose: False}


def test_twins_are_found_in_a_crowd() -> None:
    held = [f"fil-{number:06}".encode() for number in range(45_000)] + [b"FIL-000007", b"FIL-044999", b"FIL-09999"]
    told = find_twins(held, held)
    assert sorted(told) == [b"FIL-000007", b"FIL-044999", b"fil-000007", b"fil-044999"]
    assert find_twins(held[:45_000], held[:45_000]) == {}


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(names, st.binary(max_size=40), min_size=1, max_size=8), st.lists(names, max_size=2))
def test_odd_trees_come_back_byte_for_byte(held: dict[bytes, bytes], folders: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = place.encode() + b"/" + b"".join(folder + b"/" for folder in folders)
        Path(text_path(root)).mkdir(parents=True, exist_ok=True)
        for name, content in held.items():
            Path(text_path(root + name)).write_bytes(content)
        source = FileTree(Path(place), FilePolicy(look_inside=False))
        records = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
        prefix = b"".join(folder + b"/" for folder in folders)
        assert {path_of(record.key)[len(prefix) :] for record in records} == set(held)
        for record in records:
            name = path_of(record.key)[len(prefix) :]
            assert record.fields["name"] == text_of(name)
            with source.open(record.contents[0]) as stream:
                assert stream.read() == held[name]


def text_path(path: bytes) -> str:
    """Bytes as the system's own functions take them in a text."""
    return path.decode("utf-8", "surrogateescape")


def test_oddities_are_noted_by_code(tmp_path: Path) -> None:
    composed, loose = "å", unicodedata.normalize("NFD", "å")
    for name in ("\udcff", "a\x01", "r\u202e", "x/Sak", "x/sak", f"y/{composed}", f"y/{loose}", "plain", "n" * 200):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    deep = tmp_path / ("m" * 200)
    deep.mkdir()
    (deep / ("n" * 60)).write_text("x")
    noted = {
        item.key: [note.code for note in item.notes]
        for item in FileTree(tmp_path, FilePolicy(look_inside=False)).records(ignore_event)
        if isinstance(item, SourceRecord)
    }
    assert noted == {
        "%FF": ["W201"],
        "a%01": ["W202", "W203"],
        "r\u202e": ["W203"],
        "x/Sak": ["W204"],
        "x/sak": ["W204"],
        f"y/{composed}": ["W205"],
        f"y/{loose}": ["W205"],
        "plain": [],
        "n" * 200: [],
        f"{'m' * 200}/{'n' * 60}": ["W206"],
    }


def test_what_is_odd_in_a_folders_name_is_noted_on_its_files(tmp_path: Path) -> None:
    (tmp_path / "\udcfe/b").mkdir(parents=True)
    (tmp_path / "\udcfe/b/\udcff").write_text("x")
    records = FileTree(tmp_path, FilePolicy(look_inside=False)).records(ignore_event)
    assert [[note.code for note in item.notes] for item in records if isinstance(item, SourceRecord)] == [["W201"]]


def test_where_an_odd_root_lies_is_told_as_text(tmp_path: Path) -> None:
    root = tmp_path / "\udcffrot"
    root.mkdir()
    (root / "a").write_text("x")
    source = FileTree(root)
    assert source.identity.where == f"{tmp_path}/%FFrot"
    assert [item.fields["root"] for item in source.records(ignore_event) if isinstance(item, SourceRecord)] == [
        "\ufffdrot"
    ]
