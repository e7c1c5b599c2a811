"""Signs for what cannot be seen, values between the child and us, and what is asked for in an address."""

from __future__ import annotations

import string
import sys
import unicodedata

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.documents.encodings import known_encoding
from noarkit.reading_room.viewers.detection import detect, formats
from noarkit.reading_room.viewers.job import Job
from noarkit.reading_room.viewers.pages import query_of, read_request
from noarkit.reading_room.viewers.port import Answer, Detected, Lines, Note, Piece, Rendering, ViewRequest
from noarkit.reading_room.viewers.signs import line_of, lines_of, split_lines, text_of
from noarkit.reading_room.viewers.wire import WireFault, pack, unpack
from noarkit.words.texts import LANGUAGES, texts

# of Unicode's own table: what has no shape, and what turns the direction of writing
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
# formats by their category that are drawn all the same: signs around Arabic and Syriac numbers, joins of hieroglyphs
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def is_unseen(character: str) -> bool:
    return unicodedata.category(character) in UNSEEN and character != "\t" and ord(character) not in DRAWN


def test_every_character_of_unicode_that_cannot_be_seen_is_a_sign() -> None:
    unseen = [chr(code) for code in range(sys.maxunicode + 1) if is_unseen(chr(code))]
    assert len(unseen) > 100_000
    assert not any(is_unseen(sign) for sign in text_of(line_of("".join(unseen), len(unseen))))


@given(st.text())
def test_no_character_that_cannot_be_seen_reaches_a_page(text: str) -> None:
    assert not any(is_unseen(sign) for sign in text_of(line_of(text)))


@given(st.text(alphabet=string.printable.replace("\r", "").replace("\n", "").replace("\x0b", "").replace("\x0c", "")))
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    assert text_of(line_of(text)) == text


def test_every_bidirectional_control_of_unicode_is_a_sign() -> None:
    controls = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.bidirectional(chr(code)) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]
    assert len(controls) == 9
    for control in controls:
        assert line_of(f"a{control}b") == (Piece("a"), Piece(f"‹U+{ord(control):04X}›", "sign"), Piece("b"))


def test_long_lines_are_cut_and_the_number_is_told() -> None:
    assert line_of("abcdef", 4) == (Piece("abcd"), Piece("2", "cut"))
    assert line_of("abcd", 4) == (Piece("abcd"),)
    assert lines_of("a\r\nb\rc\n") == ((Piece("a"),), (Piece("b"),), (Piece("c"),))
    assert split_lines("a\x0bb\u2028c") == ["a\x0bb\u2028c"]
    assert line_of("a\nb", breaks=True) == (Piece("a\nb"),)


def test_a_value_comes_back_as_it_was_sent() -> None:
    rendering = Rendering(Detected("text", "text/plain", "text"), Lines(1, ((Piece("a"), Piece("␀", "sign")),)))
    answer = Answer(rendering, Note("encoding", {"encoding": "cp1252", "count": 3}))
    assert unpack(pack(answer), Answer) == answer
    assert unpack(pack(Answer(None)), Answer) == Answer(None)


@pytest.mark.parametrize(
    "change",
    [
        {"rendering": 7},
        {"rendering": {"is": "Job"}},
        {"refused": {"is": "Note", "code": 7, "data": {}}},
        {"refused": {"is": "Note", "code": "x", "data": {"a": [1]}}},
        {"refused": {"is": "Note", "code": "x", "data": {}, "more": 1}},
        {"part_name": [{"is": "Piece", "text": "x", "role": "script"}]},
        {"part_name": "x"},
        {"is": "Lines"},
    ],
)
def test_what_a_child_may_not_say_is_refused(change: dict[str, object]) -> None:
    data = orjson.loads(pack(Answer(None))) | change
    with pytest.raises(WireFault):
        unpack(orjson.dumps(data), Answer)


def test_what_is_no_json_or_no_value_is_refused() -> None:
    for data in (b"", b"{", b"[]", b"null", b"true", b'{"is": "Job"}'):
        with pytest.raises(WireFault):
            unpack(data, Job)


@pytest.mark.parametrize(
    "request_",
    [
        ViewRequest(),
        ViewRequest(page=7),
        ViewRequest(sheet=2, page=3),
        ViewRequest(part=(1, 20, 3), way="source"),
        ViewRequest(way="raw"),
    ],
)
def test_an_address_asks_for_what_it_was_made_of(request_: ViewRequest) -> None:
    query = dict(pair.split("=") for pair in query_of(request_)[1:].split("&") if pair)
    assert read_request(query) == request_


@pytest.mark.parametrize(
    "query",
    [
        {"page": "-1"},
        {"page": "1e3"},
        {"page": "9" * 30},
        {"part": "a.b"},
        {"as": "javascript:"},
        {"sheet": "٣"},
        {"x": "1"},
    ],
)
def test_nonsense_in_an_address_asks_for_the_usual_view(query: dict[str, str]) -> None:
    assert read_request(query) == ViewRequest()


def test_encodings_that_are_no_texts_are_not_used() -> None:
    for name in ("zip", "hex", "rot13", "utf-7", "idna", "unicode_escape", "no-such", "a\0b", ""):
        assert known_encoding(name) == "", name
    assert known_encoding("latin1") == "iso8859-1"


def test_every_format_has_its_name_and_every_kind_its_way_in_both_languages() -> None:
    for lang in LANGUAGES:
        for name, row in formats().items():
            assert texts(lang).has("say", f"viewers.format-{name}"), name
            assert texts(lang).has("say", f"viewers.way-{row.kind}"), name


@given(st.binary(max_size=300))
def test_any_bytes_are_of_some_format(head: bytes) -> None:
    assert detect(head).format in formats()
