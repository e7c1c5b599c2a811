"""The rules of files and of references to metadata; each gives an entry, to be held against what is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from noarkit.errors import UnsafePath
from noarkit.packages.eark import spec
from noarkit.validate.eark.codes import SECTIONS, fixity_of
from noarkit.validate.eark.header import XLINK_HREF, XLINK_TYPE, Tell, is_moment, moment
from noarkit.validate.eark.inventory import Entry
from noarkit.validate.eark.media import is_media_type
from noarkit.validate.eark.places import Nowhere, Places
from noarkit.validate.eark.sight import Attributes, Document, FileSight, Section

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

    def __init__(self, document: Document, places: Places, tell: Tell, at_once: Callable[[str], bool]) -> None:
        self._document = document
        self._base = document.base
        self._places = places
        self._tell = tell
        self._at_once = at_once
        self.registered = False
        self._ways: set[str] = set()

    def of_file(self, file: FileSight) -> Entry | None:
        """The entry of a file; None where no file is there, which is told."""
        of, line, tell = file.attributes, file.line, self._tell
        if not of.keys() >= _ALL:
            for name in _NEEDED:
                if name not in of:
                    tell(_CODES[name], line, attribute=name)
        if not is_media_type(of.get("MIMETYPE", "text/plain"), registered=self.registered):
            tell("CSIP68", line, attribute="MIMETYPE", value=of["MIMETYPE"])
        if not is_moment(of.get("CREATED", "2000-01-01T00:00:00")):
            tell("CSIP70", line, attribute="CREATED", value=of["CREATED"])
        if len(file.locators) != 1:
            tell("CSIP76", line, count=len(file.locators))
            if not file.locators:
                return None
        locator = file.locators[0]
        if locator.get("LOCTYPE") != "URL":
            tell("CSIP77", line, attribute="LOCTYPE", value=locator.get("LOCTYPE"))
        if locator.get(XLINK_TYPE) != "simple":
            tell("CSIP78", line, attribute="xlink:type", value=locator.get(XLINK_TYPE))
        return self.found("file", locator.get(XLINK_HREF), of, line)

    def of_section(self, section: Section) -> list[Entry]:
        """The entries of a section of metadata."""
        parts = SECTIONS.get(section.kind)
        if parts is not None:
            self._section(section)
        entries = []
        for of, line in section.references:
            if parts is not None:
                self._reference(section.kind, of, line)
            origin = section.kind
            if origin == "digiprovMD" and is_premis(of):
                origin = "PREMIS"
            entry = self.found(origin, of.get(XLINK_HREF), of, line)
            if entry is not None:
                entries.append(entry)
        return entries

    def _section(self, section: Section) -> None:
        parts, of, line, tell = SECTIONS[section.kind], section.attributes, section.line, self._tell
        if not of.get("ID"):
            tell(parts.id, line, attribute="ID")
        if parts.created:
            moment(of.get("CREATED"), parts.created, line, tell)
        if of.get("STATUS") not in spec.STATUSES:
            tell(parts.status, line, attribute="STATUS", value=of.get("STATUS"))
        if len(section.references) != 1:
            tell(parts.reference, line, count=len(section.references))

    def _reference(self, kind: str, of: Attributes, line: int) -> None:
        parts, tell = SECTIONS[kind], self._tell
        wrong = (
            ("LOCTYPE", of.get("LOCTYPE") != "URL"),
            (XLINK_TYPE, of.get(XLINK_TYPE) != "simple"),
            (XLINK_HREF, not of.get(XLINK_HREF)),
            ("MDTYPE", of.get("MDTYPE") not in _MD_TYPES),
            ("MIMETYPE", not is_media_type(of.get("MIMETYPE", ""), registered=self.registered)),
            ("SIZE", "SIZE" not in of),
            ("CREATED", not is_moment(of.get("CREATED", ""))),
            ("CHECKSUM", "CHECKSUM" not in of),
            ("CHECKSUMTYPE", "CHECKSUMTYPE" not in of),
        )
        for number, (name, is_wrong) in enumerate(wrong):
            if is_wrong:
                tell(parts.of(number), line, attribute=name.replace(f"{spec.XLINK} ", "xlink:"), value=of.get(name))

    def found(self, origin: str, href: str | None, of: Attributes, line: int) -> Entry | None:
        """The file that a href names, with what is said of it; None where it is not there, which is told.

        A plain name that is read at once is not looked for here: whoever reads it sees whether it is there.
        """
        codes, tell = fixity_of(origin), self._tell
        if not href:
            if origin not in SECTIONS and origin != "PREMIS":
                tell(codes.there, line, attribute="xlink:href")
            return None
        algorithm, digest = self._digest(origin, of, line)
        size = self._size(origin, of, line)
        try:
            if digest and self._at_once(algorithm) and self._places.is_plain(href):
                name, file_id = self._base + href, of.get("ID", "")
                return Entry(name, origin, self._document.name, line, algorithm, digest, size, file_id)
            found = self._places.find(href, self._base)
        except UnsafePath as fault:
            tell("EARK-HREF", line, name=href, why=fault.data.get("why"), fault=fault.code)
            return None
        if isinstance(found, Nowhere):
            tell("EARK-REMOTE" if found.why == "remote" else codes.there, line, name=found.name)
            return None
        if found.way and found.way not in self._ways:
            self._ways.add(found.way)
            tell("EARK-SPELLING", line, name=href, why=found.way)
        if size >= 0 and not digest and size != found.size_bytes:
            tell(codes.size, line, name=found.name, expected=size, found=found.size_bytes)
        return Entry(found.name, origin, self._document.name, line, algorithm, digest, size, of.get("ID", ""))

    def _size(self, origin: str, of: Attributes, line: int) -> int:
        said = of.get("SIZE")
        if said is None:
            return -1
        if said.isdigit() and said.isascii() and len(said) < 20:
            return int(said)
        self._tell(fixity_of(origin).size, line, attribute="SIZE", value=said)
        return -1

    def _digest(self, origin: str, of: Attributes, line: int) -> tuple[str, str]:
        algorithm, digest = of.get("CHECKSUMTYPE", ""), of.get("CHECKSUM", "")
        length = _LENGTHS.get(algorithm)
        if length is not None and len(digest) == length and _HEX.fullmatch(digest) is not None:
            return algorithm, digest.lower()
        codes = fixity_of(origin)
        if digest and algorithm and codes.algorithm:
            if algorithm not in _CHECKSUM_TYPES:
                self._tell(codes.algorithm, line, attribute="CHECKSUMTYPE", value=algorithm)
            elif length is None:
                self._tell("EARK-ALGORITHM", line, value=algorithm)
            else:
                self._tell(codes.checksum, line, attribute="CHECKSUM", value=digest)
        elif digest == "" and "CHECKSUM" in of and codes.checksum:
            self._tell(codes.checksum, line, attribute="CHECKSUM", value="")
        return "", ""


def is_premis(of: Attributes) -> bool:
    """True for a reference to PREMIS: by its type, or by its name where a tool called it OTHER."""
    return of.get("MDTYPE", "").startswith("PREMIS") or "premis" in of.get(XLINK_HREF, "").rpartition("/")[2].lower()
