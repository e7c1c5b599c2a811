"""Makes a small package that keeps every rule, with every field of its version somewhere in it.

It is made from the tables of the XML, element by element, and shares nothing with what writes real deliveries.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from noarkit.forms.noark5 import spec
from noarkit.model.xml_model import Document, Element, Version, xml_model

ROOT = Path(__file__).resolve().parent.parent.parent
PDF = b"%PDF-1.4\n<x:xmpmeta xmlns:pdfaid='http://www.aiim.org/pdfa/ns/id/'><pdfaid:part>1</pdfaid:part></x:xmpmeta>\n"
VSM = "https://example.org/eiendom"
VSM_FILE = "eiendom.xsd"
VSM_SCHEMA = f"""<?xml version="1.0" encoding="UTF-8"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{VSM}" elementFormDefault="qualified">
  <xs:element name="gnr" type="xs:integer">
    <xs:annotation><xs:documentation>Gårdsnummer</xs:documentation></xs:annotation>
  </xs:element>
</xs:schema>
"""
VSM_CONTENT = f'<gnr xmlns="{VSM}">12</gnr>'
HIDDEN = "Skjerming tittel registrering - utvalgte ord"
STRUCTURAL = frozenset(
    {
        "arkiv",
        "arkivdel",
        "klassifikasjonssystem",
        "klasse",
        "mappe",
        "registrering",
        "dokumentbeskrivelse",
        "dokumentobjekt",
    }
)

VALUES: Mapping[str, str] = {
    "arkivstatus": "Avsluttet",
    "arkivdelstatus": "Avsluttet periode",
    "saksstatus": "Avsluttet",
    "journalstatus": "Arkivert",
    "dokumentstatus": "Dokumentet er ferdigstilt",
    "journalposttype": "Inngående dokument",
    "korrespondanseparttype": "Avsender",
    "dokumentmedium": "Elektronisk arkiv",
    "variantformat": "Arkivformat",
    "tilknyttetRegistreringSom": "Hoveddokument",
    "avskrivningsmaate": "Tatt til etterretning",
    "kassasjonsvedtak": "Bevares",
    "slettingstype": "Sletting av tidligere versjon",
    "skjermingDokument": "Skjerming av hele dokumentet",
    "skjermingMetadata": "Skjerming klasseID",
    "presedensStatus": "Gjeldende",
    "elektroniskSignaturVerifisert": "Signatur påført og verifisert",
    "grad": "Begrenset (sikkerhetsgrad)",
    "gradering": "Begrenset (sikkerhetsgrad)",
    "format": "pdf",
    "konvertertFraFormat": "docx",
    "konvertertTilFormat": "pdf",
    "sjekksumAlgoritme": "SHA-256",
    "arkivperiodeStartDato": "2019-01-01",
    "journalaar": "2019",
    "saksaar": "2019",
}


def unit_id(name: str) -> str:
    """The same UUID for the same name, always."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://example.org/{name}"))


@dataclass(slots=True)
class Draft:
    """A package as it is made: its files by path, and what its description shall say."""

    version: Version
    files: dict[str, bytes] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    schemas: list[str] = field(default_factory=list)

    def edit(self, name: str, old: str, new: str, count: int = 1) -> None:
        """Changes the text of a file; what is to be changed must be there."""
        text = self.files[name].decode()
        if old not in text:
            raise ValueError(f"{name} holds no {old!r}")
        self.files[name] = text.replace(old, new, count).encode()

    def write(self, folder: Path) -> None:
        """Writes it all."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def count(self, name: str, element: str) -> int:
        """How often an element begins in a file."""
        return len(re.findall(f"<(?:n5:)?{element}[ >]", self.files.get(name, b"").decode()))


def good_draft(version: Version = "5.0", schemas: Path | None = None) -> Draft:
    """A package that keeps every rule, not yet described: `seal` does that."""
    draft = Draft(version)
    structure = Structure(version)
    draft.files["arkivstruktur.xml"] = structure.text().encode()
    draft.files["endringslogg.xml"] = _change_log(version).encode()
    for journal in (spec.RUNNING_JOURNAL, spec.PUBLIC_JOURNAL):
        draft.files[f"{journal}.xml"] = _journal(version, journal, structure.posts).encode()
    draft.files |= structure.documents
    folder = schemas or ROOT / "schemas" / "noark5" / version
    for name in spec.schema_files(version):
        draft.files[name] = (folder / name).read_bytes()
    draft.files[VSM_FILE] = VSM_SCHEMA.encode()
    draft.schemas.append(VSM_FILE)
    draft.said = {
        "systemType": "Sakarkiv (Noark 5)",
        "systemName": "Eksempel",
        "archive": "Eksempelarkivet",
        "startDate": "2019-01-01",
        "endDate": "2019-12-31",
        "type": "Noark 5",
        "version": version,
        "inngaaendeSkille": "skarpt",
        "utgaaendeSkille": "skarpt",
        "inneholderSkjermetInformasjon": "true",
        "omfatterDokumenterSomErKassert": "true",
        "inneholderDokumenterSomSkalKasseres": "true",
        "inneholderVirksomhetsspesifikkeMetadata": "true",
    }
    return draft


class Structure:
    """arkivstruktur.xml: one arkiv with two arkivdeler, classes, case files, meetings and letters."""

    def __init__(self, version: Version) -> None:
        self._model = xml_model(version)
        self._version = version
        self.posts: list[dict[str, str]] = []
        self.documents: dict[str, bytes] = {}

    def text(self) -> str:
        """The whole document."""
        classes = [
            self._group("klasse", {"systemID": unit_id("klasse 1"), "klasseID": "1"}, klasse=[self._case_class()]),
            self._group("klasse", {"systemID": unit_id("klasse 2"), "klasseID": "2"}, mappe=self._meetings()),
            self._group("klasse", {"systemID": unit_id("klasse 3"), "klasseID": "3"}, registrering=[self._record()]),
        ]
        ids = {"systemID": unit_id("klassifikasjonssystem")}
        system = self._group("klassifikasjonssystem", ids, klasse=classes)
        series = [
            self._group("arkivdel", {"systemID": unit_id("arkivdel 1")}, klassifikasjonssystem=[system]),
            self._group("arkivdel", {"systemID": unit_id("arkivdel 2")}, mappe=[self._folder("mappe 9")]),
        ]
        attributes = f' xmlns:xsi="{spec.XSI_NAMESPACE}"'
        text = self._group("arkiv", {"systemID": unit_id("arkiv")}, arkivdel=series)
        return _declared(spec.STRUCTURE, "arkiv", attributes, text)

    def _case_class(self) -> str:
        first = self._folder("mappe 1", "saksmappe", [self._post(1), self._post(2, hidden=True)])
        letter = self._post(3, case_file="2", sent=True)
        second = self._folder("mappe 2", "saksmappe", [letter, *self._other_records()])
        return self._group("klasse", {"systemID": unit_id("klasse 1.1"), "klasseID": "1.1"}, mappe=[first, second])

    def _meetings(self) -> list[str]:
        records = [self._typed("registrering", "moeteregistrering", f"moeteregistrering {n}") for n in (1, 2)]
        return [
            self._folder("moetemappe 1", "moetemappe", records),
            self._folder("moetemappe 2", "moetemappe", [self._typed("registrering", "moeteregistrering", "møte 2")]),
        ]

    def _other_records(self) -> list[str]:
        kind = "arkivnotat" if self._version == "5.0" else "basisregistrering"
        return [self._typed("registrering", kind, "notat 1")]

    def _folder(self, name: str, kind: str = "", records: Sequence[str] = ()) -> str:
        ids = {"systemID": unit_id(name), "mappeID": name, "sakssekvensnummer": name.rpartition(" ")[2]}
        return self._group("mappe", ids, kind, registrering=list(records) or [self._record(f"registrering i {name}")])

    def _record(self, name: str = "registrering 1") -> str:
        return self._typed("registrering", "", name)

    def _typed(self, element: str, kind: str, name: str) -> str:
        ids = {"systemID": unit_id(name), "registreringsID": f"R {name}"}
        return self._group(element, ids, kind, dokumentbeskrivelse=[self._document(name)])

    def _post(self, number: int, *, case_file: str = "1", hidden: bool = False, sent: bool = False) -> str:
        name = f"journalpost {number}"
        ids = {
            "systemID": unit_id(name),
            "tittel": f"Brev nummer {number}",
            "offentligTittel": "Brev *****" if hidden else f"Brev nummer {number}",
            "registreringsID": f"R {name}",
            "journalsekvensnummer": str(number),
            "journalpostnummer": str(number),
            "journaldato": f"2019-03-0{number}",
            "journalposttype": "Utgående dokument" if sent else "Inngående dokument",
        }
        kind = "Mottaker" if sent else "Avsender"
        told = {"hidden": "1" if hidden else "", "sakssekvensnummer": case_file, "korrespondanseparttype": kind}
        self.posts.append({**ids, **told})
        documents = [self._document(name), self._destroyed(name)]
        text = self._group("registrering", ids, "journalpost", dokumentbeskrivelse=documents)
        if hidden:
            text = text.replace("<skjermingMetadata>Skjerming klasseID<", f"<skjermingMetadata>{HIDDEN}<")
        return text.replace(">Avsender<", ">Mottaker<") if sent else text

    def _document(self, name: str) -> str:
        path = f"{spec.DOCUMENT_FOLDER}/{unit_id(name)}.pdf"
        content = PDF + name.encode()
        self.documents[path] = content
        ids = {
            "systemID": unit_id(f"objekt {name}"),
            "referanseDokumentfil": path,
            "sjekksum": hashlib.sha256(content).hexdigest(),
            "filstoerrelse": str(len(content)),
        }
        own = self._group("dokumentobjekt", ids)
        return self._group(
            "dokumentbeskrivelse", {"systemID": unit_id(f"dokument {name}")}, dokumentobjekt=[own], utfoertKassasjon=[]
        )

    def _destroyed(self, name: str) -> str:
        ids = {"systemID": unit_id(f"kassert {name}"), "tilknyttetRegistreringSom": "Vedlegg", "dokumentnummer": "2"}
        return self._group("dokumentbeskrivelse", ids, dokumentobjekt=[])

    def _group(self, name: str, values: Mapping[str, str], kind: str = "", **inner: list[str]) -> str:
        return _group(self._model.structure, name, values, kind, inner)


def _group(
    document: Document, name: str, values: Mapping[str, str], kind: str, inner: Mapping[str, list[str]], owner: str = ""
) -> str:
    parts = []
    owner = values.get("systemID", owner)
    for element in document.groups[kind or name].elements:
        if element.name in inner and element.group is not None:
            parts.extend(inner[element.name])
        elif element.group is None:
            parts.append(_leaf(element, values, owner))
        elif document.name != spec.STRUCTURE or element.name not in STRUCTURAL:
            parts.append(_group(document, element.group, {}, "", {}, owner))
    type_ = f' xsi:type="{kind}"' if kind else ""
    return f"<{name}{type_}>\n{''.join(parts)}</{name}>\n"


def _leaf(element: Element, values: Mapping[str, str], owner: str) -> str:
    name = element.name
    if element.kind == "any":
        return f"<{name}>{VSM_CONTENT}</{name}>\n"
    value = values.get(name) or _reference(name, owner) or VALUES.get(name) or _by_kind(element)
    return f"<{name}>{escape(value)}</{name}>\n"


_PLACES: Mapping[str, tuple[str, str]] = {
    "referanseArkivdel": ("arkivdel 2", "arkivdel 1"),
    "referanseForloeper": ("arkivdel 1", "arkivdel 2"),
    "referanseArvtaker": ("arkivdel 2", "arkivdel 1"),
    "referanseSekundaerKlassifikasjon": ("klasse 2", "klasse 3"),
    "referanseTilKlasse": ("klasse 1", "klasse 2"),
    "referanseTilMappe": ("mappe 2", "mappe 1"),
    "referanseTilRegistrering": ("journalpost 1", "journalpost 2"),
    "referanseForrigeMoete": ("moetemappe 1", "moetemappe 2"),
    "referanseNesteMoete": ("moetemappe 2", "moetemappe 1"),
    "referanseTilMoeteregistrering": ("moeteregistrering 1", "moeteregistrering 2"),
    "referanseFraMoeteregistrering": ("moeteregistrering 2", "moeteregistrering 1"),
    "referanseAvskrivesAvJournalpost": ("journalpost 3", "journalpost 1"),
}
"""What each reference leads to, and what that of the unit itself leads to."""


def _reference(name: str, owner: str) -> str:
    """Leads to another unit than the one that it stands in."""
    return next((one for one in map(unit_id, _PLACES.get(name, ())) if one != owner), "")


def _by_kind(element: Element) -> str:
    if element.kind in ("date", "moment"):
        return "2019-12-31" if "Slutt" in element.name else "2019-03-04"
    if element.kind == "dateTime":
        return "2019-06-05T10:00:00" if element.name.startswith("avsluttet") else "2019-03-04T10:00:00"
    if element.kind in ("integer", "size"):
        return "1"
    if element.name.endswith(("Av", "Navn", "Til", "Fra")) or element.name in ("forfatter", "kontaktperson"):
        return "Kari Nordmann"
    return element.codes[0] if element.codes else f"Et {element.name}"


def _change_log(version: Version) -> str:
    rows = []
    changes = (
        ("journalpost 1", "tittel", "Brev", "Brev nummer 1"),
        ("mappe 1", "saksdato", "2019-03-01", "2019-03-04"),
    )
    for name, changed, before, after in changes:
        rows.append(
            f"<endring>\n<referanseArkivenhet>{unit_id(name)}</referanseArkivenhet>\n"
            f"<referanseMetadata>{changed}</referanseMetadata>\n<endretDato>2019-04-01T12:00:00</endretDato>\n"
            f"<endretAv>Ola Nordmann</endretAv>\n<tidligereVerdi>{before}</tidligereVerdi>\n"
            f"<nyVerdi>{after}</nyVerdi>\n"
            "</endring>\n"
        )
    return _declared(spec.CHANGE_LOG, "endringslogg", "", f"<endringslogg>\n{''.join(rows)}</endringslogg>\n")


def _journal(version: Version, journal: str, posts: Sequence[Mapping[str, str]]) -> str:
    document = xml_model(version).documents[journal]
    head = {
        "journalStartDato": posts[0]["journaldato"],
        "journalSluttDato": posts[-1]["journaldato"],
        "antallJournalposter": str(len(posts)),
    }
    parts = [_group(document, "journalhode", head, "", {})]
    for post in posts:
        public = journal == spec.PUBLIC_JOURNAL
        party = {"korrespondansepart": [_group(document, "korrespondansepart", post, "", {})]}
        number = post["sakssekvensnummer"]
        case_file = {"sakssekvensnummer": number, "mappeID": f"mappe {number}"}
        inner = {
            "klasse": [_group(document, "klasse", {"klasseID": "*****" if public else "1.1"}, "", {})],
            "saksmappe": [_group(document, "saksmappe", case_file, "", {})],
            "journalpost": [_group(document, "journalpost", post, "", party)],
        }
        parts.append(_group(document, "journalregistrering", {}, "", inner))
    return _declared(journal, journal, "", f"<{journal}>\n{''.join(parts)}</{journal}>\n")


def _declared(document: str, root: str, attributes: str, text: str) -> str:
    opened = f'<{root} xmlns="{spec.namespace(document)}"{attributes}>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opened}{text[len(root) + 2 :]}'
