"""Norwegian texts of one byte a letter: which of the code pages it was is told by its letters, or it stays in doubt."""

from __future__ import annotations

import pytest

from noarkit.documents.encodings import is_encoded_twice, likelier_readings

TEXTS = (
    "Søknad om påbygg på Ærøya, Åsgård gård",
    "Vi viser til møte den 3. mai; «særskilt» vedtak følger.",
    "ÅRSMELDING FOR SKOLEÅRET\nRektor Øyvind Bråten sier nei.",
    "æ ø å",
)
CODE_PAGES = ("cp1252", "mac_roman", "cp865", "cp850")


def _bytes(text: str, encoding: str) -> bytes:
    return text.encode(encoding, "replace")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", CODE_PAGES)
def test_nothing_is_likelier_than_what_it_was_written_in(text: str, encoding: str) -> None:
    assert likelier_readings(_bytes(text, encoding), encoding) == {}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", CODE_PAGES)
@pytest.mark.parametrize("wrong", ["cp1252", "mac_roman", "cp865"])
def test_a_wrong_reading_is_seen(text: str, encoding: str, wrong: str) -> None:
    content = _bytes(text, encoding)
    if content.decode(wrong, "replace") != content.decode(encoding):
        likelier = likelier_readings(content, wrong)
        assert next(iter(likelier.values())) == content.decode(encoding)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_was_written_twice_is_seen(text: str) -> None:
    assert not is_encoded_twice(text)
    assert is_encoded_twice(text.encode().decode("cp1252", "replace"))
