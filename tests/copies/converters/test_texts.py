"""A text stays the text that it was: what its encoding is is never guessed where a guess could lose a letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.copies.converters.text import TextConverter
from noarkit.copies.reasons import Reason
from tests.copies.converters.library_tasks import Workbench

TEXT = "Blåbærsyltetøy på Ærøya\r\nkoster 20 kr – nei, 30\r\n"


def _store(folder: Path, content: bytes, name: str = "notat.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("encoding", "named", "told"),
    [
        ("cp1252", ["cp1252"], "cp1252"),
        ("utf-8-sig", [], "utf-8-sig"),
        ("utf-16", [], "utf-16-le"),
        ("utf-32", [], "utf-32-le"),
        ("mac-roman", ["mac-roman"], "mac-roman"),
    ],
)
def test_every_letter_and_line_end_is_kept(
    encoding: str, named: list[str], told: str, tmp_path: Path, bench: Workbench
) -> None:
    task = bench.task(_store(tmp_path, TEXT.encode(encoding)), "utf-8", decode_as=named)
    product, _ = bench.copy(TextConverter(), task)
    assert product.path.read_bytes() == TEXT.encode()
    assert [(found.code, found.data["encoding"]) for found in product.findings] == [("decoded-as", told)]


def test_the_order_of_the_rule_decides(tmp_path: Path, bench: Workbench) -> None:
    plain = "Blåbær på Ærøya".encode("cp865")
    task = bench.task(_store(tmp_path, plain), "utf-8", decode_as=["cp865", "cp1252"])
    product, _ = bench.copy(TextConverter(), task)
    assert product.path.read_text("utf-8") == "Blåbær på Ærøya"


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (TEXT.encode("cp1252"), []),  # no encoding is named
        (b"bl\x81b\x8d", ["cp1252"]),  # no signs of that encoding
        ("Hei på deg".encode("utf-16-le"), ["cp1252"]),  # every byte is a sign of Windows, every other one NUL
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", ["latin-1"]),
        ("blå\u2013bær".encode("cp1252"), ["latin-1"]),  # the dash is a control character there
        (b"\xff\xfeH\x00e", []),  # half a letter behind the mark
        (b"a\x00b", []),
    ],
)
def test_what_cannot_be_read_for_certain_is_refused(
    content: bytes, named: list[str], tmp_path: Path, bench: Workbench
) -> None:
    task = bench.task(_store(tmp_path, content), "utf-8", decode_as=named)
    assert bench.refusal(TextConverter(), task) is Reason.CONTENT_REFUSED


def test_the_ending_stays(tmp_path: Path, bench: Workbench) -> None:
    task = bench.task(
        _store(tmp_path, "navn;by\r\nÅse;Bodø\r\n".encode("cp1252"), "a.csv"), "utf-8", decode_as=["cp1252"]
    )
    product, _ = bench.copy(TextConverter(), task)
    assert product.path.suffix == ".csv"
