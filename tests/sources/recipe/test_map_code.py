"""A rule written as one function makes what its parts make one by one, and leaves no trace where it gives up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.graph.entity import Content, MappedRecord
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.recipes.expressions import RecordView, Scene
from noarkit.recipes.mapper import Mapper
from noarkit.records import SourceRecord
from noarkit.sources.files.default import default_recipe
from noarkit.sources.files.levels import Levels
from noarkit.sources.files.records import timestamp

CASES = default_recipe("files", "files:/srv", "srv", Levels(2, folders=9, case_like=9, mails=9), letters=False)
FILES = default_recipe("files", "files:/srv", "srv", Levels(case_level=2), letters=False)
PARTS = """
[source]
kind = "files"
[target]
external_system = "x"
model = 1
[personal_data]
identity_numbers = "MODE"
[[map]]
for = "file"
when = "= record.size != 13"
type = "Basisregistrering"
key = "= record.number | default(key)"
keywords = ["= record.name"]
[map.fields]
tittel = "= record.name"
dokumentetsDato = "= record.modified | default(none)"
[[map.parents]]
each = "= record.folders[:1]"
when = "= item is defined and index == 0"
key = "= item | default(none)"
type = "Mappe"
fields = { tittel = "= item" }
[[map.parties]]
each = "= record.folders"
when = "= item != 'b'"
fields = { korrespondanseparttype = "EA", korrespondansepartNavn = "= item" }
[[map.notes]]
each = "= record.folders"
fields = { tekst = "= [index, item] | join(' ')" }
[[map.documents]]
each = "= contents"
when = "= item.size != 7"
fields = { tittel = "= item.name", tilknyttetRegistreringSom = "= 'H' if index == 0 else 'V'" }
[[map.documents.versions]]
when = "= item.size != 8"
fields = { variantformat = "P" }
"""
NAMES = st.one_of(
    st.sampled_from(("brev.txt", "a#1.PDF", "15076500565.txt", "a\x01.txt", "", "folder:x", "b")), st.text()
)
FOLDERS = st.lists(st.sampled_from(("a", "b", "c", "15076500565", "\x02", "")), max_size=3)
MOMENTS = st.one_of(
    st.integers(-(10**18), 4 * 10**18).map(timestamp),
    st.sampled_from(("2024-03-30T23:30:59.999Z", "2024-06-30T22:00:00.000Z", "1890-01-01T23:17:30.000Z", "i går")),
    st.sampled_from(("2024-13-01T00:00:00.000Z", "2024-02-30T00:00:00.000Z", "2024-02-03T24:00:00.000Z", "", None)),
)


@st.composite
def _records(draw: st.DrawFn) -> SourceRecord:
    folders = draw(FOLDERS)
    names = draw(st.lists(NAMES, max_size=3))
    contents = tuple(
        Content(f"c{n}", name, draw(st.integers(6, 9)), 5, None, draw(st.sampled_from((None, "text/plain"))))
        for n, name in enumerate(names)
    )
    fields: dict[str, object] = {
        "name": draw(NAMES),
        "folders": folders,
        "top": folders[0] if folders else None,
        "root": "srv",
        "mail": draw(st.sampled_from(({}, {"subject": "Hei"}, {"date": "2020-01-06T11:00:00.000Z"}))),
        "modified": draw(MOMENTS),
        "date": draw(MOMENTS),
        "size": draw(st.integers(12, 14)),
    }
    if draw(st.booleans()):
        fields["number"] = draw(st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=3)))
    if draw(st.booleans()):
        del fields[draw(st.sampled_from(sorted(fields)))]
    return SourceRecord("file", draw(st.text(min_size=1, max_size=20)), fields, contents)


def _by_parts(mapper: Mapper) -> Mapper:
    """The same recipe, without the functions of whole rules."""
    plan = mapper._plan
    return Mapper(replace(plan, maps=tuple(replace(rule, run=None) for rule in plan.maps)), Scene())


def _mapper(text: str) -> Mapper:
    return compile_recipe(read_recipe(text, "test"))


RECIPES = {
    "files": FILES,
    "files, set aside": FILES.replace('numbers = "report"', 'numbers = "set-aside"'),
    "cases": CASES,
    "parts": PARTS.replace("MODE", "report"),
    "parts, screened": PARTS.replace('"MODE"', '"screen"\nscreening = "P"'),
    "a name that is missing in a list": PARTS.replace("MODE", "report").replace(
        "record.folders[:1]", "[record.top, record.absent]"
    ),
    "a name that is missing in a condition": PARTS.replace("MODE", "report").replace(
        "item.size != 7", "[record.absent]"
    ),
    "folders by name": FILES.replace("record.folders[:index + 1] | join('/')", "item"),
}
MAPPERS = {name: _mapper(text) for name, text in RECIPES.items()}


@pytest.mark.parametrize("name", MAPPERS)
@given(records=st.lists(_records(), min_size=1, max_size=6))
def test_a_rule_run_at_once_makes_what_it_makes_part_by_part(name: str, records: list[SourceRecord]) -> None:
    at_once, by_parts = Mapper(MAPPERS[name]._plan, Scene()), _by_parts(MAPPERS[name])
    for record in [*records, *records]:  # its folders are there the second time
        assert at_once.map(record) == by_parts.map(record)
    assert at_once._folders == by_parts._folders


def _ordinary(number: int) -> SourceRecord:
    fields: dict[str, object] = {
        "name": f"{number}.txt",
        "folders": ["a", "c"],
        "top": "a",
        "root": "srv",
        "mail": {},
        "modified": "2024-01-02T03:04:05.678Z",
        "date": "2024-01-02T03:04:05.678Z",
        "size": 1,
    }
    content = Content(f"a/c/{number}.txt", f"{number}.txt", 1, 2)
    return SourceRecord("file", f"a/c/{number}.txt", fields, (content,))


def _run(mapper: Mapper, record: SourceRecord) -> MappedRecord:
    """The record by the function of its rule alone."""
    rule = next(rule for rule in reversed(mapper._plan.maps) if "file" in rule.kinds)
    assert rule.run is not None
    return rule.run(record, RecordView(record), mapper._folders, mapper._leaves.use)


@pytest.mark.parametrize("name", ["files", "files, set aside", "cases", "parts"])
def test_an_ordinary_record_is_made_at_once_when_its_folders_stand(name: str) -> None:
    mapper = Mapper(MAPPERS[name]._plan, Scene())
    with pytest.raises(KeyError):
        _run(mapper, _ordinary(1))
    assert not mapper._folders
    first = mapper.map(_ordinary(1))
    assert isinstance(first, MappedRecord)
    assert _run(mapper, _ordinary(2)) == _by_parts(mapper).map(_ordinary(2))
