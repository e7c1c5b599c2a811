"""Objects that hang elsewhere, links that lead elsewhere, and objects that are too few or too many."""

from __future__ import annotations

from tests.loading.damage.damage import Damage, added, by_sql, changed, copied, removed, swapped

RECORD, FOLDER, DOCUMENT, VERSION = "abstraktregistrering", "abstraktmappe", "dokument", "dokumentversjon"
SECONDARY = "p_abstraktmappe_refsekundaerklasse_klasse_refmappesomsekundaer"
CROSSING = (
    "p_abstraktregistrering_refkryssreferansefraregistrering_abstraktregistrering_refkryssreferansetilregistrering"
)
TO_FOLDER = "p_abstraktmappe_refkryssreferansefraregistrering_abstraktregistrering_refkryssreferansetilmappe"
LINK, GONE, EXTRA, KEY = "V207", "V204", "V220", "V201"

MOVED = (
    changed("a record in another folder", "V206", RECORD, "r1", "refMappe = <outer>"),
    changed("a letter in a folder of another kind", "V206", RECORD, "p1", "refMappe = <outer>"),
    changed("a folder in another series", "V206", FOLDER, "outer", "refArkivdel = <arkivdel:a>"),
    changed(
        "an inner folder that lies in a series",
        "V206",
        FOLDER,
        "inner",
        "refForelderMappe = NULL, refArkivdel = <arkivdel:b>",
    ),
    changed("a series in no fonds", "V206", "arkivdel", "arkivdel:b", "refArkiv = NULL"),
    changed("a record in no folder", "V206", RECORD, "r2", "refMappe = NULL"),
    changed("a record in a folder that is not there", "V206", RECORD, "r2", "refMappe = 999999"),
    changed("a record that lies in a series besides", "V207", RECORD, "r1", "refArkivdel = <arkivdel:b>", shown=False),
    changed("a document of another record", "V206", DOCUMENT, "p1#d2", "refRegistrering = <p2>"),
    changed("a version of another document", "V206", VERSION, "p1#d1v2", "refDokument = <p1#d2>"),
    changed("a party of another folder", "V206", "sakspart", "case#part", "refMappe = <inner>"),
    changed("a correspondent of another letter", "V206", "korrespondansepart", "p1#to", "refRegistrering = <p2>"),
    changed(
        "a note on the folder of its record", "V206", "merknad", "p1#note", "refRegistrering = NULL, refMappe = <case>"
    ),
    changed("a class of another system", "V206", "klasse", "klasse:22", "refKlassifikasjonssystem = NULL"),
    changed("a class below another", "V207", "klasse", "klasse:22", "refForelderKlasse = <klasse:21>"),
    by_sql("records that changed places", "V206", f"{RECORD} 2", swapped(RECORD, "refMappe", "r1", "p2")),
    by_sql(
        "documents that changed records",
        "V206",
        f"{DOCUMENT} 2",
        swapped(DOCUMENT, "refRegistrering", "p1#d1", "p2#d1"),
    ),
    by_sql(
        "versions that changed documents", "V206", f"{VERSION} 2", swapped(VERSION, "refDokument", "p1#d1v1", "r1#d1v1")
    ),
    by_sql(
        "empty and full documents that changed records",
        "V206",
        f"{DOCUMENT} 2",
        swapped(DOCUMENT, "refRegistrering", "r1#d1", "r2#d1"),
    ),
)


def _pairs(name: str, table: str, statement: str, count: int = 1, *, shown: bool = True) -> Damage:
    return by_sql(name, LINK, f"{table} {count}", statement.format(table), shown=shown)


LINKS = (
    changed("a case in another class", "V207", FOLDER, "case", "refPrimaerKlasse = <klasse:22>"),
    changed("a case in no class", "V207", FOLDER, "case", "refPrimaerKlasse = NULL"),
    changed("a folder in a class", "V207", FOLDER, "outer", "refPrimaerKlasse = <klasse:22>"),
    _pairs("a secondary class that is gone", SECONDARY, "DELETE FROM {}"),
    _pairs(
        "a secondary class that was added", SECONDARY, "INSERT INTO {} VALUES (<meeting>, <klasse:22>)", shown=False
    ),
    _pairs("a cross reference that is gone", CROSSING, "DELETE FROM {}"),
    _pairs("a cross reference that was added", CROSSING, "INSERT INTO {} VALUES (<r1>, <r2>)"),
    _pairs("a cross reference that was turned round", CROSSING, "UPDATE {} SET a = b, b = a", 2),
    _pairs("a cross reference to a folder", TO_FOLDER, "INSERT INTO {} VALUES (<outer>, <p1>)"),
    changed(
        "a series without its classification",
        "V207",
        "arkivdel",
        "arkivdel:a",
        "refPrimaerKlassifikasjonssystem = NULL",
        shown=False,
    ),
    changed(
        "a series with a classification",
        "V207",
        "arkivdel",
        "arkivdel:b",
        "refPrimaerKlassifikasjonssystem = <system:a>",
    ),
    changed("a series that follows another", "V207", "arkivdel", "arkivdel:b", "refArkivdelForloeper = <arkivdel:a>"),
)

_WITH_ALL = (
    "DELETE FROM o_eksternid WHERE refRegistrering = <r3>",
    "DELETE FROM o_dokumentversjon WHERE id = <r3#d1v1>",
    "DELETE FROM o_dokument WHERE id = <r3#d1>",
    "DELETE FROM o_abstraktregistrering WHERE id = <r3>",
)

FEWER = (
    removed("a record that is gone, its key left", "V204", RECORD, "r3"),
    by_sql(
        "a record that is gone with all below it",
        KEY,
        f"eksternid 1, {VERSION} 1, {DOCUMENT} 1, {RECORD} 1",
        *_WITH_ALL,
    ),
    removed("a folder that is gone, its records left", "V204", FOLDER, "inner"),
    removed("a document that is gone, its version left", GONE, DOCUMENT, "p1#d2"),
    by_sql(
        "a document that is gone with its version",
        GONE,
        f"{DOCUMENT} 1, {VERSION} 1",
        "DELETE FROM o_dokument WHERE id = <p1#d2>",
        "DELETE FROM o_dokumentversjon WHERE id = <p1#d2v1>",
    ),
    removed("a version that is gone", GONE, VERSION, "r1#d1v1"),
    removed("a second version that is gone", GONE, VERSION, "p1#d1v2"),
    removed("a series that is gone, its folders left", GONE, "arkivdel", "arkivdel:b"),
    removed("a class that is gone", GONE, "klasse", "klasse:22"),
)

MORE = (
    added("a record too many, without a key", "V220", RECORD, "r1"),
    added("a letter too many in a case", "V220", RECORD, "p1"),
    added("a folder too many in a folder", "V220", FOLDER, "inner"),
    added("a document too many", "V220", DOCUMENT, "p1#d1", dokumentnummer="3"),
    added("a document too many at a record of another", "V220", DOCUMENT, "p1#d1", refRegistrering="<r1>"),
    added("a version too many", "V221", VERSION, "p1#d1v1", versjonsnummer="3"),
    added("a party too many", "V220", "sakspart", "case#part", sakspartNavn="'Ola'"),
    added("the same party twice", "V220", "sakspart", "case#part"),
    added("a correspondent too many", "V220", "korrespondansepart", "p1#from", refRegistrering="<p2>"),
    added("the same correspondent twice", "V220", "korrespondansepart", "p1#from"),
    added("a keyword too many", "V220", "noekkelord", "r1#word", verdi="'more'"),
    added("a keyword at a record without one", "V220", "noekkelord", "r1#word", refRegistrering="<r2>"),
    added("a note too many", "V220", "merknad", "case#note"),
    added("a note on a document", "V220", "merknad", "p1#note", refRegistrering="NULL", refDokument="<p1#d1>"),
    added("a sign-off too many", "V220", "avskrivning", "p1#signoff"),
    added("a sign-off of another letter", "V220", "avskrivning", "p1#signoff", refJournalpost="<p2>"),
    added("a flow too many", "V220", "dokumentflyt", "p1#flow"),
    added("a participant too many", "V220", "moetedeltaker", "meeting#kari", navn="'Ola'"),
    by_sql(
        "a keyword exchanged for one of another folder",
        "V204",
        "noekkelord 2",
        "DELETE FROM o_noekkelord WHERE id = <case#word1>",
        copied("noekkelord", "case#word2"),
    ),
)

_R3 = "eksternID = 'r3'"


def _key(name: str, code: str, assignment: str) -> Damage:
    """The key of r3 is another one, or elsewhere."""
    return by_sql(name, code, "eksternid 1", f"UPDATE o_eksternid SET {assignment} WHERE {_R3}")


def _key_more(owner: str, key: str = "eksternID") -> str:
    """A statement that gives a record a key of our system, like that of r3."""
    return (
        "INSERT INTO o_eksternid (id, type, version, uuid, eksterntSystem, eksternID, refRegistrering)"
        f" SELECT 99999, type, version, 'x', eksterntSystem, {key}, {owner} FROM o_eksternid WHERE {_R3}"
    )


_LAST_RECORD = "(SELECT max(id) FROM o_abstraktregistrering)"

KEYS = (
    by_sql("a key that is gone", KEY, "eksternid 1", f"DELETE FROM o_eksternid WHERE {_R3}"),
    by_sql(
        "a folder's key that is gone",
        KEY,
        "eksternid 1",
        "DELETE FROM o_eksternid WHERE eksternID = 'inner'",
    ),
    _key("a key on another record", "V203", "refRegistrering = <r2>"),
    by_sql(
        "keys that changed records",
        "V203",
        "eksternid 2",
        "UPDATE o_eksternid SET refRegistrering = CASE eksternID WHEN 'r3' THEN <r2> ELSE <r3> END"
        " WHERE eksternID IN ('r2', 'r3')",
    ),
    _key("a key on a document", "V203", "refRegistrering = NULL, refDokument = <r3#d1>"),
    _key("a key on nothing", "V203", "refRegistrering = NULL"),
    _key("a key of another system", KEY, "eksterntSystem = 'other'"),
    _key("a key with another number", KEY, "eksternID = 'r33'"),
    _key("a key in other letters", KEY, "eksternID = 'R3'"),
    by_sql("a key twice on one record", "V202", "eksternid 1", _key_more("refRegistrering")),
    by_sql("a key on two records", "V202", "eksternid 1", _key_more("<r2>")),
    by_sql(
        "a record twice under one key",
        "V202",
        f"{RECORD} 1, eksternid 1",
        copied(RECORD, "r3"),
        _key_more(_LAST_RECORD),
    ),
    by_sql("a key of our system that no plan has", "V220", "eksternid 1", _key_more("<r2>", "'r9'")),
)

DAMAGES = (*MOVED, *LINKS, *FEWER, *MORE, *KEYS)
