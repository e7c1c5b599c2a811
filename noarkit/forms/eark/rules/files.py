"""Checks files and metadata references of a METS document, and makes an entry of each for the check of its bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from noarkit.errors import UnsafePath
from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.codes import SECTIONS, fixity_of
from noarkit.forms.eark.rules.header import XLINK_HREF, XLINK_TYPE, AddFinding, is_moment, moment
from noarkit.forms.eark.rules.inventory import Entry
from noarkit.forms.eark.rules.media import is_media_type
from noarkit.forms.eark.rules.places import Document, MissingFile, Places
from noarkit.forms.metadata.file_facts import size_of_text
from noarkit.forms.metadata.mets_model import Attributes, FileElement, Section

_NEEDED = ("ID", "MIMETYPE", "SIZE", "CREATED", "CHECKSUM", "CHECKSUMTYPE")
_CODES: Mapping[str, str] = {name: f"CSIP{67 + number}" for number, name in enumerate(_NEEDED)}
_ALL = frozenset(_NEEDED)
_LENGTHS = {"MD5": 32, "SHA-1": 40, "SHA-256": 64, "SHA-384": 96, "SHA-512": 128}
_HEX = re.compile(r"[0-9A-Fa-f]+")
_CHECKSUM_TYPES = frozenset(spec.CHECKSUM_TYPES)
_MD_TYPES = frozenset(spec.MD_TYPES)


class Entries:
    """Makes entries of what a document says of its files, and finds each file.

    `registered` is set where media types must be those of IANA's list.
    """

    def __init__(
        self, document: Document, places: Places, add_finding: AddFinding, in_passing: Callable[[str], bool]
    ) -> None:
        self._document = document
        self._base = document.base
        self._places = places
        self._add_finding = add_finding
        self._in_passing = in_passing
        self.registered = False
        self._reported_spellings: set[str] = set()

    def of_file(self, file: FileElement) -> Entry | None:
        """The entry of a file; None if no file is there, which is told."""
        attributes, line, add_finding = file.attributes, file.line, self._add_finding
        if not attributes.keys() >= _ALL:
            for name in _NEEDED:
                if name not in attributes:
                    add_finding(_CODES[name], line, attribute=name)
        if not is_media_type(attributes.get("MIMETYPE", "text/plain"), registered=self.registered):
            add_finding("CSIP68", line, attribute="MIMETYPE", value=attributes["MIMETYPE"])
        if not is_moment(attributes.get("CREATED", "2000-01-01T00:00:00")):
            add_finding("CSIP70", line, attribute="CREATED", value=attributes["CREATED"])
        if len(file.locators) != 1:
            add_finding("CSIP76", line, count=len(file.locators))
            if not file.locators:
                return None
        locator = file.locators[0]
        if locator.get("LOCTYPE") != "URL":
            add_finding("CSIP77", line, attribute="LOCTYPE", value=locator.get("LOCTYPE"))
        if locator.get(XLINK_TYPE) != "simple":
            add_finding("CSIP78", line, attribute="xlink:type", value=locator.get(XLINK_TYPE))
        return self.find_entry("file", locator.get(XLINK_HREF), attributes, line)

    def of_section(self, section: Section) -> list[Entry]:
        """The entries of a section of metadata."""
        parts = SECTIONS.get(section.kind)
        if parts is not None:
            self._section(section)
        entries = []
        for attributes, line in section.references:
            if parts is not None:
                self._reference(section.kind, attributes, line)
            origin = section.kind
            if origin == "digiprovMD" and is_premis(attributes):
                origin = "PREMIS"
            entry = self.find_entry(origin, attributes.get(XLINK_HREF), attributes, line)
            if entry is not None:
                entries.append(entry)
        return entries

    def _section(self, section: Section) -> None:
        parts, attributes, line, add_finding = (
            SECTIONS[section.kind],
            section.attributes,
            section.line,
            self._add_finding,
        )
        if not attributes.get("ID"):
            add_finding(parts.id, line, attribute="ID")
        if parts.created:
            moment(attributes.get("CREATED"), parts.created, line, add_finding)
        if attributes.get("STATUS") not in spec.STATUSES:
            add_finding(parts.status, line, attribute="STATUS", value=attributes.get("STATUS"))
        if len(section.references) != 1:
            add_finding(parts.reference, line, count=len(section.references))

    def _reference(self, kind: str, attributes: Attributes, line: int) -> None:
        parts, add_finding = SECTIONS[kind], self._add_finding
        problems = (
            ("LOCTYPE", attributes.get("LOCTYPE") != "URL"),
            (XLINK_TYPE, attributes.get(XLINK_TYPE) != "simple"),
            (XLINK_HREF, not attributes.get(XLINK_HREF)),
            ("MDTYPE", attributes.get("MDTYPE") not in _MD_TYPES),
            ("MIMETYPE", not is_media_type(attributes.get("MIMETYPE", ""), registered=self.registered)),
            ("SIZE", "SIZE" not in attributes),
            ("CREATED", not is_moment(attributes.get("CREATED", ""))),
            ("CHECKSUM", "CHECKSUM" not in attributes),
            ("CHECKSUMTYPE", "CHECKSUMTYPE" not in attributes),
        )
        for number, (name, is_wrong) in enumerate(problems):
            if is_wrong:
                add_finding(
                    parts.of(number),
                    line,
                    attribute=name.replace(f"{spec.XLINK} ", "xlink:"),
                    value=attributes.get(name),
                )

    def find_entry(self, origin: str, href: str | None, attributes: Attributes, line: int) -> Entry | None:
        """The file that a href names, with what is said of it; None if it is not there, which is told.

        A plain name that is read at once is not looked for here: whoever reads it sees whether it is there.
        """
        codes, add_finding = fixity_of(origin), self._add_finding
        if not href:
            if origin not in SECTIONS and origin != "PREMIS":
                add_finding(codes.presence, line, attribute="xlink:href")
            return None
        algorithm, digest = self._digest(origin, attributes, line)
        size = self._size(origin, attributes, line)
        try:
            if digest and self._in_passing(algorithm) and self._places.is_plain(href):
                name, file_id = self._base + href, attributes.get("ID", "")
                return Entry(name, origin, self._document.name, line, algorithm, digest, size, file_id)
            file = self._places.find(href, self._base)
        except UnsafePath as fault:
            add_finding("EARK-HREF", line, name=href, why=fault.data.get("why"), fault=fault.code)
            return None
        if isinstance(file, MissingFile):
            add_finding("EARK-REMOTE" if file.reason == "remote" else codes.presence, line, name=file.name)
            return None
        if file.spelling and file.spelling not in self._reported_spellings:
            self._reported_spellings.add(file.spelling)
            add_finding("EARK-SPELLING", line, name=href, why=file.spelling)
        if size >= 0 and not digest and size != file.size_bytes:
            add_finding(codes.size, line, name=file.name, expected=size, found=file.size_bytes)
        return Entry(file.name, origin, self._document.name, line, algorithm, digest, size, attributes.get("ID", ""))

    def _size(self, origin: str, attributes: Attributes, line: int) -> int:
        size_text = attributes.get("SIZE")
        if size_text is None:
            return -1
        if (size := size_of_text(size_text)) is not None:
            return size
        self._add_finding(fixity_of(origin).size, line, attribute="SIZE", value=size_text)
        return -1

    def _digest(self, origin: str, attributes: Attributes, line: int) -> tuple[str, str]:
        algorithm, digest = attributes.get("CHECKSUMTYPE", ""), attributes.get("CHECKSUM", "")
        length = _LENGTHS.get(algorithm)
        if length is not None and len(digest) == length and _HEX.fullmatch(digest) is not None:
            return algorithm, digest.lower()
        codes = fixity_of(origin)
        if digest and algorithm and codes.algorithm:
            if algorithm not in _CHECKSUM_TYPES:
                self._add_finding(codes.algorithm, line, attribute="CHECKSUMTYPE", value=algorithm)
            elif length is None:
                self._add_finding("EARK-ALGORITHM", line, value=algorithm)
            else:
                self._add_finding(codes.checksum, line, attribute="CHECKSUM", value=digest)
        elif digest == "" and "CHECKSUM" in attributes and codes.checksum:
            self._add_finding(codes.checksum, line, attribute="CHECKSUM", value="")
        return "", ""


def is_premis(attributes: Attributes) -> bool:
    """True for a reference to PREMIS: by its type, or by its name where a tool called it OTHER."""
    return (
        attributes.get("MDTYPE", "").startswith("PREMIS")
        or "premis" in attributes.get(XLINK_HREF, "").rpartition("/")[2].lower()
    )
