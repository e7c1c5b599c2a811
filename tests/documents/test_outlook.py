"""Outlook messages (.msg) are mails like any other, and bytes that are none of it stop nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.documents import outlook
from noarkit.documents.outlook import read_message, read_message_part
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.records import SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from samples.files.outlook import message, ole2

PDF = b"%PDF-1.4 " + b"kart " * 2_000
MESSAGE = message(
    "Søknad om båtplass",
    ("Kåre Ås", "kare@example.no"),
    [("Fjord kommune", "post@fjord.example", 1), ("Per", "per@example.no", 2)],
    datetime(2019, 3, 4, 12, tzinfo=UTC),
    "Hei\r\n",
    [("kårt.pdf", "application/pdf", PDF), ("liten.txt", "text/plain", b"hei")],
)


def records(place: Path, **wanted: object) -> list[SourceRecord]:
    """What a tree yields on some terms."""
    found = FileTree(place, FilePolicy().with_settings(wanted)).records(ignore_event)
    return [item for item in found if isinstance(item, SourceRecord)]


def test_a_message_tells_who_when_and_what() -> None:
    told = read_message(BytesIO(MESSAGE), include_parts=True)
    assert told.fields["subject"] == "Søknad om båtplass"
    assert told.fields["from"] == [{"name": "Kåre Ås", "address": "kare@example.no", "role": "from"}]
    assert told.fields["to"] == [{"name": "Fjord kommune", "address": "post@fjord.example", "role": "to"}]
    assert told.fields["cc"] == [{"name": "Per", "address": "per@example.no", "role": "cc"}]
    assert (told.fields["date"], told.fields["received"]) == ("2019-03-04T12:00:00.000Z", "2019-03-04T12:00:05.000Z")
    assert [(one.name, one.media_type, one.payload) for one in told.attachments] == [
        ("kårt.pdf", "application/pdf", PDF),
        ("liten.txt", "text/plain", b"hei"),
    ]


def test_the_message_stays_whole_and_its_attachments_are_read_from_within_it(tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(MESSAGE)
    (record,) = records(tmp_path, mail="parts", own_domains=["fjord.example"])
    assert record.kind == "mail"
    assert [one.locator for one in record.contents] == ["a.msg", "a.msg//part/1", "a.msg//part/2"]
    assert record.contents[0].media_type == outlook.MEDIA_TYPE
    held = []
    for content in record.contents:
        with FileTree(tmp_path).open(content) as stream:
            held.append(stream.read())
    assert held == [MESSAGE, PDF, b"hei"]


def test_a_message_that_is_named_itself_is_taken_apart(tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(MESSAGE)
    found = [
        item for item in open_source(str(tmp_path / "a.msg")).records(ignore_event) if isinstance(item, SourceRecord)
    ]
    assert [len(record.contents) for record in found] == [3]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"ikke noe brev",
        MESSAGE[:600],
        MESSAGE[:-700],
        ole2({"WordDocument": b"tekst"}),
        ole2({"__properties_version1.0": b""}),
    ],
)
def test_what_only_its_name_calls_a_message_is_a_plain_file_and_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(content)
    (record,) = records(tmp_path, mail="parts")
    assert (record.kind, record.fields["mail"], len(record.contents)) == ("file", {}, 1)
    assert "W217" in [note.code for note in record.notes]


def test_what_hangs_on_a_message_without_bytes_of_its_own_is_counted(tmp_path: Path) -> None:
    whole = message(
        "Hei",
        ("A", "a@example.no"),
        [("B", "b@example.no", 1)],
        datetime(2020, 1, 1, tzinfo=UTC),
        "",
        [("x", "y", b"")],
    )
    # the method of the attachment: 1 by value, 5 a message within the message
    turned = whole.replace(b"\x03\x00\x05\x37\x06\x00\x00\x00\x01", b"\x03\x00\x05\x37\x06\x00\x00\x00\x05")
    assert turned != whole
    (tmp_path / "a.msg").write_bytes(turned)
    (record,) = records(tmp_path, mail="parts")
    assert [(note.code, note.data) for note in record.notes] == [("W219", {"count": 1})]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(MESSAGE) - 1), st.integers(0, 255)), min_size=1, max_size=12))
def test_no_damage_makes_the_reader_stumble(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(MESSAGE)
    for at, value in changes:
        damaged[at] = value
    told = read_message(BytesIO(bytes(damaged)), include_parts=True)
    str(told.fields).encode("utf-8")
    for number in range(1, len(told.attachments) + 1):
        payload = read_message_part(BytesIO(bytes(damaged)), number)
        assert payload == told.attachments[number - 1].payload


def test_a_chain_of_entries_without_end_is_refused_in_bounded_depth() -> None:
    many = ole2({"__properties_version1.0": bytes(32), **{f"x{number}": b"" for number in range(5_000)}})
    assert not read_message(BytesIO(many), include_parts=True).is_mail
