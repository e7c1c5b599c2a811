"""A plain record is written in one go, to the same text and the same counts as thing by thing."""

from __future__ import annotations

import random
from collections import Counter

from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.write.content import Codes, Content, EntityData, Link
from noarkit.forms.noark5.write.structure import Writer

_MADE: dict[str, object] = {"opprettetDato": "2024-01-02T03:04:05.678Z", "opprettetAv": "Kari"}
_CODES = Codes({"journalposttype": {"I": "Inngående dokument"}, "variantformat": {"A": "Arkivformat"}})
_NOWHERE: list[Link] = [{"n": "nothing", "u": "", "o": None}]
"""A link that is written nowhere: what bears one is not plain."""

_POST: dict[str, object] = {
    "tittel": "100 % &lt;ikke&gt; %s",
    "offentligTittel": "Søknad",
    "journalaar": 2024,
    "journalsekvensnummer": 7,
    "journalposttype": "I",
    "journalstatus": "J",
    "skjerming": "OFF",
    "kassasjonsvedtak": "B",
    "bevaringstid": 5,
    "kassasjonshjemmel": "H",
    "registreringsDato": "2024-01-02",
    "mottattDato": "2024-06-02T03:04:05.000Z",
    "avsluttetDato": "2024-06-02T03:04:05.000Z",
    "avsluttetAv": "Ola",
    "forfatter": "Kari; Ola",
}
_DOCUMENT: dict[str, object] = {"tittel": "Brev", "dokumenttype": "B", "tilknyttetRegistreringSom": "H"}
_VERSION: dict[str, object] = {"versjonsnummer": 1, "variantformat": "A", "format": "pdf", "sjekksum": "ab"}
_PARTY: dict[str, object] = {"korrespondansepartNavn": "Kari", "korrespondanseparttype": "EA", "postadresse": "A\nB"}


def _some(chance: random.Random, fields: dict[str, object]) -> dict[str, object]:
    uuid = f"{chance.getrandbits(64):016x}"
    return {"uuid": uuid, **_MADE, **{name: value for name, value in fields.items() if chance.random() < 0.7}}


def _thing(kind: str, fields: dict[str, object]) -> EntityData:
    return {"t": kind, "f": fields}


def _record(chance: random.Random) -> Content:
    kind = chance.choice(["Journalpost", "Arkivnotat", "Basisregistrering"])
    known = (
        _POST if kind == "Journalpost" else {name: _POST[name] for name in ("tittel", "offentligTittel", "skjerming")}
    )
    documents: list[Content] = []
    for _ in range(chance.randrange(4)):
        versions: list[Content] = [
            {"o": _thing("Dokumentversjon", _some(chance, _VERSION))} for _ in range(chance.randrange(3))
        ]
        documents.append({"o": _thing("Dokument", _some(chance, _DOCUMENT)), "v": versions, "p": []})
    parts = [_thing("Korrespondansepart", _some(chance, _PARTY)) for _ in range(chance.randrange(2))]
    return {"o": _thing(kind, _some(chance, known)), "p": parts, "k": [], "d": documents}


def _counted(writer: Writer) -> tuple[Counter[tuple[str, str]], Counter[str], Counter[tuple[str, str, str]], int, int]:
    tally = writer.tally
    return writer.field_counts(), tally.units, tally.defaults, tally.screened, tally.disposals


def test_one_go_or_thing_by_thing_makes_no_difference() -> None:
    chance = random.Random(7)
    some = [_record(chance) for _ in range(60)]
    in_one_go, by_things = (Writer(_CODES, Moments("Europe/Oslo"), "2025-01-01T00:00:00.000Z") for _ in range(2))
    for record in some * 20:
        assert in_one_go.render(record) == by_things.render({**record, "k": _NOWHERE})
    assert _counted(in_one_go) == _counted(by_things)


def test_kinds_without_end_are_written_too() -> None:
    chance = random.Random(8)
    in_one_go, by_things = (Writer(_CODES, Moments("Europe/Oslo"), "2025-01-01T00:00:00.000Z") for _ in range(2))
    for record in (_record(chance) for _ in range(3000)):
        assert in_one_go.render(record) == by_things.render({**record, "k": _NOWHERE})
    assert _counted(in_one_go) == _counted(by_things)
