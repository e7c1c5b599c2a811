"""A thing is screened or not wherever it is looked at: an element without content screens nothing, in any place."""

from __future__ import annotations

import re
from pathlib import Path

import noarkit
from noarkit.embedded import keep_services
from noarkit.reports.unit_names import unit_names
from scripts.benchmarks.noark_package import make_package

GRADES = (
    "<gradering/>",
    "<gradering></gradering>",
    "<gradering>\n </gradering>",
    "<gradering><grad/><graderingsdato/><gradertAv> </gradertAv></gradering>",
    "<gradering><!-- x --></gradering>",
    "<gradering><grad>Hemmelig (sikkerhetsgrad)</grad><graderingsdato>2019-03-04T10:00:00</graderingsdato>"
    "<gradertAv>Kari</gradertAv></gradering>",
)
SCREENED = {len(GRADES) - 1}


def graded(extract: Path, end_tags: tuple[str, ...]) -> set[str]:
    """An extract with a record for each grade and element that may have one; the systemIDs in it."""
    make_package(extract, len(GRADES) * len(end_tags))
    structure = extract / "arkivstruktur.xml"
    text = structure.read_text("utf-8")
    for number, end in enumerate(end_tags):
        first = number * len(GRADES)
        pieces = text.split(end)
        for at, grade in enumerate(GRADES, first):
            pieces[at] += grade
        text = end.join(pieces)
    structure.write_text(text, "utf-8")
    return set(re.findall("<systemID>(.*?)</systemID>", text))


def test_an_empty_grade_screens_nothing_in_any_look_at_a_document_or_record(tmp_path: Path) -> None:
    extract, run, archive = tmp_path / "extract", tmp_path / "run", f"embedded:{tmp_path / 'archive'}"
    ids = graded(extract, ("</dokumentbeskrivelse>", "</registrering>"))
    expected = {f"Dokument nummer {n}" for n in SCREENED}
    expected |= {f"{word} nummer {len(GRADES) + n}" for n in SCREENED for word in ("Dokument", "Brev")}
    titles = {f"{word} nummer {n}" for n in range(2 * len(GRADES)) for word in ("Dokument", "Brev")}
    with keep_services():
        noarkit.plan(extract, run, archive=archive, accept_loss=("gradering",))
        noarkit.ingest(run, archive=archive, workers=0)
        noarkit.extract(tmp_path / "package", archive=archive)
        for place in (extract, run, archive, tmp_path / "package"):
            found = {title for title in titles if noarkit.search(str(place), f'"{title}"').page.total.number}
            assert titles - found == expected, place
    names = " ".join(unit_names(extract, ids).values())
    assert {title for title in titles if not re.search(f"«{title}\\b", names)} == expected
