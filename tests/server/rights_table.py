"""What each permission opens, as a table: taking the permission away must close exactly that, and nothing else.

A small archive (`GRAPH`), and for each row the permission that is tried, what stands beside it, and what it opens. The
table says nothing of how an archive is asked: whoever drives it finds out by query, download, search or in process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

EVERYWHERE = "everywhere"
SERVICE = "service"
LISTS = "lists"
METADATA = "metadata"
PRECEDENTS = "precedents"


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of the small archive; `links` name other things."""

    name: str
    type: str
    fields: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


GRAPH: tuple[Thing, ...] = (
    Thing("fonds", "Arkiv", {"tittel": "Fonds"}),
    Thing("creator", "Arkivskaper", {"arkivskaperIdent": "1", "arkivskaperNavn": "C"}, {"refArkiv": "fonds"}),
    Thing("system", "Klassifikasjonssystem", {"tittel": "System"}),
    Thing("class", "Klasse", {"klasseIdent": "0", "tittel": "Class"}, {"refKlassifikasjonssystem": "system"}),
    Thing(
        "subclass",
        "Klasse",
        {"klasseIdent": "01", "tittel": "Subclass"},
        {"refKlassifikasjonssystem": "system", "refForelderKlasse": "class"},
    ),
    Thing(
        "series", "Arkivdel", {"tittel": "Series"}, {"refArkiv": "fonds", "refPrimaerKlassifikasjonssystem": "system"}
    ),
    Thing(
        "case",
        "Saksmappe",
        {"tittel": "Case", "administrativEnhet": "ADM"},
        {"refArkivdel": "series", "refPrimaerKlasse": "subclass"},
    ),
    Thing("keyword", "Noekkelord", {"verdi": "K"}, {"refMappe": "case"}),
    Thing("record", "Journalpost", {"tittel": "Record", "journalposttype": "I"}, {"refMappe": "case"}),
    Thing(
        "party",
        "Korrespondansepart",
        {"korrespondanseparttype": "EA", "korrespondansepartNavn": "Party"},
        {"refRegistrering": "record"},
    ),
    Thing("party id", "EksternId", {"eksterntSystem": "S", "eksternID": "1"}, {"refKorrespondansepart": "party"}),
    Thing(
        "document",
        "Dokument",
        {"tittel": "Document", "tilknyttetRegistreringSom": "H", "dokumenttype": "B"},
        {"refRegistrering": "record"},
    ),
    Thing("note", "Merknad", {"tekst": "N", "merknadstype": "MER"}, {"refDokument": "document"}),
    Thing("version", "Dokumentversjon", {"variantformat": "P", "format": "txt"}, {"refDokument": "document"}),
    Thing("other fonds", "Arkiv", {"tittel": "Other fonds"}),
    Thing(
        "other creator",
        "Arkivskaper",
        {"arkivskaperIdent": "2", "arkivskaperNavn": "O"},
        {"refArkiv": "other fonds"},
    ),
    Thing("other series", "Arkivdel", {"tittel": "Other series"}, {"refArkiv": "other fonds"}),
    Thing(
        "folder",
        "Mappe",
        {"tittel": "Folder", "mappetype": "EMNE", "skjerming": "UO13"},
        {"refArkivdel": "other series"},
    ),
    Thing("subfolder", "Mappe", {"tittel": "Subfolder"}, {"refForelderMappe": "folder"}),
    Thing("basic record", "Basisregistrering", {"tittel": "Plain"}, {"refMappe": "subfolder"}),
    Thing("precedent", "Presedens", {"rettskildefaktor": "LOV"}, {}),
)
ALL = frozenset(thing.name for thing in GRAPH)
LABELS = frozenset({"creator", "other creator", "keyword", "party", "party id", "note"})

UNDER_DOCUMENT = frozenset({"version"})
UNDER_RECORD = frozenset({"document", "note", "version"})
UNDER_CASE = frozenset({"record", "party", "party id"}) | UNDER_RECORD
UNDER_SERIES = frozenset({"case", "keyword"}) | UNDER_CASE
UNDER_FONDS = frozenset({"series"}) | UNDER_SERIES
UNDER_FOLDER = frozenset({"subfolder", "basic record"})


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission and where it is granted: everywhere, as a service, on a thing, on a registry, on lists.

    Lists are `lists` (all), `list skjerming`, `value skjerming UO13`.
    """

    word: str
    where: str = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Sight:
    """Something an account may: read a thing, change it, make something below it, use a service."""

    word: str
    what: str
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """`grant` opens `opens` where `beside` is granted too; `determining` lists and systems determine access control."""

    grant: Grant
    beside: tuple[Grant, ...]
    opens: frozenset[Sight]
    determining: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the row in a test report."""
        determined = f", {' '.join(self.determining)} determining" if self.determining else ""
        return f"{self.grant.word} {self.grant.where}{determined}"

    @property
    def reads(self) -> frozenset[str]:
        """The things that the permission makes readable."""
        return frozenset(sight.name for sight in self.opens if sight.what == "read")


def reads(*names: Iterable[str]) -> frozenset[Sight]:
    """The sights of reading all these things."""
    return frozenset(Sight("Read", "read", name) for group in names for name in group)


def changes(word: str, names: Iterable[str]) -> frozenset[Sight]:
    """The sights of `word` on these things themselves."""
    return frozenset(Sight(word, "change", name) for name in names)


def below(word: str, names: Iterable[str]) -> frozenset[Sight]:
    """The sights of `word` below these things."""
    return frozenset(Sight(word, "below", name) for name in names)


READ_ALL = (Grant("ReadThis"), Grant("Read"))
_IN = (Grant("ReadThis"),)
_IN_FONDS = (*_IN, Grant("ReadThis", "fonds"))
_IN_SERIES = (*_IN_FONDS, Grant("ReadThis", "series"))
_IN_CASE = (*_IN_SERIES, Grant("ReadThis", "case"))
_IN_RECORD = (*_IN_CASE, Grant("ReadThis", "record"))
_IN_SYSTEM = (*_IN, Grant("ReadThis", "system"))

REGISTERS = frozenset({LISTS, METADATA, PRECEDENTS})
WRITING = ("Create", "Update", "Delete", "Grant", "UpdateSystemManaged", "Move")
_BEARERS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "fonds": (UNDER_FONDS, UNDER_FONDS | {"fonds", "creator"}),
    "series": (UNDER_SERIES, UNDER_SERIES | {"series"}),
    "case": (UNDER_CASE, UNDER_CASE | {"case", "keyword"}),
    "record": (UNDER_RECORD, UNDER_RECORD | {"record", "party", "party id"}),
    "system": (frozenset({"class", "subclass"}), frozenset({"system", "class", "subclass"})),
    "class": (frozenset({"subclass"}), frozenset({"class", "subclass"})),
    "other series": (UNDER_FOLDER | {"folder"}, UNDER_FOLDER | {"folder", "other series"}),
    "folder": (UNDER_FOLDER, UNDER_FOLDER | {"folder"}),
    "subfolder": (frozenset({"basic record"}), frozenset({"basic record", "subfolder"})),
}

_READING_ROWS = (
    Row(Grant("ReadThis"), (Grant("Read"),), reads(ALL, REGISTERS) | below("Read", {LISTS, METADATA})),
    Row(Grant("Read"), _IN, reads(ALL, REGISTERS) | below("Read", {LISTS, METADATA})),
    Row(Grant("ReadThis", "fonds"), _IN, reads({"fonds", "creator"})),
    Row(Grant("Read", "fonds"), _IN_FONDS, reads(UNDER_FONDS)),
    Row(Grant("ReadThis", "series"), _IN_FONDS, reads({"series"})),
    Row(Grant("Read", "series"), _IN_SERIES, reads(UNDER_SERIES)),
    Row(Grant("ReadThis", "case"), _IN_SERIES, reads({"case", "keyword"})),
    Row(Grant("Read", "case"), _IN_CASE, reads(UNDER_CASE)),
    Row(Grant("ReadThis", "record"), _IN_CASE, reads({"record", "party", "party id"})),
    Row(Grant("Read", "record"), _IN_RECORD, reads(UNDER_RECORD)),
    Row(Grant("ReadThis", "system"), _IN, reads({"system"})),
    Row(Grant("Read", "system"), _IN_SYSTEM, reads({"class", "subclass"})),
    Row(Grant("ReadThis", "class"), _IN_SYSTEM, reads({"class"})),
    Row(Grant("Read", "class"), (*_IN_SYSTEM, Grant("ReadThis", "class")), reads({"subclass"})),
    Row(Grant("ReadThis", PRECEDENTS), (*_IN, Grant("Read", PRECEDENTS)), reads({PRECEDENTS, "precedent"})),
    Row(Grant("Read", PRECEDENTS), (*_IN, Grant("ReadThis", PRECEDENTS)), reads({"precedent"})),
    Row(Grant("ReadThis", METADATA), _IN, reads({METADATA})),
    Row(Grant("Read", METADATA), (*_IN, Grant("ReadThis", METADATA)), below("Read", {METADATA})),
    Row(Grant("ReadThis", LISTS), _IN, reads({LISTS})),
    Row(Grant("Read", LISTS), (*_IN, Grant("ReadThis", LISTS)), below("Read", {LISTS})),
)

_BELOW_CASE = frozenset({"case", "keyword"}) | UNDER_CASE
_RELATED_ROWS = (
    *(
        Row(Grant("ReadRelated", where), READ_ALL, reads(_BELOW_CASE), ("system",))
        for where in (EVERYWHERE, "system", "class", "subclass")
    ),
    *(
        Row(Grant("ReadRelated", where), READ_ALL, reads({"folder"}, UNDER_FOLDER), ("skjerming",))
        for where in (EVERYWHERE, LISTS, "list skjerming", "value skjerming UO13")
    ),
    *(
        Row(Grant("ReadRelated", where), READ_ALL, reads({"folder"}, UNDER_FOLDER), ("mappetype",))
        for where in (LISTS, "list mappetype", "value mappetype EMNE")
    ),
    *(
        Row(Grant("ReadRelated", where), READ_ALL, reads(UNDER_RECORD), ("dokumenttype",))
        for where in (LISTS, "list dokumenttype", "value dokumenttype B")
    ),
    *(
        Row(Grant("ReadRelated", where), READ_ALL, reads(_BELOW_CASE), ("administrativEnhet",))
        for where in (LISTS, "list administrativEnhet", "value administrativEnhet ADM")
    ),
    Row(
        Grant("ReadRelated", "value skjerming UO13"),
        (*READ_ALL, Grant("ReadRelated", "list mappetype")),
        reads({"folder"}, UNDER_FOLDER),
        ("skjerming", "mappetype"),
    ),
    Row(Grant("ReadRelated", "value skjerming UO14"), READ_ALL, frozenset(), ("skjerming",)),
    Row(Grant("ReadRelated", "system"), READ_ALL, frozenset(), ("skjerming",)),
)


def _writing_rows() -> Iterator[Row]:
    for word in WRITING:
        labels = changes("Delete", LABELS) if word == "Update" else frozenset()
        everything = changes(word, ALL | REGISTERS) | below(word, ALL | REGISTERS | {EVERYWHERE})
        yield Row(Grant(word), READ_ALL, everything | labels)
        for where, (themselves, beneath) in _BEARERS.items():
            opened = changes(word, themselves) | below(word, beneath)
            deleted = changes("Delete", themselves & LABELS) if word == "Update" else frozenset()
            yield Row(Grant(word, where), READ_ALL, opened | deleted)
        opened = changes(word, {"precedent"}) | below(word, {"precedent", PRECEDENTS})
        yield Row(Grant(word, PRECEDENTS), READ_ALL, opened)
        yield Row(Grant(word, METADATA), READ_ALL, below(word, {METADATA}))
        yield Row(Grant(word, LISTS), READ_ALL, below(word, {LISTS}))


SERVICES = (
    "Edit list values",
    "Write changelog",
    "Store light PDF",
    "Edit journaled",
    "Dispose documents",
    "Edit finalized",
    "Publish documents",
    "View changelog",
    "Journal",
    "Store documents",
    "GUI administrator",
    "Security administrator",
)

ROWS: tuple[Row, ...] = (
    *_READING_ROWS,
    *_RELATED_ROWS,
    *_writing_rows(),
    *(Row(Grant(word, SERVICE), READ_ALL, frozenset({Sight(word, "service", word)})) for word in SERVICES),
)
