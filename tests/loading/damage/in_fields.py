"""Fields of the archive's objects that are not what was planned."""

from __future__ import annotations

from unicodedata import normalize

from tests.loading.damage.damage import by_sql, changed, removed
from tests.loading.damage.records import RECORDS

RECORD, FOLDER, DOCUMENT, VERSION = "abstraktregistrering", "abstraktmappe", "dokument", "dokumentversjon"
_CASE_TITLE = str(next(one for one in RECORDS["p1"].entities if one.key == "case").fields["tittel"])
FIELD = "V211"

TITLES = (
    changed("a record's title", "V210", RECORD, "p1", "tittel = 'Letter 0ne'"),
    changed("a folder's title", "V210", FOLDER, "inner", "tittel = 'Other'"),
    changed("a title in another unicode form", "V210", FOLDER, "case", f"tittel = '{normalize('NFD', _CASE_TITLE)}'"),
    changed("a title with a blank after it", "V210", RECORD, "r1", "tittel = tittel || ' '"),
    changed("a title with another case of letters", "V210", RECORD, "r1", "tittel = upper(tittel)"),
    changed("a title that looks alike", "V210", RECORD, "mr", "tittel = replace(tittel, 'e', char(1077))"),
    changed("a public title", "V210", RECORD, "p1", "offentligTittel = tittel"),
    changed("a description that was emptied", FIELD, RECORD, "p1", "beskrivelse = NULL"),
    changed("a description that was added", "V212", RECORD, "r1", "beskrivelse = 'not ours'"),
    changed("an author", "V210", RECORD, "p2", "forfatter = 'Per'"),
    changed("a document's title", "V210", DOCUMENT, "p1#d1", "tittel = 'Document'"),
    changed("a series' title", "V210", "arkivdel", "arkivdel:b", "tittel = 'Series C'"),
    changed("a series' description", "V212", "arkivdel", "arkivdel:a", "beskrivelse = 'not ours'"),
    changed("a fonds' description", "V210", "arkiv", "arkiv:a", "beskrivelse = 'Some of it'"),
    changed("a creator's name", "V210", "arkivskaper", "creator:a", "arkivskaperNavn = 'County'"),
    changed("a class' title", "V210", "klasse", "klasse:21", "tittel = 'Class 12'"),
    changed("a class' number", "V210", "klasse", "klasse:22", "klasseIdent = '23'"),
    changed("a classification's title", "V210", "klassifikasjonssystem", "system:a", "tittel = 'Other codes'"),
)

DATES = (
    changed("a document's date one day later", "V210", RECORD, "p1", "dokumentetsDato = '2021-05-08'"),
    changed("a leap day the day before", "V210", RECORD, "r1", "dokumentetsDato = '2020-02-28'"),
    changed("a time of receipt one second later", "V210", RECORD, "p1", "mottattDato = mottattDato + 1000"),
    changed("a time of sending one hour earlier", "V210", RECORD, "p2", "sendtDato = sendtDato - 3600000"),
    changed(
        "a planned time of creation one second later", "V210", RECORD, "p1", "opprettetDato = opprettetDato + 1000"
    ),
    changed("a planned creator", "V210", FOLDER, "case", "opprettetAv = 'Somebody'"),
    changed("a case's date", "V210", FOLDER, "case", "saksdato = '2021-05-05'"),
    changed("a meeting's date", "V210", FOLDER, "meeting", "moetedato = '2021-06-02'"),
    changed("a flow's time", "V210", "dokumentflyt", "p1#flow", "flytSendtDato = flytSendtDato + 1000"),
    changed("a journal date that is gone", "V211", RECORD, "p1", "registreringsDato = NULL"),
    changed("a record's identifier that is gone", "V211", RECORD, "p1", "registreringsIdent = NULL"),
    changed("a medium that is gone", "V211", FOLDER, "inner", "dokumentmedium = ''"),
    changed("a date that was added", "V212", RECORD, "p2", "forfallsdato = '2021-06-01'"),
)

RULES = (
    changed("screening that was lifted", "V213", RECORD, "p1", "skjerming = NULL"),
    changed("screening that was added to a record", "V213", RECORD, "r1", "skjerming = 'UO13'"),
    changed("screening that was added to a folder", "V213", FOLDER, "case", "skjerming = 'UO15'"),
    changed("screening that was added to a document", "V213", DOCUMENT, "p2#d1", "skjerming = 'UO14'"),
    changed("screening of another kind", "V213", RECORD, "p1", "skjerming = 'UO14'"),
    changed("a disposal period", "V210", RECORD, "p2", "bevaringstid = 50"),
    changed("a disposal decision that was lifted", FIELD, RECORD, "p2", "kassasjonsvedtak = NULL"),
    changed("a disposal decision that was changed", "V210", RECORD, "p2", "kassasjonsvedtak = 'B'"),
    changed("a disposal authority", FIELD, RECORD, "p2", "kassasjonshjemmel = NULL"),
    changed("a disposal decision that was added to a folder", "V212", FOLDER, "outer", "kassasjonsvedtak = 'K'"),
    changed(
        "business-specific metadata",
        "V212",
        FOLDER,
        "case",
        """virksomhetsspesifikkeMetadata = '{"a":{}}'""",
        shown=False,
    ),
)

KINDS = (
    changed("an outgoing letter that came in", "V210", RECORD, "p2", "journalposttype = 'I'"),
    changed("another type of record", "V205", RECORD, "r1", "type = 'Arkivnotat'"),
    changed("another type of folder", "V205", FOLDER, "outer", "type = 'Moetemappe'"),
    changed("another type of document", "V210", DOCUMENT, "p1#d1", "dokumenttype = 'F'"),
    changed("a main document that became an attachment", "V210", DOCUMENT, "p1#d1", "tilknyttetRegistreringSom = 'V'"),
    changed("another role of a party", "V210", "sakspart", "case#part", "sakspartRolle = 'Klager'"),
)

STATUSES = (
    changed("a record that was reopened", "V214", RECORD, "r1", "avsluttetDato = NULL", shown=False),
    changed("a letter that was reopened", "V214", RECORD, "p1", "journalstatus = 'J', avsluttetDato = NULL"),
    changed("a case that was reopened", "V214", FOLDER, "case", "saksstatus = 'B', avsluttetDato = NULL"),
    changed("a folder that was reopened", "V214", FOLDER, "inner", "avsluttetDato = NULL", shown=False),
    changed("a document that was reopened", "V214", DOCUMENT, "p1#d1", "dokumentstatus = 'B'"),
    changed("a series that was reopened", "V214", "arkivdel", "arkivdel:a", "arkivdelstatus = 'O'"),
    changed("a fonds that was reopened", "V214", "arkiv", "arkiv:a", "arkivstatus = 'O'"),
    changed("a case that was cancelled", "V214", FOLDER, "case", "saksstatus = 'U'"),
    changed("a class that was reopened", "V214", "klasse", "klasse:21", "avsluttetDato = NULL"),
)

PARTS = (
    changed("a party's name", "V210", "sakspart", "case#part", "sakspartNavn = 'Pål'"),
    removed("a party that is gone", "V204", "sakspart", "case#part"),
    changed("a correspondent's name", "V210", "korrespondansepart", "p1#from", "korrespondansepartNavn = 'Pål'"),
    changed("a correspondent's address", "V210", "korrespondansepart", "p1#from", "postadresse = 'Road 2'"),
    changed("another kind of correspondent", "V210", "korrespondansepart", "p1#from", "korrespondanseparttype = 'EK'"),
    removed("a correspondent that is gone", "V204", "korrespondansepart", "p1#to"),
    changed("a keyword", "V210", "noekkelord", "case#word1", "verdi = 'wine'"),
    removed("a keyword that is gone", "V204", "noekkelord", "case#word2"),
    removed("a record's keyword that is gone", "V204", "noekkelord", "r1#word"),
    changed("a note's text", "V210", "merknad", "case#note", "tekst = 'See nothing'"),
    removed("a note that is gone", "V204", "merknad", "p1#note"),
    changed("a sign-off", "V210", "avskrivning", "p1#signoff", "avskrivningsmaate = 'TE'"),
    removed("a sign-off that is gone", "V204", "avskrivning", "p1#signoff"),
    changed("the sender of a flow", "V210", "dokumentflyt", "p1#flow", "flytFra = 'Ola'"),
    removed("a flow that is gone", "V204", "dokumentflyt", "p1#flow"),
    changed("a participant's name", "V210", "moetedeltaker", "meeting#kari", "navn = 'Ola'"),
    removed("a participant that is gone", "V204", "moetedeltaker", "meeting#kari"),
    removed("a creator that is gone", "V204", "arkivskaper", "creator:a"),
    by_sql("all keywords that are gone", "V204", "noekkelord 3", "DELETE FROM o_noekkelord"),
)

DAMAGES = (*TITLES, *DATES, *RULES, *KINDS, *STATUSES, *PARTS)
