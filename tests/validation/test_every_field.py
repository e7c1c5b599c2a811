"""Every field of a good package, changed in turn, is noticed, or stands in the table of what may hold any text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest

from noarkit.forms.validation import ValidateResult, validate
from noarkit.model.xml_model import xml_model
from samples.packages.describe import seal
from samples.packages.good import Draft, good_draft

OURS = {"N102"}
WRONG = "Noe annet = 4711"
JOURNALS = ("loependeJournal.xml", "offentligJournal.xml")
# the same text everywhere: two folders of one mappeID, two records of one registreringsID, and journals that tell of
# other parties, titles and sign-offs
SAME_EVERYWHERE = {"N333", "N337", "N514", "N515", "N516"}

# What may hold any text, by file. All of them are changed at once below, and nothing is noticed.
LEGAL: dict[str, frozenset[str]] = {
    "arkivstruktur.xml": frozenset(
        {
            *("tittel", "beskrivelse", "noekkelord", "oppbevaringssted", "offentligTittel"),
            *("arkivskaperID", "arkivskaperNavn", "klassifikasjonstype", "klasseID", "mappeID", "registreringsID"),
            *("partID", "partNavn", "partRolle", "postadresse", "postnummer", "poststed", "land", "epostadresse"),
            *("telefonnummer", "korrespondansepartNavn", "administrativEnhet", "journalenhet", "utlaantTil"),
            *("moetenummer", "utvalg", "moetested", "moetedeltakerFunksjon", "flytStatus", "flytMerknad"),
            *("moeteregistreringstype", "moetesakstype", "moeteregistreringsstatus", "dokumenttype", "formatDetaljer"),
            *("konvertertFraFormat", "konvertertTilFormat", "konverteringsverktoey", "konverteringskommentar"),
            *("merknadstekst", "merknadstype", "kassasjonshjemmel", "tilgangsrestriksjon", "skjermingshjemmel"),
            *("presedensHjemmel", "rettskildefaktor", "elektroniskSignaturSikkerhetsnivaa"),
        }
    ),
    "endringslogg.xml": frozenset({"endretAv", "tidligereVerdi", "nyVerdi"}),
    "loependeJournal.xml": frozenset(
        {
            *("seleksjon", "arkivskaperID", "arkivskaperNavn", "beskrivelse", "klasseID", "skjermingMetadata"),
            *("mappeID", "offentligTittel", "administrativEnhet", "saksansvarlig", "registreringsID", "saksbehandler"),
            *("avskrivningsmaate", "journalenhet", "tilgangsrestriksjon", "grad", "skjermingshjemmel"),
            *("korrespondanseparttype", "korrespondansepartNavn", "tittel"),
        }
    ),
}
LEGAL["offentligJournal.xml"] = LEGAL["loependeJournal.xml"]
# What is held against the same in another file.
HELD_AGAINST = {
    ("arkivstruktur.xml", "arkivskaper", "arkivskaperNavn"),
    ("arkivstruktur.xml", "saksmappe", "mappeID"),
    ("arkivstruktur.xml", "journalpost", "tittel"),
    ("arkivstruktur.xml", "journalpost", "registreringsID"),
    ("loependeJournal.xml", "journalpost", "tittel"),
    ("endringslogg.xml", "endring", "nyVerdi"),
    *((file, "arkivskaper", "arkivskaperNavn") for file in JOURNALS),
    *((file, "klasse", name) for file in JOURNALS for name in ("klasseID", "tittel")),
    *((file, "saksmappe", "mappeID") for file in JOURNALS),
    *((file, "journalpost", "registreringsID") for file in JOURNALS),
}


@dataclass(frozen=True)
class Field:
    """The first field of its name in a group of its name, and where its value stands."""

    file: str
    group: str
    name: str
    begin: int
    end: int

    @property
    def legal(self) -> bool:
        """True for a field that may hold any text."""
        return self.name in LEGAL[self.file] and (self.file, self.group, self.name) not in HELD_AGAINST


def fields_of(draft: Draft, file: str) -> Iterator[Field]:
    """Every kind of field in a file, with the group it stands in."""
    seen: set[tuple[str, str]] = set()
    stack: list[str] = [""]
    text = draft.files[file].decode()
    for found in re.finditer(r'<(/?)([A-Za-z]+)(?: xsi:type="(\w+)")?[^>?]*>([^<]*)', text):
        closing, name, type_, value = found.groups()
        if closing:
            stack.pop()
            continue
        if value.strip() and (stack[-1], name) not in seen and name != "gnr":
            seen.add((stack[-1], name))
            yield Field(file, stack[-1], name, *found.span(4))
        stack.append(type_ or name)


def changed(draft: Draft, *fields: Field) -> None:
    """Those fields hold something else."""
    for field in sorted(fields, key=lambda field: -field.begin):
        text = draft.files[field.file].decode()
        draft.files[field.file] = (text[: field.begin] + WRONG + text[field.end :]).encode()


def judged(draft: Draft, folder: Path) -> ValidateResult:
    """The report on a draft, described as it is."""
    seal(draft)
    draft.write(folder)
    return validate(folder)


FIELDS = [field for file in LEGAL for field in fields_of(good_draft(), file)]
WATCHED = [field for field in FIELDS if not field.legal]


def test_the_good_package_holds_every_field_there_is() -> None:
    held = {(field.file, field.name) for field in FIELDS}
    assert len(held) > 200
    for document in xml_model("5.0").documents.values():
        for group in document.groups.values():
            for element in group.own:
                if element.group is None and element.kind != "any":
                    assert (f"{document.name}.xml", element.name) in held


def test_fields_that_may_hold_any_text_may(tmp_path: Path) -> None:
    draft = good_draft()
    changed(draft, *[field for field in FIELDS if field.legal])
    report = judged(draft, tmp_path)
    assert report.codes - SAME_EVERYWHERE == OURS, [(one.rule.code, one.places[:3]) for one in report.outcomes]


@pytest.mark.parametrize("field", WATCHED, ids=lambda field: f"{field.file[:-4]}-{field.group}-{field.name}")
def test_every_other_field_is_watched(field: Field, tmp_path: Path) -> None:
    draft = good_draft()
    changed(draft, field)
    assert judged(draft, tmp_path).codes > OURS


@pytest.mark.parametrize("file", LEGAL)
def test_a_field_without_a_value_is_noticed_wherever_it_stands(file: str, tmp_path: Path) -> None:
    draft = good_draft()
    text = draft.files[file].decode()
    draft.files[file] = re.sub(r"<(\w+)>[^<]*\S[^<]*</\1>", r"<\1></\1>", text).encode()
    report = judged(draft, tmp_path)
    code = "N009" if file == "arkivstruktur.xml" else "N010"
    count = next(one.count for one in report.outcomes if one.rule.code == code)
    assert count == len(re.findall(r"<(\w+)>[^<]*\S[^<]*</\1>", text))


def described() -> list[str]:
    """Every value of a description, in its order."""
    draft = good_draft()
    seal(draft)
    return re.findall("<value>([^<]*)</value>", draft.files["arkivuttrekk.xml"].decode())


DESCRIBED = described()
FREE_TEXTS = {"Prøve kommune", "Sakarkiv (Noark 5)", "Eksempel", "Eksempelarkivet"}


@pytest.mark.parametrize("place", range(len(DESCRIBED)))
def test_every_value_of_the_description_is_watched(place: int, tmp_path: Path) -> None:
    draft = good_draft()
    seal(draft)
    numbers = iter(range(len(DESCRIBED)))
    text = draft.files["arkivuttrekk.xml"].decode()
    draft.files["arkivuttrekk.xml"] = re.sub(
        "<value>[^<]*</value>",
        lambda found: f"<value>{WRONG}</value>" if next(numbers) == place else found[0],
        text,
    ).encode()
    draft.write(tmp_path)
    said = DESCRIBED[place]
    unwatched = said in FREE_TEXTS or said in ("main", "XML Schema") or said.startswith("//")
    assert (validate(tmp_path).codes == OURS) == unwatched, said


# A value that could be right by itself, and is contradicted elsewhere in the package.
CONTRADICTED = {
    *(("arkivstruktur.xml", "journalpost", name) for name in ("journalaar", "journalsekvensnummer", "journaldato")),
    *(("arkivstruktur.xml", "journalpost", name) for name in ("systemID", "journalpostnummer", "dokumentetsDato")),
    *(("arkivstruktur.xml", "saksmappe", name) for name in ("saksaar", "sakssekvensnummer")),
    *(("arkivstruktur.xml", "dokumentobjekt", name) for name in ("referanseDokumentfil", "sjekksum", "filstoerrelse")),
    *(("loependeJournal.xml", "journalpost", name) for name in ("systemID", "journaldato", "dokumentetsDato")),
    *(("offentligJournal.xml", "journalpost", name) for name in ("systemID", "journalaar", "dokumentetsDato")),
    *(("offentligJournal.xml", "journalhode", name) for name in ("antallJournalposter", "journalStartDato")),
    ("endringslogg.xml", "endring", "referanseArkivenhet"),
}


def likely(value: str) -> str:
    """Another value of the same kind: the next day, the next number, another id, a longer text."""
    if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value) or re.fullmatch("[0-9a-f]{64}", value):
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    if day := re.fullmatch(r"(\d{4}-\d\d-\d\d)(.*)", value):
        return (date.fromisoformat(day[1]) + timedelta(days=1)).isoformat() + day[2]
    return str(int(value) + 1) if value.isdecimal() else f"{value}x"


@pytest.mark.parametrize("place", sorted(CONTRADICTED), ids="-".join)
def test_a_likely_value_is_noticed_where_something_contradicts_it(place: tuple[str, str, str], tmp_path: Path) -> None:
    field = next(field for field in FIELDS if (field.file, field.group, field.name) == place)
    draft = good_draft()
    text = draft.files[field.file].decode()
    changed_text = text[: field.begin] + likely(text[field.begin : field.end]) + text[field.end :]
    draft.files[field.file] = changed_text.encode()
    assert judged(draft, tmp_path).codes > OURS
