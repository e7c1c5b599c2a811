"""Checks one METS document while it is being read, and collects the entries that it lists."""

from __future__ import annotations

from collections.abc import Callable

from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.codes import FIXITY_CODES, LENIENT, PACKAGE_ONLY
from noarkit.forms.eark.rules.files import Entries, is_premis
from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.header import (
    is_content_type,
    judge_header,
    judge_kind,
    kind_of,
    other_content_type,
    version_of,
)
from noarkit.forms.eark.rules.inventory import Entry, Inventory
from noarkit.forms.eark.rules.places import Document, Places
from noarkit.forms.eark.rules.structure import Groups, Maps
from noarkit.forms.metadata.mets_model import (
    CONTENT_TYPE,
    FORMAT_KEYS,
    FORMAT_NAME,
    FORMAT_REGISTRIES,
    FORMAT_VERSION,
    OTHER_CONTENT_TYPE,
    SIP_SPELLINGS,
    Attributes,
    Division,
    FileElement,
    Group,
    Header,
    MetsHandler,
    Section,
    StructMap,
)

_IDS = 1_000
_FILE_ATTRIBUTE_CODES = (("CSIP73", ("OWNERID",)), ("CSIP74", ("ADMID",)), ("CSIP75", ("DMDID",)))
_FORMATS = (
    ("SIP32", (FORMAT_NAME,)),
    ("SIP33", (FORMAT_VERSION,)),
    ("SIP34", FORMAT_REGISTRIES),
    ("SIP35", FORMAT_KEYS),
)
_FORMAT_CODES = {f"{space} {name}": code for code, names in _FORMATS for name in names for space in SIP_SPELLINGS}


def never_in_passing(algorithm: str) -> bool:
    """No file is read at once."""
    return False


class Judge(MetsHandler):
    """Watches one document. `in_passing` says of an algorithm whether a file's checksum by it is computed
    in passing.

    `latest` is the last day on which anything can have been changed; empty if the day is unknown.
    """

    def __init__(
        self,
        document: Document,
        inventory: Inventory,
        sink: FindingSink,
        *,
        requested_version: str = "",
        latest: str = "",
        in_passing: Callable[[str], bool] = never_in_passing,
    ) -> None:
        self.document = document
        self.version: spec.Version = spec.DEFAULT_VERSION
        self.kind = ""
        self.object_id = ""
        self._inventory = inventory
        self._sink = sink
        self._requested_version = requested_version
        self._latest = latest
        self._unversioned = False
        self._entries = Entries(document, Places(inventory), self.add_finding, in_passing)
        self._rows: list[Entry] = []
        self._ids: list[str] = []
        self._groups = Groups()
        self._maps = Maps(self._groups, self.add_finding, self._find_pointed)
        self._counts: dict[str, int] = {}
        self._files = 0
        self._file_attributes: set[str] = set()
        self._group_attributes: set[str] = set()
        self._provenance: list[Attributes] = []
        self._current = False

    def add_finding(self, code: str, line: int | None = None, **data: object) -> None:
        """Takes down a broken rule as it counts at the level of this document."""
        level = self.document.level
        if level == "nested" and code not in FIXITY_CODES and not code.startswith("EARK-"):
            return
        if code == "AIP3" and self.kind != "AIP":
            return
        if level == "representation" and code in PACKAGE_ONLY:
            return
        if level == "representation" and code in LENIENT:
            self._sink.hit("EARK-REPRESENTATION", line, rule=code)
        else:
            self._sink.hit(code, line, **data)

    def take(self) -> list[Entry]:
        """The entries that came since this was asked last."""
        rows, self._rows = self._rows, []
        if len(self._ids) > _IDS:
            self._keep_ids()
        return rows

    def header(self, header: Header) -> None:
        """Everything that the top of a document is held to."""
        self.object_id = header.root.get("OBJID", "")
        self.version = version_of(header, self._requested_version)
        self._unversioned = not self._requested_version and not spec.version_of_profile(header.root.get("PROFILE", ""))
        older = self._unversioned and header.root.get("PROFILE") == spec.CSIP_PROFILE
        self._entries.registered = older or self.version != "2.2.0"
        judge_header(header, self.add_finding, latest=self._latest)
        level = self.document.level
        if level == "representation" and self.object_id:
            folder = self.document.base.rstrip("/").rpartition("/")[2]
            if not same_name(self.object_id, folder):
                self.add_finding("CSIP1", header.line, attribute="OBJID", value=self.object_id)
        if level == "package":
            self.kind = kind_of(header)
            if self.kind:
                judge_kind(header, self.kind, self.version, self.add_finding)

    def section(self, section: Section) -> None:
        """A section of metadata, and the file that it refers to."""
        self._counts[section.kind] = self._counts.get(section.kind, 0) + 1
        self._rows.extend(self._entries.of_section(section))
        section_id, status = section.attributes.get("ID", ""), section.attributes.get("STATUS", "CURRENT")
        if section_id:
            self._ids.append(section_id)
        if section.kind == "digiprovMD":
            self._provenance.extend(
                attributes for attributes, _ in section.references[: 10 if len(self._provenance) < _IDS else 0]
            )
        named_by = "DMDID" if section.kind == "dmdSec" else "ADMID"
        self._groups.add_section(named_by, section_id, current=status == "CURRENT")
        self._current |= section.kind == "dmdSec" and section.attributes.get("STATUS") == "CURRENT"

    def administrative(self, attributes: Attributes, line: int) -> None:
        """There is one amdSec, which may be named by its own id."""
        self._groups.add_section("ADMID", attributes.get("ID", ""), current=False)
        self._counts["amdSec"] = self._counts.get("amdSec", 0) + 1
        if self._counts["amdSec"] > 1:
            self.add_finding("CSIP31", line, count=self._counts["amdSec"])

    def file_section(self, attributes: Attributes, line: int) -> None:
        """There is one file section."""
        self._counts["fileSec"] = self._counts.get("fileSec", 0) + 1
        if self._counts["fileSec"] > 1:
            self.add_finding("CSIP58", line, count=self._counts["fileSec"])
        if not attributes.get("ID"):
            self.add_finding("CSIP59", line, attribute="ID")

    def group(self, group: Group) -> None:
        """A file group."""
        attributes, line, use = group.attributes, group.line, group.attributes.get("USE", "")
        files = group.files + group.files_inside
        group_id = attributes.get("ID", "")
        if not use:
            self.add_finding("CSIP64", line, attribute="USE")
        elif self.document.level == "package" and files and not self._inventory.has_folder(use):
            self.add_finding("CSIP64", line, name=use)
        if not group_id:
            self.add_finding("CSIP65", line, attribute="ID")
        else:
            self._ids.append(group_id)
        if not files:
            self.add_finding("CSIP66", line, name=use or group_id)
        self._groups.add(use, group_id, group.use)
        for stranger in self._groups.unknown_ids("ADMID", attributes.get("ADMID", ""))[:1]:
            self.add_finding("CSIP61", line, value=stranger)
        self._group_attributes.update(attributes)
        self._use(use, line)
        if use == spec.LABEL_REPRESENTATIONS and self.document.level == "package" and self._unversioned:
            self.version = "2.0.4"
        if use.startswith(spec.LABEL_REPRESENTATIONS):
            content = attributes.get(CONTENT_TYPE)
            if content is None or not is_content_type(content):
                self.add_finding("CSIP62", line, attribute="csip:CONTENTINFORMATIONTYPE", value=content)
            if content == "OTHER" and not attributes.get(OTHER_CONTENT_TYPE):
                self.add_finding("CSIP63", line, attribute="csip:OTHERCONTENTINFORMATIONTYPE")
        other_content_type(attributes, "CSIP63", line, self.add_finding)

    def _use(self, use: str, line: int) -> None:
        labels = ((spec.LABEL_DOCUMENTATION, "CSIP60"), (spec.LABEL_SCHEMAS, "CSIP113"))
        for label, code in (*labels, (spec.LABEL_REPRESENTATIONS, "CSIP114")):
            if use.lower().startswith(label.lower()) and not use.startswith(label):
                self.add_finding(code, line, attribute="USE", value=use)

    def file(self, file: FileElement, group: Group) -> None:
        """A file."""
        self._files += 1
        self._file_attributes.update(file.attributes)
        if "" in file.attributes.values():
            self._empty(file)
        entry = self._entries.of_file(file)
        if entry is not None:
            self._rows.append(entry)
        elif "ID" in file.attributes:
            self._ids.append(file.attributes["ID"])

    def _empty(self, file: FileElement) -> None:
        """What is said of a format is more than nothing."""
        for name, value in file.attributes.items():
            code = _FORMAT_CODES.get(name) if not value else None
            if code is not None:
                self.add_finding(code, file.line, empty=name.replace(f"{spec.SIP} ", "sip:"))

    def division(self, struct_map: StructMap, division: Division) -> None:
        """A division of a structural map."""
        if "ID" in division.attributes:
            self._ids.append(division.attributes["ID"])
        self._maps.division(struct_map, division)

    def structure(self, struct_map: StructMap) -> None:
        """A structural map."""
        self._ids.extend(
            attributes["ID"]
            for attributes in (struct_map.attributes, *(top for top, _ in struct_map.tops))
            if "ID" in attributes
        )
        self._maps.structure(struct_map, self.object_id, top_is_named=self.version == "2.0.4")

    def finish(self, *, documents: int) -> None:
        """The end; `documents` = how many METS documents of representations the package has."""
        self._maps.finish(documents=documents)
        self._keep_ids()
        self._absent()
        if self.kind in ("AIP", "DIP") and not self._current:
            self.add_finding("AIPM4" if self.kind == "AIP" else "DIP4")
        if self.kind == "AIP":
            self._archival()

    def _absent(self) -> None:
        """What is not there at all, told once for the whole document."""
        counts, inventory, base = self._counts, self._inventory, self.document.base
        if not counts.get("dmdSec"):
            self.add_finding("CSIP17")
        if not counts.get("amdSec"):
            self.add_finding("CSIP31", count=0)
        else:
            for kind, code in (("digiprovMD", "CSIP32"), ("rightsMD", "CSIP45")):
                if not counts.get(kind):
                    self.add_finding(code)
        if not counts.get("fileSec"):
            self.add_finding("CSIP58", count=0)
        for folder, label, code in (
            (spec.DOCUMENTATION, spec.LABEL_DOCUMENTATION, "CSIP60"),
            (spec.SCHEMAS, spec.LABEL_SCHEMAS, "CSIP113"),
            (spec.REPRESENTATIONS, spec.LABEL_REPRESENTATIONS, "CSIP114"),
        ):
            if not self._groups.has(label) and inventory.has_below(f"{base}{folder}/"):
                self.add_finding(code)
        if self._files and "ADMID" not in self._group_attributes:
            self.add_finding("CSIP61")
        formats = _FORMATS if self.kind == "SIP" else ()
        for code, names in (*_FILE_ATTRIBUTE_CODES, *formats):
            attributes = {name.rpartition(" ")[2] for name in self._file_attributes}
            if self._files and attributes.isdisjoint(names):
                self.add_finding(code, attribute=names[0])

    def _archival(self) -> None:
        if not self._provenance:
            self.add_finding("AIPM5")
            return
        premis = [
            attributes
            for attributes in self._provenance
            if is_premis(attributes) and attributes.get("MDTYPE", "").startswith("PREMIS")
        ]
        if not premis:
            self.add_finding("AIPM6")
        elif not any(attributes.get("MDTYPEVERSION", "").startswith("3") for attributes in premis):
            self.add_finding("AIPM7", attribute="MDTYPEVERSION", value=premis[0].get("MDTYPEVERSION"))

    def _find_pointed(self, href: str | None, line: int) -> str | None:
        entry = self._entries.find_entry("mptr", href, {}, line)
        if entry is None:
            return None
        self._rows.append(entry)
        return entry.name

    def _keep_ids(self) -> None:
        self._inventory.take_ids(self.document.name, self._ids)
        self._ids.clear()


def same_name(object_id: str, folder: str) -> bool:
    """True if a folder is called as an id, signs that no folder may have replaced by any other."""
    return _portable_name(object_id) == _portable_name(folder)


def _portable_name(name: str) -> str:
    return "".join(character if character.isalnum() or character in ".-" else "_" for character in name)
