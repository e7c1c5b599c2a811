"""What values owe each other is noticed wherever it is broken, however the package is written; good twins pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from noarkit.forms.findings import rules_of
from noarkit.forms.noark5.rules.relations import relations
from noarkit.forms.validation import validate
from noarkit.manual.chapters import chapter_source
from noarkit.words.texts import LANGUAGES
from samples.packages.describe import seal
from samples.packages.good import Draft, good_draft
from tests.validation.relation_mutants import CHANGES, JOURNALS, STRUCTURE, Mutant, all_mutants

OURS = {"N102"}
XML = (STRUCTURE, CHANGES, *JOURNALS)
MUTANTS = all_mutants()
Twin = Callable[[bytes], bytes]


def with_mark(text: bytes) -> bytes:
    """A byte order mark stands before it."""
    return b"\xef\xbb\xbf" + text


def with_other_line_ends(text: bytes) -> bytes:
    """Lines end as elsewhere."""
    return text.replace(b"\n", b"\r\n")


def with_prefixes(text: bytes) -> bytes:
    """Every element bears a prefix."""
    root = etree.fromstring(text)
    own = etree.QName(root).namespace
    told = re.sub(rb"<(/?)(?=[a-zA-Z])", rb"<\1n5:", etree.tostring(root))
    told = re.sub(rb'xsi:type="', rb'xsi:type="n5:', told)
    told = re.sub(rb'n5:gnr xmlns="', rb'gnr xmlns="', told).replace(b"</n5:gnr>", b"</gnr>")
    return told.replace(f'xmlns="{own}"'.encode(), f'xmlns:n5="{own}"'.encode(), 1)


def with_zones(text: bytes) -> bytes:
    """Moments tell the zone that they are in."""
    return re.sub(rb">(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)<", rb">\1+01:00<", text)


def with_sections(text: bytes) -> bytes:
    """Titles stand in sections of their own, between comments."""
    return re.sub(rb"<tittel>([^<]*)</tittel>", rb"<!-- a title --><tittel><![CDATA[\1]]></tittel>", text)


LEVELS_IN_WORDS = {
    "en": {"error": "error", "warning": "warning", "counted": "info"},
    "nb": {"feil": "error", "advarsel": "warning", "telles": "info"},
}
# The tests of Arkade that report errors; the others count.
ARKADE_ERRORS = {1, 2, 3, 10, 12, 15, 16, 17, 19, 22, 25, 27, 28, 29, 30, 32, 33, 42, 44, 45, 47, 48, 51, 59, 60, 61}
ARKADE_ERRORS |= {62, 63}
ELSEWHERE = {"N301", "N504", "N512", "N515", "N517", "N518"}
"""Rules of the table that have packages of their own (samples/packages/bad.py)."""

TWINS: tuple[Twin, ...] = (bytes, with_mark, with_other_line_ends, with_prefixes, with_zones, with_sections)


def judged(draft: Draft, twin: Twin, folder: Path) -> frozenset[str]:
    """The codes that a draft breaks, written in another way."""
    for name in XML:
        draft.files[name] = twin(draft.files[name])
    seal(draft)
    draft.write(folder)
    return validate(folder).codes


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_a_good_package_passes_however_it_is_written(twin: Twin, tmp_path: Path) -> None:
    assert judged(good_draft(), twin, tmp_path) == OURS


def test_a_package_in_utf16_is_told_of_that_alone(tmp_path: Path) -> None:
    draft = good_draft()
    seal(draft)
    for name in XML:
        text = draft.files[name].decode().replace('encoding="UTF-8"', 'encoding="UTF-16"')
        draft.files[name] = text.encode("utf-16")
    draft.write(tmp_path)
    # and of its checksums, which were made before
    assert validate(tmp_path).codes - OURS == {"N008", "N205"}


def test_there_are_as_many_ways_to_break_it_as_the_table_has_places() -> None:
    assert len(MUTANTS) >= 200
    rows = relations()
    codes = {mutant.code for mutant in MUTANTS}
    assert {row.code for group in (rows.unique, rows.after, rows.within) for row in group} - {"N301"} <= codes


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_has_the_table(lang: str) -> None:
    told = {(row[0], row[1], row[3]) for row in table_rows(lang, 4) if row[3][:1] == "N"}
    rows = relations()
    wanted = {(" + ".join(row.fields), row.unit, row.code) for row in rows.unique}
    wanted |= {(row.field, row.unit, row.code) for row in rows.after}
    wanted |= {(", ".join(row.fields), row.unit, row.code) for row in rows.within}
    assert wanted <= told
    assert {code for _, _, code in told} == {mutant.code for mutant in MUTANTS} | ELSEWHERE


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_says_where_another_validator_judges_otherwise(lang: str) -> None:
    words = LEVELS_IN_WORDS[lang]
    told = {row[0]: (words[row[1]], words[row[2]]) for row in table_rows(lang, 4) if row[1] in words}
    wanted = {}
    for code, rule in rules_of("noarkit.forms.noark5.rules").items():
        numbers = {int(cite[3:]) for cite in rule.cites if cite.startswith("N5.")}
        theirs = "error" if numbers & ARKADE_ERRORS else "info"
        if numbers and rule.level != "info" and rule.level != theirs:
            wanted[code] = (rule.level, theirs)
    assert told == wanted


def table_rows(lang: str, width: int) -> list[list[str]]:
    """The rows of the tables of the chapter."""
    text = chapter_source("validation", lang)
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip("`") for cell in line] for line in lines if len(line) == width]


@pytest.mark.parametrize("part", range(8))
def test_each_way_is_noticed_by_its_rule(part: int, tmp_path: Path) -> None:
    missed = []
    for number, mutant in list(enumerate(MUTANTS))[part::8]:
        twin = TWINS[number % len(TWINS)]
        if mutant.code not in judged(mutant.draft(), twin, tmp_path / str(number)):
            missed.append((mutant.name, mutant.code, twin.__name__))
    assert not missed


@pytest.mark.parametrize("part", range(2))
def test_each_way_is_valid_by_the_official_schemas(part: int, reference: Path) -> None:
    folder = reference / "xsd" / "noark5" / "5.0"
    schemas = {name: etree.XMLSchema(etree.parse(folder / name.replace(".xml", ".xsd"))) for name in XML}

    def is_valid(mutant: Mutant) -> bool:
        return schemas[mutant.file].validate(etree.fromstring(mutant.draft().files[mutant.file]))

    assert [mutant.name for mutant in MUTANTS[part::2] if not is_valid(mutant)] == []
