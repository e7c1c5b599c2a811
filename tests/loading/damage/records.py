"""What the library holds: a case with two letters, a folder in a folder, a meeting, notes, parties, links, screening.

Contents that are to be swapped have the same length, and two have the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.graph.entity import Content, CreationMode, Entity, FieldValue, MappedRecord

SYSTEM = "library"
SERIES, OTHER_SERIES = "arkivdel:a", "arkivdel:b"
CONTENTS: Mapping[str, bytes] = {
    "p1": b"letter one, page one",
    "p1+2": b"letter one, page two",
    "p1+3": b"letter one, as a copy",
    "p2": b"letter two, page one",
    "r1": b"sheet one, some text",
    "r2": b"",
    "r3": b"sheet one, some text",
    "mr": b"minutes of a meeting",
    "an": b"a note for the file",
}


def _link(key: str, kind: str, parent: str, link: str, **fields: FieldValue) -> Entity:
    return Entity(key, kind, fields, parent, link, recipe_line=12)


def targets() -> tuple[Entity, ...]:
    """A fonds with its creator, two series and a classification of two classes."""
    either = CreationMode.FIND_OR_CREATE
    system = ("refPrimaerKlassifikasjonssystem", "system:a")
    return (
        Entity("arkiv:a", "Arkiv", {"tittel": "Fonds", "beskrivelse": "All of it"}, target=either),
        Entity(
            "creator:a",
            "Arkivskaper",
            {"arkivskaperIdent": "987", "arkivskaperNavn": "Municipality"},
            "arkiv:a",
            "refArkiv",
            target=either,
        ),
        Entity("system:a", "Klassifikasjonssystem", {"tittel": "Codes", "klassifikasjonstype": "EMNE"}, target=either),
        Entity("arkivdel:a", "Arkivdel", {"tittel": "Series A"}, "arkiv:a", "refArkiv", (system,), target=either),
        Entity("arkivdel:b", "Arkivdel", {"tittel": "Series B"}, "arkiv:a", "refArkiv", target=either),
        *(
            Entity(
                f"klasse:{ident}",
                "Klasse",
                {"klasseIdent": ident, "tittel": f"Class {ident}"},
                "system:a",
                "refKlassifikasjonssystem",
                target=either,
            )
            for ident in ("21", "22")
        ),
    )


def _case() -> tuple[Entity, ...]:
    case: dict[str, FieldValue] = {
        "tittel": "Case c\u00e9dille",
        "offentligTittel": "Case *****",
        "beskrivelse": "About it",
        "administrativEnhet": "ADM",
        "saksansvarlig": "Kari",
        "saksdato": "2021-05-06",
        "opprettetDato": "2021-05-06T08:09:10.000Z",
        "opprettetAv": "Old system",
    }
    belonging = "refMappe"
    return (
        Entity(
            "case",
            "Saksmappe",
            case,
            SERIES,
            "refArkivdel",
            (("refPrimaerKlasse", "klasse:21"), ("refSekundaerKlasse", "klasse:22")),
            recipe_line=11,
        ),
        _link("case#part", "Sakspart", "case", belonging, sakspartNavn="Per", sakspartRolle="Søker", sakspartIdent="1"),
        _link("case#word1", "Noekkelord", "case", belonging, verdi="water"),
        _link("case#word2", "Noekkelord", "case", belonging, verdi="sewer"),
        _link("case#note", "Merknad", "case", belonging, tekst="See also", merknadstype="MER"),
    )


def _document(key: str, record: str, locators: tuple[str, ...], number: int = 1, **fields: FieldValue) -> list[Entity]:
    """A document with a version for each locator."""
    told = {"tittel": f"Document {key}", "tilknyttetRegistreringSom": "H" if number == 1 else "V", "dokumenttype": "B"}
    entities = [Entity(key, "Dokument", {**told, **fields}, record, "refRegistrering", recipe_line=13)]
    for place, locator in enumerate(locators, 1):
        content = Content(locator, f"{locator}.txt", len(CONTENTS[locator]), 1, media_type="text/plain")
        version = {"variantformat": "P" if place == 1 else "A", "format": "txt"}
        entities.append(
            Entity(f"{key}v{place}", "Dokumentversjon", version, key, "refDokument", content=content, recipe_line=14)
        )
    return entities


def _letter_one() -> MappedRecord:
    fields: dict[str, FieldValue] = {
        "tittel": "Letter one",
        "offentligTittel": "Letter ***",
        "beskrivelse": "The first",
        "journalposttype": "I",
        "dokumentetsDato": "2021-05-07",
        "mottattDato": "2021-05-08T08:00:00.000Z",
        "skjerming": "UO13",
        "opprettetDato": "2021-05-08T08:00:01.000Z",
        "opprettetAv": "Old system",
        "forfatter": "Kari",
    }
    return MappedRecord(
        "p1",
        (
            *_case(),
            Entity("p1", "Journalpost", fields, "case", "refMappe", recipe_line=12),
            _link(
                "p1#from",
                "Korrespondansepart",
                "p1",
                "refRegistrering",
                korrespondanseparttype="EA",
                korrespondansepartNavn="Per",
                postadresse="Road 1",
            ),
            _link(
                "p1#to",
                "Korrespondansepart",
                "p1",
                "refRegistrering",
                korrespondanseparttype="IM",
                korrespondansepartNavn="Kari",
            ),
            _link("p1#note", "Merknad", "p1", "refRegistrering", tekst="Urgent", merknadstype="MER"),
            _link("p1#signoff", "Avskrivning", "p1", "refJournalpost", avskrivningsmaate="BU"),
            _link(
                "p1#flow",
                "Dokumentflyt",
                "p1",
                "refJournalpost",
                flytFra="Kari",
                flytFraBrukerIdent="kari",
                flytTil="Ola",
                flytTilBrukerIdent="ola",
                flytStatus="G",
                flytSendtDato="2021-05-09T10:00:00.000Z",
                flytMottattDato="2021-05-09T11:00:00.000Z",
            ),
            *_document("p1#d1", "p1", ("p1", "p1+3")),
            *_document("p1#d2", "p1", ("p1+2",), 2),
        ),
    )


def _letter_two() -> MappedRecord:
    fields: dict[str, FieldValue] = {
        "tittel": "Letter two",
        "journalposttype": "U",
        "dokumentetsDato": "2021-05-10",
        "sendtDato": "2021-05-11T08:00:00.000Z",
        "kassasjonsvedtak": "K",
        "bevaringstid": 5,
        "kassasjonshjemmel": "BKPLAN",
        "forfatter": "Ola",
    }
    crossing = (("refKryssreferanseTilRegistrering", "p1"),)
    receiver: dict[str, FieldValue] = {"korrespondanseparttype": "EM", "korrespondansepartNavn": "Per"}
    return MappedRecord(
        "p2",
        (
            *_case(),
            Entity("p2", "Journalpost", fields, "case", "refMappe", crossing, recipe_line=12),
            Entity("p2#to", "Korrespondansepart", receiver, "p2", "refRegistrering", recipe_line=12),
            *_document("p2#d1", "p2", ("p2",)),
        ),
    )


def _sheet(key: str, folder: str, *, with_word: bool = False) -> MappedRecord:
    outer = Entity(
        "outer", "Mappe", {"tittel": "Outer", "mappetype": "EMNE"}, OTHER_SERIES, "refArkivdel", recipe_line=11
    )
    inner = Entity("inner", "Mappe", {"tittel": "Inner"}, "outer", "refForelderMappe", recipe_line=11)
    beside = Entity("beside", "Mappe", {"tittel": "Beside"}, OTHER_SERIES, "refArkivdel", recipe_line=11)
    folders = (beside,) if folder == "beside" else (outer, inner)
    fields: dict[str, FieldValue] = {"tittel": f"Sheet {key}", "dokumentetsDato": "2020-02-29"}
    word = (_link(f"{key}#word", "Noekkelord", key, "refRegistrering", verdi="word"),) if with_word else ()
    record = Entity(key, "Basisregistrering", fields, folder, "refMappe", recipe_line=12)
    return MappedRecord(key, (*folders, record, *word, *_document(f"{key}#d1", key, (key,))))


def _meeting() -> MappedRecord:
    meeting: dict[str, FieldValue] = {
        "tittel": "Meeting",
        "moetenummer": "1/2021",
        "utvalg": "Board",
        "moetedato": "2021-06-01",
    }
    minutes: dict[str, FieldValue] = {
        "tittel": "Minutes",
        "moeteregistreringstype": "MP",
        "administrativEnhet": "ADM",
        "saksbehandler": "Kari",
    }
    return MappedRecord(
        "mr",
        (
            Entity("meeting", "Moetemappe", meeting, SERIES, "refArkivdel", (("refPrimaerKlasse", "klasse:21"),)),
            _link("meeting#kari", "Moetedeltaker", "meeting", "refMappe", navn="Kari", funksjon="Leader"),
            Entity("mr", "Moeteregistrering", minutes, "meeting", "refMappe", recipe_line=12),
            *_document("mr#d1", "mr", ("mr",)),
        ),
    )


def _note() -> MappedRecord:
    fields: dict[str, FieldValue] = {"tittel": "Note", "dokumentetsDato": "2021-03-04"}
    return MappedRecord(
        "an",
        (
            *_case(),
            Entity("an", "Arkivnotat", fields, "case", "refMappe", recipe_line=12),
            *_document("an#d1", "an", ("an",)),
        ),
    )


RECORDS: Mapping[str, MappedRecord] = {
    one.record_key: one
    for one in (
        _letter_one(),
        _letter_two(),
        _sheet("r1", "inner", with_word=True),
        _sheet("r2", "beside"),
        _sheet("r3", "inner"),
        _meeting(),
        _note(),
    )
}
