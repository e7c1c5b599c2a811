"""One archive with something of every kind that the form can tell, all of it closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from noarkit.archive.administration import Administration
from noarkit.archive.http import HttpArchive
from noarkit.archive.registers import BusinessField, BusinessGroup
from noarkit.archive.values import Action, Link, Save, wire_timestamp
from tests.extraction.world import case, closing, document, post, spine, uuid

BUSINESS = {
    "bygg": {"gate": {"values": ["Storgata & co", "Lillegata"]}, "etasjer": {"values": [3]}},
    "annet": {"merke": {"values": ["<x>"]}},
}


def fill(archive: HttpArchive, more: Sequence[Action] = ()) -> None:
    """Makes it all, and `more` of the same fonds."""
    _register(archive)
    actions: list[Action] = [*spine(arkivperiodeStartDato="2020-01-01", arkivperiodeSluttDato="2023-12-31")]
    actions += case("c1", 10, virksomhetsspesifikkeMetadata=BUSINESS, beskrivelse='Tab\tog \\r og "hermetegn"')
    actions += case("c2", 11, skjerming="UO13", kassasjonsvedtak="K", bevaringstid=5, kassasjonshjemmel="BKPLAN")
    actions += post("p1", "c1", 20, dokumentetsDato="2021-02-03", mottattDato="2021-02-04T08:00:00.000Z")
    actions += post("p2", "c1", 21, journalposttype="U", forfatter="Kari; Ola", skjerming="UO14")
    actions += post("p3", "c2", 22)
    actions += document(archive, "d1", "p1", 30, b"one")
    actions += document(archive, "d2", "p1", 32, b"two & three")
    actions += document(archive, "d3", "p3", 34, b"hidden")
    actions += _between()
    actions += _around_case()
    actions += _meeting(archive)
    actions += _second_series()
    actions += closing(documents=("d1", "d2", "d3", "d5"), posts=("p1", "p2", "p3"), cases=("c1", "c2"))
    now = wire_timestamp(datetime.now(UTC))
    for kind, name in (("Moeteregistrering", "mr"), ("Moetemappe", "mm"), ("Basisregistrering", "br"), ("Mappe", "bm")):
        actions.append(Save(kind, name, {"avsluttetDato": now}))
    actions.append(Save("Arkivnotat", "an", {"avsluttetDato": now}))
    actions.append(Save("Mappe", "sub", {"avsluttetDato": now}))
    actions += [Save("Klasse", name, {"avsluttetDato": now}) for name in ("leaf", "other", "main")]
    actions.append(Save("Klassifikasjonssystem", "system", {"avsluttetDato": now}))
    actions.append(Save("Arkivdel", "series2", {"arkivdelstatus": "P"}))
    actions += more
    actions.sort(key=_closing_last)
    saved = archive.transaction(actions)
    archive.transaction(
        [
            Save("Saksmappe", saved["c1"].id, {"saksansvarlig": "Ola & Per", "saksdato": "2021-05-06"}),
            Save("Korrespondansepart", saved["p1p"].id, {"korrespondansepartNavn": "Fra p1, rettet"}),
            Save("Journalpost", saved["p2"].id, {"skjerming": "UO15"}),
        ]
    )


def _closing_last(action: Action) -> int:
    """Fonds and series last of all."""
    last = isinstance(action, Save) and ("arkivstatus" in action.fields or "arkivdelstatus" in action.fields)
    return int(last)


def _register(archive: HttpArchive) -> None:
    administration = Administration(archive)
    for group, fields in (("bygg", ("gate", "etasjer")), ("annet", ("merke",))):
        administration.put_business_group(BusinessGroup(group, group.title()))
        for field in fields:
            one = BusinessField(field, field.title(), "long" if field == "etasjer" else "string")
            administration.put_business_field(group, one)


def _between() -> list[Action]:
    """Sign-offs, flows, cross references and a precedent."""
    return [
        Save("Avskrivning", "s1", {"avskrivningsmaate": "BU"}),
        Link("Avskrivning", "s1", "refJournalpost", ("p1",)),
        Link("Avskrivning", "s1", "refTilknyttetJournalpost", ("p2",)),
        Save(
            "Dokumentflyt",
            "f1",
            {
                "flytFra": "Kari",
                "flytFraBrukerIdent": "kari",
                "flytTil": "Ola",
                "flytTilBrukerIdent": "ola",
                "flytMottattDato": "2021-01-02T10:00:00.000Z",
                "flytSendtDato": "2021-01-01T10:00:00.000Z",
                "flytStatus": "G",
            },
        ),
        Link("Dokumentflyt", "f1", "refJournalpost", ("p2",)),
        Link("Journalpost", "p1", "refKryssreferanseTilRegistrering", ("p3",)),
        Link("Journalpost", "p1", "refKryssreferanseTilMappe", ("c2",)),
        Save("Presedens", "pr", {"title": "Prinsipp", "rettskildefaktor": "DOM", "presedensStatus": "G"}),
        Link("Presedens", "pr", "refSaksmappe", ("c1",)),
        Link("Presedens", "pr", "refJournalpost", ("p1",)),
    ]


def _around_case() -> list[Action]:
    """Parties, keywords, notes, a secondary class, identifiers that the form has no place for."""
    party = {"sakspartIdent": "1", "sakspartNavn": "Per", "sakspartRolle": "Søker", "postadresse": "Vei 1\nInngang B"}
    return [
        Save("Sakspart", "sp", {**party, "telefonnummer": "1; 2", "organisasjonsnummer": "974760673"}),
        Link("Sakspart", "sp", "refMappe", ("c1",)),
        Save("Noekkelord", "k1", {"verdi": "vann"}),
        Link("Noekkelord", "k1", "refMappe", ("c1",)),
        Save("Noekkelord", "k2", {"verdi": "avløp"}),
        Link("Noekkelord", "k2", "refMappe", ("c1",)),
        Save("Merknad", "n1", {"tekst": "Se også", "merknadstype": "MER"}),
        Link("Merknad", "n1", "refRegistrering", ("p1",)),
        Save("Merknad", "n2", {"tekst": "Til dokumentet", "merknadstype": "IMER"}),
        Link("Merknad", "n2", "refDokument", ("d1",)),
        Link("Saksmappe", "c1", "refSekundaerKlasse", ("other",)),
        Save("EksternId", "e1", {"eksterntSystem": "gammelt", "eksternID": "A-1"}),
        Link("EksternId", "e1", "refMappe", ("c1",)),
        Save(
            "EksternId",
            "e2",
            {"eksterntSystem": "noarkit:chunk", "eksternID": "abc/1", "opprettetAvBrukerIdent": "load"},
        ),
        Link("EksternId", "e2", "refMappe", ("c1",)),
        Save("Eiendom", "ei", {"knr": "0301", "gnr": "1", "bnr": "2"}),
        Link("Eiendom", "ei", "refMappe", ("c1",)),
    ]


def _meeting(archive: HttpArchive) -> list[Action]:
    """A meeting under the same class, with a record."""
    kind = {"moeteregistreringstype": "MP", "administrativEnhet": "ADM", "saksbehandler": "Kari"}
    return [
        Save("Moetemappe", "mm", {"tittel": "Møte", "moetenummer": "1/2021", "utvalg": "Styret", "uuid": uuid(50)}),
        Link("Moetemappe", "mm", "refArkivdel", ("series",)),
        Link("Moetemappe", "mm", "refPrimaerKlasse", ("leaf",)),
        Save("Moetedeltaker", "md", {"navn": "Kari", "funksjon": "Leder"}),
        Link("Moetedeltaker", "md", "refMappe", ("mm",)),
        Save("Moeteregistrering", "mr", {"tittel": "Protokoll", "uuid": uuid(51), **kind}),
        Link("Moeteregistrering", "mr", "refMappe", ("mm",)),
        Save("Arkivnotat", "an", {"tittel": "Notat", "uuid": uuid(52), "dokumentetsDato": "2021-03-04"}),
        Link("Arkivnotat", "an", "refMappe", ("c1",)),
        *document(archive, "d5", "an", 53, b"note"),
    ]


def _second_series() -> list[Action]:
    """A series without classes: a folder, one in it, and a record beside the folder."""
    return [
        Save("Arkivdel", "series2", {"tittel": "Fagarkiv", "uuid": uuid(60)}),
        Link("Arkivdel", "series2", "refArkiv", ("fonds",)),
        Link("Arkivdel", "series2", "refArkivdelForloeper", ("series",)),
        Save("Mappe", "bm", {"tittel": "Perm", "uuid": uuid(61), "mappetype": "EMNE"}),
        Link("Mappe", "bm", "refArkivdel", ("series2",)),
        Save("Mappe", "sub", {"tittel": "Skilleark", "uuid": uuid(62)}),
        Link("Mappe", "sub", "refForelderMappe", ("bm",)),
        Save("Basisregistrering", "br", {"tittel": "Løst ark", "uuid": uuid(63)}),
        Link("Basisregistrering", "br", "refArkivdel", ("series2",)),
    ]
