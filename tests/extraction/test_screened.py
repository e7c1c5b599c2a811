"""What an extract says is withheld of a screened unit: only what is there, and what its public title does not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from noarkit.archive.values import Action, Link, Save
from noarkit.extraction.run import ExtractResult
from noarkit.forms.validation import validate
from tests.extraction.world import spine, uuid
from tests.roundtrip.circle import archive_in, extract_to

TITLE, SENDER, RECEIVER = (
    f"Skjerming {what}" for what in ("tittel registrering - utvalgte ord", "navn avsender", "navn mottaker")
)
SAME = {"tittel": "Brev", "offentligTittel": "Brev"}
OTHER = {"tittel": "Brev fra Kari", "offentligTittel": "Brev fra *****"}
SCREENED = {"skjerming": "UO13"}


def extracted(place: Path, fields: dict[str, str], *parties: str) -> ExtractResult:
    """An extract of one journal post."""
    case = {"administrativEnhet": "ADM", "saksansvarlig": "Kari", "uuid": uuid(10), **SAME}
    actions: list[Action] = [
        *spine(),
        Save("Saksmappe", "c", {**case, **({} if parties else SCREENED)}),
        Link("Saksmappe", "c", "refArkivdel", ("series",)),
        Link("Saksmappe", "c", "refPrimaerKlasse", ("leaf",)),
        Save("Journalpost", "p", {"uuid": uuid(20), "journalposttype": "I", **fields})
        if parties
        else Save("Basisregistrering", "p", {"uuid": uuid(20), **fields}),
        Link("Journalpost" if parties else "Basisregistrering", "p", "refMappe", ("c",)),
    ]
    for code in parties:
        actions.append(
            Save("Korrespondansepart", code, {"korrespondanseparttype": code, "korrespondansepartNavn": "Kari"})
        )
        actions.append(Link("Korrespondansepart", code, "refRegistrering", ("p",)))
    with archive_in(place / "a") as archive:
        archive.transaction(actions)
        return extract_to(archive, place / "package", include_open=True)


def told(made: ExtractResult, document: str, path: str) -> list[str | None]:
    """The texts of what is said to be withheld."""
    return [one.text for one in etree.parse(made.package / f"{document}.xml").iterfind(path)]


@pytest.mark.parametrize(
    ("fields", "parties", "expected"),
    [
        (OTHER, ("EA",), []),
        ({**SAME, **SCREENED}, ("EA",), [SENDER]),
        ({**SAME, **SCREENED}, ("EA", "EM"), [SENDER, RECEIVER]),
        ({**OTHER, **SCREENED}, ("EM",), [TITLE, RECEIVER]),
        ({"tittel": "Brev", **SCREENED}, ("IA",), [TITLE, SENDER]),
    ],
)
def test_only_what_is_there_is_said_to_be_withheld(
    fields: dict[str, str], parties: tuple[str, ...], expected: list[str], tmp_path: Path
) -> None:
    made = extracted(tmp_path, fields, *parties)
    assert told(made, "arkivstruktur", ".//{*}registrering/{*}skjerming/{*}skjermingMetadata") == expected
    titles = [one for one in expected if one == TITLE]
    assert told(made, "loependeJournal", ".//{*}journalpost/{*}skjermingMetadata") == titles
    names = [one for one in expected if one != TITLE]
    assert sorted(map(str, told(made, "loependeJournal", ".//{*}korrespondansepart/{*}skjermingMetadata"))) == names
    assert validate(made.package).codes.isdisjoint({"N511", "N517", "N518"})


def test_where_nothing_is_withheld_the_report_says_that_the_form_wanted_a_word(tmp_path: Path) -> None:
    made = extracted(tmp_path, {**SAME, **SCREENED})
    for unit in ("registrering", "mappe"):
        assert told(made, "arkivstruktur", f".//{{*}}{unit}/{{*}}skjerming/{{*}}skjermingMetadata") == ["Ikke angitt"]
    defaults = json.loads(made.report.read_text("utf-8"))["defaults"]
    filled = {(one["type"], one["rule"]) for one in defaults if one["element"] == "skjermingMetadata"}
    assert filled == {("Basisregistrering", "unknown"), ("Saksmappe", "unknown")}
    assert validate(made.package).codes.isdisjoint({"N511", "N517", "N518"})


def test_a_public_title_alone_screens_nothing(tmp_path: Path) -> None:
    made = extracted(tmp_path, OTHER, "EA")
    text = (made.package / "arkivstruktur.xml").read_text("utf-8")
    assert "<skjerming" not in text
    assert "skjermingMetadata" not in (made.package / "loependeJournal.xml").read_text("utf-8")


@pytest.mark.parametrize(("kind", "is_told"), [("Saksmappe", True), ("Mappe", False)])
def test_the_usual_unit_of_case_files_is_told_with_the_package(kind: str, is_told: bool, tmp_path: Path) -> None:
    case = {"administrativEnhet": "ADM", "saksansvarlig": "Kari"} if kind == "Saksmappe" else {}
    with archive_in(tmp_path / "a") as archive:
        links = [Link(kind, "c", "refArkivdel", ("series",)), Link(kind, "c", "refPrimaerKlasse", ("leaf",))]
        archive.transaction([*spine(), Save(kind, "c", {"uuid": uuid(10), **SAME, **case}), *links])
        made = extract_to(archive, tmp_path / "package", include_open=True)
    assert ("unit-unnamed" in made.flaws) is is_told
