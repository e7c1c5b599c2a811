"""How each field of arkivstruktur is handled: kept, checked as code or date, followed as reference, or read as name."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.values import codes
from noarkit.model.xml_model import Version, xml_model

REFERENCES: Mapping[str, tuple[str, str]] = {
    "referanseArkivdel": ("N304", "arkivdel"),
    "referanseSekundaerKlassifikasjon": ("N305", "klasse"),
    "referanseTilKlasse": ("N306", "klasse"),
    "referanseTilMappe": ("N306", "mappe"),
    "referanseTilRegistrering": ("N306", "registrering"),
    "referanseAvskrivesAvJournalpost": ("N307", "registrering"),
    "referanseForrigeMoete": ("N308", "mappe"),
    "referanseNesteMoete": ("N308", "mappe"),
    "referanseTilMoeteregistrering": ("N308", "registrering"),
    "referanseFraMoeteregistrering": ("N308", "registrering"),
    "referanseForloeper": ("N309", "arkivdel"),
    "referanseArvtaker": ("N309", "arkivdel"),
}
"""Fields that point at another unit: the rule for those that point at nothing, and what they must point at."""

_NAMES = (
    "opprettetAv",
    "avsluttetAv",
    "arkivertAv",
    "tilknyttetAv",
    "saksansvarlig",
    "saksbehandler",
    "merknadRegistrertAv",
    "avskrevetAv",
    "moetedeltakerNavn",
    "konvertertAv",
    "kassertAv",
    "slettetAv",
    "gradertAv",
    "nedgradertAv",
    "verifisertAv",
    "forfatter",
    "kontaktperson",
    "presedensGodkjentAv",
    "flytTil",
    "flytFra",
)
_KEPT = (
    "antallVedlegg",
    "mappeID",
    "journalenhet",
    "korrespondansepartNavn",
    "avskrivningsmaate",
    "systemID",
    "tittel",
    "offentligTittel",
    "klasseID",
    "arkivskaperNavn",
    "referanseDokumentfil",
    "konvertertFraFormat",
    "konvertertTilFormat",
    "konverteringskommentar",
    "sjekksum",
    "sjekksumAlgoritme",
    "filstoerrelse",
    "format",
    "journalaar",
    "journalsekvensnummer",
    "journalpostnummer",
    "saksaar",
    "sakssekvensnummer",
    "saksstatus",
    "journalstatus",
    "dokumentstatus",
    "arkivstatus",
    "arkivdelstatus",
    "journalposttype",
    "korrespondanseparttype",
    "tilknyttetRegistreringSom",
    "dokumentmedium",
    "kassasjonsvedtak",
    "beskrivelse",
    "merknadstekst",
    "dokumentnummer",
    "registreringsID",
    "versjonsnummer",
)

NAMESPACE = f"{{{spec.namespace(spec.STRUCTURE)}}}"
KEEP, DATE, CODE, REFERENCE, NAME, MANY, GROUP = range(7)
"""What is done with an element; plain numbers, for they are asked for very often. CODE and less is kept."""

Field = tuple[int, str, AbstractSet[str]]
"""What is done, under which name, and the texts that need no second look."""


def fields(version: Version) -> dict[str, Field]:
    """What is done with each leaf, by its name with namespace; of others is only asked that they hold something."""
    no_texts: frozenset[str] = frozenset()
    fields_by_name: dict[str, Field] = {name: (KEEP, name, no_texts) for name in _KEPT}
    fields_by_name |= {name: (NAME, name, no_texts) for name in _NAMES}
    for value in xml_model(version).values.values():
        if value.kind in ("date", "dateTime", "moment"):
            fields_by_name[value.name] = (DATE, value.name, no_texts)
    fields_by_name["skjermingMetadata"] = (
        MANY,
        "skjermingMetadata",
        no_texts,
    )  # where the schemas hold the codes, they alone judge
    for name, texts in codes(version).items():
        fields_by_name[name] = (MANY if name == "skjermingMetadata" else CODE, name, texts)
    fields_by_name |= {name: (REFERENCE, name, no_texts) for name in REFERENCES}
    return {NAMESPACE + name: field for name, field in fields_by_name.items()}
