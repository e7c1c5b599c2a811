"""One way to break each rule: a single change of a good package, before or after it is described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from noarkit.model.xml_model import Version
from samples.packages.changes import (
    CHANGES,
    DESCRIPTION,
    NOWHERE,
    PUBLIC,
    RUNNING,
    STRUCTURE,
    Change,
    added,
    all_of,
    astray,
    conversions,
    edit,
    element,
    element_in,
    fewer_entries,
    first_document,
    gone,
    head,
    miscounted,
    more_entries,
    moved,
    moved_record,
    no_documents,
    nothing_to_show,
    office_text,
    other_line_ends,
    other_schema,
    outside_cases,
    outside_documents,
    replaced,
    rewritten,
    said,
    same_case_number,
    same_number,
    screening,
    swapped_entries,
    without_vsm,
)
from samples.packages.describe import seal
from samples.packages.good import PDF, VSM, VSM_SCHEMA, Draft, good_draft, unit_id

ELSEWHERE = unit_id("elsewhere")
SOFT = said("utgaaendeSkille", "mykt")
_INFO = '<property name="info">\n<properties>\n'
_NOTE = '<property name="note">\n<value>?</value>\n</property>\n'
_SYSTEM_NAME = '<additionalElement name="systemName">.*?</additionalElement>\n'
_RECORD_TITLE = f"(<systemID>{unit_id('registrering 1')}<.*?<offentligTittel>)"
_DOCUMENT_COUNT = r'(<property name="antallDokumentfiler" dataType="integer">\n<value>)\d+'
_PARTIES = "(?s)<korrespondansepart>(?:(?!</korrespondansepart>).)*</korrespondansepart>\n"
_OTHER_SUMS = f"sha256 {'a' * 64} → {'b' * 64}"
_OTHER_PARTY = (">Kari Nordmann</korrespondansepartNavn>", ">Per Hansen</korrespondansepartNavn>")
_OTHER_ANSWER = (">Tatt til etterretning<", ">Tatt til orientering<")
_SHOWN_CASE = replaced(PUBLIC, "(<saksmappe>.*?<offentligTittel>)[^<]*", r"\g<1>Et tittel")
_FOLDERS_IN = (STRUCTURE, RUNNING, PUBLIC)
_OTHER_FOLDER = ("<mappeID>mappe 2<", "<mappeID>mappe 1<")
_HIGHER_CLASS = replaced(RUNNING, r"(.*<klasseID>)1\.1<", r"\g<1>1<")
_KEPT = "(<dokumentbeskrivelse>.*?</kassasjon>\n)(<sletting>)"
_DISPOSED = (
    "<utfoertKassasjon>\n<kassertDato>2019-03-04T10:00:00</kassertDato>\n<kassertAv>Kari Nordmann</kassertAv>\n"
    "</utfoertKassasjon>\n"
)


@dataclass(frozen=True, slots=True)
class Bad:
    """A broken package. `before` changes what is described, `after` what was described.

    `official` = only a package with the official schemas can be broken so.
    """

    code: str
    what: str
    before: Change | None = None
    after: Change | None = None
    version: Version = "5.0"
    official: bool = False

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.code}-{self.what}"

    def draft(self, make: Callable[[Version], Draft] = good_draft) -> Draft:
        """The package, broken and described."""
        draft = make(self.version)
        if self.before is not None:
            self.before(draft)
        seal(draft)
        if self.after is not None:
            self.after(draft)
        return draft


def both(change: Callable[..., Change], *how: str) -> Change:
    """The same change of both journals."""
    return all_of(change(RUNNING, *how), change(PUBLIC, *how))


BAD: tuple[Bad, ...] = (
    Bad("N001", "no-description", before=without_vsm, after=gone(DESCRIPTION)),
    Bad("N002", "named-file-missing", after=gone(CHANGES)),
    Bad("N003", "journal-missing", before=gone(PUBLIC, "offentligJournal.xsd")),
    Bad("N004", "unlisted-file", after=added("notat.txt", b"?")),
    Bad("N005", "path-outside", before=astray),
    Bad("N006", "document-type", before=edit(CHANGES, "<endringslogg ", "<!DOCTYPE endringslogg>\n<endringslogg ")),
    Bad("N007", "malformed", before=edit(CHANGES, "</endringslogg>", "</endringslog>")),
    Bad("N008", "latin-1", before=edit(CHANGES, 'encoding="UTF-8"', 'encoding="ISO-8859-1"')),
    Bad("N009", "empty-element", before=element("beskrivelse", "")),
    Bad("N010", "empty-value-in-log", before=replaced(CHANGES, ">Brev<", "><"), version="3.1"),
    Bad("N011", "no-change-log", before=gone(CHANGES, "endringslogg.xsd")),
    Bad("N012", "unnamed-schema", after=added("annet.xsd", VSM_SCHEMA.encode())),
    Bad("N101", "schema-missing", after=gone("addml.xsd")),
    Bad("N102", "schema-of-ours"),
    Bad("N103", "not-valid", before=element("saksaar", "i fjor")),
    Bad("N104", "schema-not-named", after=other_schema),
    Bad("N105", "schema-changed", before=edit("endringslogg.xsd", "?>", "?><!-- -->")),
    Bad("N106", "record-of-other-type", before=moved_record),
    Bad("N107", "vsm-flag-wrong", before=said("inneholderVirksomhetsspesifikkeMetadata", "false")),
    Bad("N108", "vsm-without-schema", before=edit(STRUCTURE, VSM, "https://example.org/annet", 1000)),
    Bad("N109", "vsm-not-valid", before=replaced(STRUCTURE, ">12</gnr>", ">tolv</gnr>")),
    Bad("N110", "vsm-unexplained", before=replaced("eiendom.xsd", "<xs:annotation>.*</xs:annotation>", "")),
    Bad("N201", "property-missing", after=replaced(DESCRIPTION, _SYSTEM_NAME, "")),
    Bad("N202", "property-unreadable", before=said("inngaaendeSkille", "delvis")),
    Bad("N203", "checksum-missing", after=replaced(DESCRIPTION, '<property name="algorithm">.*?</property>\n', "")),
    Bad("N204", "algorithm-unknown", after=edit(DESCRIPTION, ">SHA-256<", ">CRC32<")),
    Bad("N205", "checksum-wrong", after=edit(CHANGES, "Ola", "Per")),
    Bad("N206", "count-missing", after=edit(DESCRIPTION, "<value>mappe<", "<value>mapper<")),
    Bad("N207", "mapper-miscounted", after=miscounted("mappe")),
    Bad("N208", "registreringer-miscounted", after=miscounted("registrering")),
    Bad("N209", "changes-miscounted", after=miscounted("endring")),
    Bad("N210", "entries-miscounted", after=miscounted("journalregistrering")),
    Bad("N211", "files-miscounted", after=replaced(DESCRIPTION, _DOCUMENT_COUNT, r"\g<1>99")),
    Bad("N212", "screening-flag-wrong", before=said("inneholderSkjermetInformasjon", "false")),
    Bad("N213", "disposal-flag-wrong", before=said("inneholderDokumenterSomSkalKasseres", "false")),
    Bad("N214", "disposed-flag-wrong", before=said("omfatterDokumenterSomErKassert", "false")),
    Bad("N215", "order-of-properties", after=edit(DESCRIPTION, _INFO, f"{_INFO}{_NOTE}")),
    Bad("N216", "log-count-missing", after=edit(DESCRIPTION, "<value>endring<", "<value>endringer<")),
    Bad("N217", "other-line-ends", after=other_line_ends, official=True),
    Bad("N301", "id-twice", before=edit(STRUCTURE, unit_id("dokument notat 1"), unit_id("dokument registrering 1"))),
    Bad("N302", "class-repeated", before=edit(STRUCTURE, unit_id("klasse 3"), unit_id("klasse 2"))),
    Bad("N303", "id-no-uuid", before=edit(STRUCTURE, unit_id("dokument notat 1"), "dok-1"), version="3.1"),
    Bad("N304", "arkivdel-unknown", before=element("referanseArkivdel", NOWHERE)),
    Bad("N305", "class-unknown", before=element("referanseSekundaerKlassifikasjon", NOWHERE)),
    Bad("N306", "cross-reference-unknown", before=element("referanseTilMappe", NOWHERE)),
    Bad("N307", "answer-unknown", before=element("referanseAvskrivesAvJournalpost", NOWHERE)),
    Bad("N308", "meeting-unknown", before=element("referanseForrigeMoete", NOWHERE)),
    Bad("N309", "predecessor-elsewhere", before=element("referanseForloeper", NOWHERE)),
    Bad("N310", "reference-to-other-kind", before=element("referanseArkivdel", unit_id("mappe 2"))),
    Bad("N311", "class-with-classes-and-mapper", before=all_of(moved("mappe", "mappe 2"), _HIGHER_CLASS)),
    Bad("N312", "class-with-classes-and-records", before=moved("registrering", "registrering 1")),
    Bad("N314", "reference-to-itself", before=element("referanseForloeper", unit_id("arkivdel 1"))),
    Bad("N320", "arkiv-open", before=element("arkivstatus", "Opprettet")),
    Bad("N321", "arkivdel-open", before=element("arkivdelstatus", "Aktiv periode")),
    Bad("N322", "case-open", before=element("saksstatus", "Under behandling")),
    Bad("N323", "letter-open", before=element("journalstatus", "Ekspedert")),
    Bad("N324", "document-open", before=element("dokumentstatus", "Dokumentet er under redigering")),
    Bad("N325", "attached-before-made", before=element("tilknyttetDato", "2019-01-02T10:00:00")),
    Bad("N326", "void-with-file", before=edit(STRUCTURE, ">Arkivert<", ">Utgår<")),
    Bad(
        "N327",
        "letter-without-sender",
        before=all_of(element("korrespondanseparttype", "Kopimottaker"), edit(RUNNING, ">Avsender<", ">Kopimottaker<")),
    ),
    Bad("N329", "journal-post-without-party", before=replaced(STRUCTURE, _PARTIES, "")),
    Bad("N328", "disposed-with-file", before=replaced(STRUCTURE, _KEPT, rf"\1{_DISPOSED}\2")),
    Bad("N330", "code-unknown", before=element("variantformat", "Kladdeformat")),
    Bad("N331", "key-for-code", before=element("variantformat", "A")),
    Bad("N332", "number-twice", before=same_number),
    Bad("N333", "folder-id-twice", before=all_of(*(edit(file, *_OTHER_FOLDER) for file in _FOLDERS_IN))),
    Bad("N334", "case-number-twice", before=same_case_number),
    Bad(
        "N335",
        "no-main-document",
        before=all_of(element("tilknyttetRegistreringSom", "Vedlegg"), element("antallVedlegg", "2")),
    ),
    Bad("N336", "enclosures-miscounted", before=element("antallVedlegg", "7")),
    Bad(
        "N337",
        "record-id-twice",
        before=edit(STRUCTURE, "<registreringsID>R notat 1<", "<registreringsID>R registrering 1<"),
    ),
    Bad(
        "N338",
        "two-main-documents",
        before=all_of(edit(STRUCTURE, ">Vedlegg<", ">Hoveddokument<"), element("antallVedlegg", "0")),
    ),
    Bad(
        "N339",
        "made-after-closing",
        before=all_of(element("opprettetDato", "2019-02-01T09:00:00"), element("avsluttetDato", "2019-02-02T09:00:00")),
    ),
    Bad(
        "N340",
        "outside-period",
        before=replaced(STRUCTURE, "(<dokumentbeskrivelse>.*?<opprettetDato>)2019", r"\g<1>2018"),
    ),
    Bad("N341", "date-unlikely", before=element("forfallsdato", "2919-03-04")),
    Bad("N350", "name-unlikely", before=element("avskrevetAv", "4711")),
    Bad("N351", "identity-number-in-title", before=replaced(STRUCTURE, _RECORD_TITLE, r"\g<1>For 01010750160: ")),
    Bad("N352", "screened-title-public", before=edit(STRUCTURE, "Brev *****", "Brev nummer 2")),
    Bad("N401", "document-missing", before=first_document(lambda content: None)),
    Bad("N402", "document-changed", before=first_document(lambda content: content[:-1] + b"?")),
    Bad("N403", "size-wrong", before=replaced(STRUCTURE, "(<filstoerrelse>)", r"\g<1>9")),
    Bad("N404", "size-no-number", before=replaced(STRUCTURE, "(</filstoerrelse>)", r" byte\1"), version="3.1"),
    Bad("N405", "document-unreferenced", before=added("dokumenter/ekstra.pdf", PDF)),
    Bad("N406", "document-empty", before=rewritten(b"")),
    Bad("N407", "format-other", before=element("format", "tiff")),
    Bad("N408", "first-bytes-other", before=rewritten(b"GIF89a pdfaid")),
    Bad("N409", "no-pdf-a", before=rewritten(b"%PDF-1.4\nplain\n%%EOF\n")),
    Bad("N410", "format-not-archival", before=rewritten(b"x", ending="doc")),
    Bad("N423", "cut-off", before=rewritten(b"PK\x03\x04 a sheet", ending="xlsx")),
    Bad(
        "N424",
        "no-pdfa-beside",
        before=all_of(element("variantformat", "Produksjonsformat"), rewritten(office_text(), ending="docx")),
    ),
    Bad("N411", "algorithm-other", before=rewritten(PDF, "sha512", "SHA-512")),
    Bad("N412", "algorithm-unknown-to-all", before=element("sjekksumAlgoritme", "CRC-16")),
    Bad(
        "N413",
        "backslash",
        before=edit(STRUCTURE, "<referanseDokumentfil>dokumenter/", "<referanseDokumentfil>dokumenter\\"),
    ),
    Bad("N414", "no-documents", before=no_documents),
    Bad("N415", "puid-other", before=element("format", "fmt/353")),
    Bad("N416", "outside-documents", before=outside_documents),
    Bad("N417", "nothing-to-show", before=nothing_to_show),
    Bad("N418", "format-by-puid", before=element("format", "fmt/354")),
    Bad("N419", "converted-to-other", before=conversions(("fmt/40", "fmt/353"))),
    Bad("N420", "converted-file-other", before=conversions(("fmt/40", "pdf"), comment=_OTHER_SUMS)),
    Bad(
        "N421",
        "conversions-out-of-order",
        before=conversions(("fmt/38", "fmt/40"), ("fmt/40", "pdf"), years=(2020, 2019)),
    ),
    Bad("N422", "conversions-apart", before=conversions(("fmt/38", "fmt/39"), ("fmt/40", "pdf"))),
    Bad("N501", "heads-differ", before=all_of(SOFT, head(PUBLIC, "journalSluttDato", "2019-12-30"))),
    Bad("N502", "head-miscounted", before=head(RUNNING, "antallJournalposter", "7")),
    Bad("N504", "period-of-heads", before=both(head, "journalStartDato", "2019-02-01")),
    Bad("N505", "order-of-entries", before=swapped_entries),
    Bad("N506", "entry-unknown", before=both(more_entries, NOWHERE)),
    Bad("N507", "letter-not-in-journals", before=both(fewer_entries)),
    Bad(
        "N508", "journals-differ", before=all_of(SOFT, more_entries(RUNNING, NOWHERE), more_entries(PUBLIC, ELSEWHERE))
    ),
    Bad("N509", "entry-differs", before=edit(RUNNING, ">Brev nummer 2<", ">Brev nummer 22<")),
    Bad("N510", "entry-twice", before=both(more_entries)),
    Bad("N511", "screened-title-shown", before=edit(PUBLIC, "Brev *****", "Brev nummer 2")),
    Bad("N512", "entry-outside-period", before=all_of(SOFT, both(head, "journalSluttDato", "2019-03-02"))),
    Bad("N513", "entry-of-other-case", before=replaced(RUNNING, "(<sakssekvensnummer>)1", r"\g<1>7")),
    Bad("N514", "entry-with-other-party", before=edit(RUNNING, *_OTHER_PARTY)),
    Bad("N515", "entry-with-other-case-title", before=replaced(RUNNING, "(<saksmappe>.*?<tittel>)", r"\g<1>Ikke e")),
    Bad("N516", "entry-with-other-answer", before=edit(PUBLIC, *_OTHER_ANSWER)),
    Bad(
        "N517",
        "screened-case-title-shown",
        before=all_of(screening("mappe 1", "Skjerming tittel mappe - utvalgte ord"), _SHOWN_CASE),
    ),
    Bad("N518", "screened-sender-shown", before=screening("journalpost 1", "Skjerming navn avsender")),
    Bad("N519", "letter-in-no-case-file", before=outside_cases),
    Bad("N520", "journal-of-other-creator", before=element_in(RUNNING, "arkivskaperNavn", "Per Hansen")),
    Bad("N521", "entry-of-other-class", before=element_in(RUNNING, "klasseID", "7")),
    Bad("N522", "screened-class-shown", before=element_in(PUBLIC, "klasseID", "1.1")),
    Bad("N605", "change-before-unit", before=element_in(CHANGES, "endretDato", "2018-04-01T12:00:00")),
    Bad("N606", "change-of-none", before=element_in(CHANGES, "tidligereVerdi", "Brev nummer 1")),
    Bad("N607", "change-to-other", before=element_in(CHANGES, "nyVerdi", "Brev nummer 7")),
    Bad("N608", "change-to-come", before=element_in(CHANGES, "endretDato", "2999-04-01T12:00:00")),
    Bad("N601", "change-of-nothing", before=edit(CHANGES, unit_id("mappe 1"), NOWHERE)),
    Bad(
        "N602",
        "change-without-id",
        before=all_of(edit(CHANGES, unit_id("mappe 1"), NOWHERE), edit(CHANGES, ">saksdato<", ">format<")),
        version="3.1",
    ),
    Bad("N604", "change-of-other-field", before=edit(CHANGES, ">tittel<", ">saksdato<")),
    Bad("N603", "change-of-no-field", before=edit(CHANGES, ">saksdato<", ">sakstid<")),
)
