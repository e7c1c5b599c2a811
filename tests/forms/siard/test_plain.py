"""What is read and judged by a pattern is what the parser tells: of tables whole and broken, wherever they are cut."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noarkit.errors import NoarkitError
from noarkit.forms.siard.read.plain import PlainPortions
from noarkit.forms.siard.read.rows import RawRow, Stray, raw_rows
from noarkit.forms.siard.rules.expected import Expected
from noarkit.forms.siard.rules.plain import TYPED
from noarkit.forms.siard.rules.rows import JUDGES, RowCheck

ONLY_THE_PARSER = b"<!-- whatever comes is the parser's -->"
HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n%s<table xmlns="http://x/table0.xsd">\n'
COLUMNS = (
    Expected("c1", "xs:integer", False),
    Expected("c2", "xs:string", True),
    Expected("c3", "dateType", True),
    Expected("c4", "clobType", True),
)
TAGS = [column.name for column in COLUMNS]
Told = tuple[list[RawRow], list[tuple[str, object]]]


class Pieces:
    """A document that comes in pieces of some size."""

    def __init__(self, content: bytes, size: int) -> None:
        self._file = io.BytesIO(content)
        self._size = size

    def read(self, size: int = -1, /) -> bytes:
        """The next piece."""
        return self._file.read(min(size, self._size) if size >= 0 else self._size)


def read(content: bytes, size: int) -> Told:
    """The rows, and what was told of strays or as a fault, with its line."""
    rows: list[RawRow] = []
    told: list[tuple[str, object]] = []

    def hear(stray: Stray) -> None:
        told.append((stray.name, stray.line))

    try:
        for batch in raw_rows(Pieces(content, size), "t.xml", TAGS, stray=hear):
            rows += batch
    except NoarkitError as fault:
        told.append((type(fault).__name__, (fault.data.get("why"), fault.data.get("line"))))
    return rows, told


def assert_read_alike(content: bytes, size: int) -> None:
    """The same rows, strays and fault. Of a broken table, how many rows come before the fault is a matter of blocks."""
    rows, told = read(content, size)
    parsed_rows, told_by_parser = read(of_the_parser(content), size)
    assert told == told_by_parser
    if told and told[-1][0].endswith(("Fault", "Xml")):
        both = min(len(rows), len(parsed_rows))
        assert rows[:both] == parsed_rows[:both]
    else:
        assert rows == parsed_rows


def judged(content: bytes, size: int, columns: Sequence[Expected] = COLUMNS) -> tuple[int, list[object]]:
    """How many rows were counted, and all findings with their lines."""
    findings: list[object] = []
    check = RowCheck(columns, lambda code, line, **data: findings.append((code, line, sorted(data.items()))))
    try:
        for larges in check.run(Pieces(content, size), "t.xml"):
            findings += larges
    except NoarkitError as fault:
        findings.append((type(fault).__name__, fault.data.get("why"), fault.data.get("line")))
    return check.rows, findings


def document(body: bytes) -> bytes:
    return HEAD % (b" " * len(ONLY_THE_PARSER)) + body + b"</table>\n"


def of_the_parser(content: bytes) -> bytes:
    """The same document, with the same lines, of which no portion is plain."""
    return content.replace(b" " * len(ONLY_THE_PARSER), ONLY_THE_PARSER, 1)


GOOD = b"<row><c1>1</c1><c2>a &amp; b \xc3\xa5</c2><c3>2020-01-02Z</c3></row>\n"
ODD = [
    GOOD,
    GOOD * 40,
    b"<row><c1>2</c1><c2></c2></row>",
    b"<row><c1>2</c1><c2/></row>\r\n",
    b"<row><c1>-3</c1><c2>x\r\ny\rz</c2><c4>\\u005c \\u0000 &lt;\\u00e5&gt;&quot;&apos;</c4></row>\r",
    b"<row><c1>4</c1><c2>&#13;&#x41;</c2></row>\n",
    b"<row><c1>5</c1><c2>a]]>b</c2></row>\n",
    b"<row><c1>5</c1><c2>a > b</c2></row>\n",
    b"<row><c1>6</c1><c2>\xef\xbf\xbe</c2></row>\n",
    b"<row><c1>6</c1><c2>\xff</c2></row>\n",
    b"<row><c1>6</c1><c2>\x01</c2></row>\n",
    b"<row><c1>6</c1><c2>C:\\users</c2></row>\n",
    b"<row><c2>no number</c2></row>\n",
    b"<row><c1>seven</c1></row>\n",
    b"<row><c1>8</c1><c3>2023-02-29Z</c3></row>\n",
    b"<row><c1>8</c1><c3>2024-02-29</c3></row>\n",
    b"<row><c1>8</c1><c3>0000-01-01</c3></row>\n",
    b"<row><c1>8</c1><c3>-0044-03-15Z</c3></row>\n",
    b"<row><c2>order</c2><c1>9</c1></row>\n",
    b"<row><c1>9</c1><c1>9</c1></row>\n",
    b"<row><c1>10</c1><c9>stray</c9></row>\n",
    b"<line><c1>10</c1></line>\n",
    b"<row><c1>11</c1>text<c2>x</c2></row>\n",
    b'<row><c1>12</c1><c4 file="seq.txt" length="3"/></row>\n',
    b'<row x="1"><c1>12</c1></row>\n',
    b'<row xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><c1>13</c1><c2 xsi:nil="true"/></row>\n',
    b"<row><c1>14</c1><c4><a1>1</a1></c4></row>\n",
    b"<row><c1>15</c1><c2><![CDATA[</c2></row>]]></c2></row>\n",
    b"<!-- " + GOOD,
    b"<!-- " + GOOD + b" -->",
    b"<row><c1>16</c1><c2><!-- </row>",
    b"--></c2></row>\n",
    b"<?pi " + GOOD + b"?>",
    b"]]></c2></row>\n",
    b"</row>",
    b"</table>",
    b"<row>",
    b" stray text ",
    b"\r",
    b"<row><c1>17</c1><c2>a &amp b</c2></row>\n",
    b"<row><c1>18</c1><c2>" + b"long " * 300 + b"</c2></row>\n",
]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(ODD), max_size=8), st.sampled_from([7, 100, 200, 300, 512, 1024 * 1024]))
@example([GOOD, b"<!-- ", GOOD, b"-->"], 64)
@example([b"<row><c1>16</c1><c2><!-- </row>", GOOD, b"--></c2></row>\n"], 64)
@example([GOOD] * 3 + [b"</table>", GOOD], 300)
def test_a_table_is_read_and_judged_as_the_parser_does_it(pieces: list[bytes], size: int) -> None:
    content = document(b"".join(pieces))
    assert_read_alike(content, size)
    assert judged(content, size) == judged(of_the_parser(content), size)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 400), st.sampled_from([16, 200, 1024]))
def test_bytes_in_the_midst_of_a_table_change_nothing(noise: bytes, at: int, size: int) -> None:
    rows = GOOD * 6
    content = document(rows[:at] + noise + rows[at:])
    assert_read_alike(content, size)
    assert judged(content, size) == judged(of_the_parser(content), size)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.none() | st.text(st.characters(codec="utf-8")), min_size=4, max_size=4), max_size=30))
def test_every_text_comes_out_of_a_pattern_as_it_comes_out_of_the_parser(rows: list[list[str | None]]) -> None:
    cells = [
        "".join(f"<{tag}>{_spelt(text)}</{tag}>" for tag, text in zip(TAGS, row, strict=True) if text is not None)
        for row in rows
    ]
    content = document("".join(f"<row>{row}</row>\n" for row in cells).encode())
    assert_read_alike(content, 512)


def _spelt(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")


def counted(content: bytes, size: int) -> int:
    """How many bytes the parser gets."""
    portions = PlainPortions(Pieces(content, size), "t.xml", lambda text: True, lambda: (1, 0))
    return sum(map(len, iter(lambda: portions.read(1024 * 1024), b"")))


def test_plain_rows_never_reach_the_parser() -> None:
    content = document(GOOD * 1000)
    assert counted(content, 4096) < len(content) / 10
    assert counted(of_the_parser(content), 4096) == len(content)


def test_lines_are_right_after_plain_rows() -> None:
    content = document(GOOD * 5000 + b"<row><c1>seven</c1></row>\n" + GOOD * 10)
    assert judged(content, 2048) == (5011, [("SIARD-T_6.0-1-VALUE", 5003, [("name", "c1"), ("type", "xs:integer")])])


class Breaks:
    """A document whose bytes cannot be had to the end."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, size: int = -1, /) -> bytes:
        """All there is; then nothing but a fault."""
        content, self._content = self._content, b""
        if not content:
            raise OSError("gone")
        return content


@pytest.mark.parametrize("prefix", [b"", ONLY_THE_PARSER])
def test_rows_before_bytes_that_cannot_be_had_are_given(prefix: bytes) -> None:
    rows: list[RawRow] = []
    content = HEAD % prefix + GOOD * 3 + b"<row><c1>4</c1></row><row><c1>5"
    with pytest.raises(OSError, match="gone"):
        for batch in raw_rows(Breaks(content), "t.xml", TAGS):
            rows += batch
    assert [row[0] for row in rows] == ["1", "1", "1", "4"]


def test_what_is_malformed_is_told_before_bytes_that_cannot_be_had() -> None:
    with pytest.raises(NoarkitError) as caught:
        list(raw_rows(Breaks(HEAD % b"" + GOOD + b"<row><c1>4</c1><<"), "t.xml", TAGS))
    assert caught.value.data["why"] == "malformed-xml"


def test_every_type_with_a_judge_has_a_pattern() -> None:
    assert set(TYPED) == set(JUDGES)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_pattern_takes_nothing_that_its_judge_does_not(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(TYPED)))
    loose = TYPED[name].replace("++", "+").replace("*+", "*").replace("?+", "?")
    text = data.draw(st.from_regex(re.compile(loose, re.ASCII), fullmatch=True))
    if re.fullmatch(TYPED[name], text):
        assert JUDGES[name](text), (name, text)


@pytest.mark.parametrize("name", sorted(TYPED))
def test_a_pattern_takes_what_is_usual(name: str) -> None:
    usual = {
        "xs:integer": "-12", "xs:int": "7", "xs:long": "7", "xs:short": "7", "xs:byte": "7", "xs:decimal": "-12.50",
        "xs:float": "1.5E-7", "xs:double": "NaN", "xs:boolean": "true", "xs:hexBinary": "0AfF", "blobType": "",
        "dateType": "2020-12-31Z", "timeType": "23:59:59.25Z", "dateTimeType": "2020-04-30T00:00:00Z",
        "xs:date": "2020-12-31+01:00", "xs:time": "00:00:00", "xs:dateTime": "2020-12-31T00:00:00.1Z",
        "xs:duration": "-P3DT4H5M6.7S",
    }  # fmt: skip
    assert re.fullmatch(TYPED[name], usual[name])
    assert JUDGES[name](usual[name])
