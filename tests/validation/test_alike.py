"""Records that are all alike are taken out of the XML before it is parsed, and nobody can tell from the findings."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.forms.findings import ValidateResult
from noarkit.forms.noark5.rules.alike import STAND_IN, AlikeReader, Tag, Texts
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions, validate_extract
from noarkit.forms.noark5.rules.walk_state import Counts
from noarkit.forms.noark5.spec import XSI_NAMESPACE
from samples.packages.describe import describe
from scripts.benchmarks.noark_package import make_package

POSTS = 24
STRUCTURE, RUNNING, PUBLIC = "arkivstruktur.xml", "loependeJournal.xml", "offentligJournal.xml"
NUMBER = 15
"""The element that is changed stands in the middle, where its neighbours were taken out."""

CHANGES = {
    "nothing": r"\g<0>",
    "an empty element": r"<\1></\1>",
    "an empty tag": r"<\1/>",
    "blanks": r"<\1>  </\1>",
    "a blank that XML does not know": "<\\1>\xa0</\\1>",
    "an entity": r"<\1>A &amp; B</\1>",
    "a character reference": r"<\1>&#65;</\1>",
    "text that is no markup": r"<\1><![CDATA[x<y]]></\1>",
    "a comment": r"\g<0><!-- <registrering> -->",
    "an instruction": r"\g<0><?x <registrering> ?>",
    "an attribute": r'<\1 a="1">\2</\1>',
    "another namespace": r'<\1 xmlns="http://other">\2</\1>',
    "metadata of others": (
        r'\g<0><virksomhetsspesifikkeMetadata><q xmlns="http://q"><w>1</w></q></virksomhetsspesifikkeMetadata>'
    ),
    "an element nobody knows": r"\g<0><ukjent>x</ukjent>",
    "a group nobody knows": r"\g<0><ny><tittel>indre</tittel></ny>",
    "twice": r"\g<0>\g<0>",
    "gone": "",
    "blanks before": "<\\1> \\2\n</\\1>",
    "line ends of others": "\\g<0>\r\n",
    "children in a text": r"<\1>x<b>y</b></\1>",
    "a date to come": r"<\1>2999-01-01</\1>",
    "a date of long ago": r"<\1>1200-01-01</\1>",
    "a reference": r"\g<0><referanseArkivdel>11111111-2222-3333-4444-555555555555</referanseArkivdel>",
    "a reference before its owner's id": r"<referanseArkivdel>x</referanseArkivdel>\g<0>",
    "a strange name": r"<\1>§@#</\1>",
    "letters of all languages": r"\g<0><beskrivelse>æ–€𝄞</beskrivelse>",
    "a group that is empty": "\\g<0><merknad>\n</merknad>",
    "a record in a record": r"\g<0><registrering><systemID>1</systemID></registrering>",
}
FIELDS: dict[str, tuple[str, ...]] = {
    STRUCTURE: ("systemID", "opprettetDato", "opprettetAv", "journalstatus", "tittel", "korrespondansepartNavn"),
    RUNNING: ("systemID", "journaldato", "tittel", "korrespondansepartNavn"),
    PUBLIC: ("saksaar", "offentligTittel"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alike") / "package"
    make_package(folder, POSTS)
    return folder


def findings(folder: Path) -> ValidateResult:
    """All that is said of a package, but how long it took, what it is called, and which description it has."""
    report = validate_extract(folder, Noark5ValidateOptions(workers=0, today="2026-01-01"))
    return replace(report, seconds=0.0, package="", description_sha256="", summary={**report.summary, "bytes": ()})


def read_whole(folder: Path) -> None:
    """Makes readers see every element: behind a comment nothing is taken out."""
    for name in (STRUCTURE, RUNNING, PUBLIC):
        path = folder / name
        text = path.read_bytes().decode()
        path.write_bytes(re.sub(r"(<(?!\?)[^<>]*>)", r"\1<!-- whole -->", text, count=1).encode())
    reseal(folder)


def reseal(folder: Path) -> None:
    (folder / "arkivuttrekk.xml").unlink()
    counts = {"mappe": 3, "registrering": POSTS, "endring": 1, "journalregistrering": POSTS}
    describe(folder, counts, documents=POSTS)


@pytest.mark.parametrize("change", CHANGES)
def test_findings_are_those_of_every_element_read(change: str, good: Path, tmp_path: Path) -> None:
    for file, names in FIELDS.items():
        for name in names:
            folder = tmp_path / f"{file}-{name}"
            shutil.copytree(good, folder)
            path = folder / file
            text = path.read_bytes().decode()
            fields = list(re.finditer(rf"<({name})>([^<]*)</{name}>", text))
            field = fields[min(NUMBER, len(fields) - 1)]
            path.write_bytes((text[: field.start()] + field.expand(CHANGES[change]) + text[field.end() :]).encode())
            reseal(folder)
            alike = findings(folder)
            read_whole(folder)
            assert alike == findings(folder), (file, name)
            shutil.rmtree(folder)


class Every:
    """Takes every text of every element, and finds fault with those that say «no»."""

    def plan(self, tags: Sequence[Tag]) -> tuple[int, frozenset[int]] | None:
        return sum(tag.begins for tag in tags), frozenset(tag.number for tag in tags if tag.is_leaf)

    def accepts(self, plan: int, texts: Texts) -> bool:
        return "no" not in texts


def lightened(
    inner: str, *, root: str = f'<a xmlns="urn:a" xmlns:xsi="{XSI_NAMESPACE}">', size: int = 1000
) -> tuple[str, list[Texts]]:
    """What the parser gets of a document, and the texts that were taken out."""
    reader = AlikeReader(io.BytesIO(f"{root}{inner}</a>".encode()), "r", "urn:a", Every())
    parts = list(iter(lambda: reader.read(size), b""))
    return b"".join(parts).decode().removeprefix(root).removesuffix("</a>"), [texts for _, texts in reader.taken]


@pytest.mark.parametrize("size", [100, 150, 1000])
def test_records_that_are_alike_are_taken_out_whatever_a_block_holds(size: int) -> None:
    records = [f"<r><n>{number}</n><m>x{number}</m></r>" for number in range(40)]
    inner, texts = lightened("<k>".join(records[:20]) + "</k>".join(records[20:]), size=size)
    assert texts == [(str(number), f"x{number}") for number in range(40)]
    assert inner.count(f"<{STAND_IN}/>") == 40 and "<r>" not in inner


@pytest.mark.parametrize(
    "record",
    [
        "<r><n>no</n></r>",
        "<r><n>a&amp;b</n></r>",
        "<r><n></n></r>",
        "<r><n> </n></r>",
        "<r><n/></r>",
        '<r a="1"><n>1</n></r>',
        "<r><n>1</n><n>]]></n></r>",
        "<r><n>1</n>\r\n</r>",
        "<r><n>\x01</n></r>",
        "<r><n>\ufffe</n></r>",
        "<r><n>1</n>text</r>",
        "<r>text</r>",
        '<r xsi:type="t"><n xsi:type="t">a<b>1</b></n></r>',
        '<r><x xmlns="urn:b">1</x></r>',
        "<r></r>",
        "<r><n>1</m></r>",
        "<rs>1</rs>",
    ],
)
def test_what_may_say_something_else_stays_as_it_is(record: str) -> None:
    assert lightened(record, size=1000) == (record, [])


@pytest.mark.parametrize("cut", ["<!-- x -->", "<![CDATA[<r>]]>", "<?x?>", f"<{STAND_IN}/>", '<k xmlns="urn:b"/>'])
def test_behind_what_may_hide_an_element_nothing_is_taken_out(cut: str) -> None:
    inner = f"<r><n>1</n></r>{cut}<r><n>2</n></r>" + "<k>x</k>" * 200 + "<r><n>3</n></r>"
    light, texts = lightened(inner, size=1000)
    assert texts == [] or texts == [("1",)]
    assert light.endswith("<r><n>3</n></r>") and "<r><n>2</n></r>" in light


@pytest.mark.parametrize(
    "root", ['<a xmlns="urn:b">', "<a>", "<a xmlns='urn:a'>", '<p:a xmlns:p="urn:a" xmlns="urn:a">']
)
def test_in_another_namespace_nothing_is_taken_out(root: str) -> None:
    assert lightened("<r><n>1</n></r>", root=root) == ("<r><n>1</n></r>", [])


@pytest.mark.parametrize(
    ("declaration", "is_taken"),
    [
        ('<?xml version="1.0" encoding="UTF-8"?>', True),
        ("<?xml version='1.0'  encoding = 'utf-8' standalone='yes'?>\n", True),
        ('<?xml version="1.0"?>', True),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', False),
        ("<?xml version='1.0' encoding='us-ascii'?>", False),
    ],
)
def test_the_bytes_of_another_encoding_are_left_to_the_parser(declaration: str, is_taken: bool) -> None:
    root = f'{declaration}<a xmlns="urn:a">'
    assert bool(lightened("<r><n>\xc3\xa6</n></r>", root=root)[1]) is is_taken


def test_types_are_known_only_where_their_prefix_is_declared() -> None:
    record = '<r xsi:type="t"><n>1</n></r>'
    assert lightened(record) == (f"<{STAND_IN}/>", [("1",)])
    assert lightened(record, root='<a xmlns="urn:a">') == (record, [])


def test_a_text_without_end_is_passed_on_and_not_kept() -> None:
    reader = AlikeReader(io.BytesIO(b'<a xmlns="urn:a"><n>' + b"x" * 3_000_000), "r", "urn:a", Every())
    longest = max(len(block) for block in iter(lambda: reader.read(128 * 1024), b""))
    assert longest < 1_500_000


def test_what_is_counted_together_is_what_is_counted_one_by_one() -> None:
    together, single = Counts(), Counts()
    for number in range(45_000):
        keys = (("N1", str(number % 22_000)), ("N2", str(number % 3), "s"))
        together.add_each(("f", str(number % 22_000), str(number % 3)), lambda keys=keys: keys)  # type: ignore[misc]  # bound now
        for key in keys:
            single.add(*key)
        if number == 20_000:
            assert together.numbers == single.numbers
    assert together.numbers == single.numbers
    assert together.total("N1") == 45_000


def test_a_record_that_holds_mere_text_is_read_as_it_stands(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    shutil.copytree(good, folder)
    path = folder / STRUCTURE
    path.write_text(path.read_text("utf-8").replace("</mappe>", "<registrering>x</registrering></mappe>", 1), "utf-8")
    reseal(folder)
    alike = findings(folder)
    assert "N009" in alike.codes
    read_whole(folder)
    assert alike == findings(folder)
