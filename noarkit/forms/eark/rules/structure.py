"""Checks structural maps: their divisions, labels and pointers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote

from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.header import XLINK_HREF, XLINK_TITLE, XLINK_TYPE, AddFinding
from noarkit.forms.metadata.mets_model import Attributes, Division, StructMap

_MOST_NOTES = 1_000
_TITLES = "titles"
_FIXED: Mapping[str, tuple[str, str, str, str]] = {
    spec.LABEL_METADATA: ("CSIP89", "CSIP90", "", ""),
    spec.LABEL_DOCUMENTATION: ("CSIP94", "CSIP95", "CSIP96", "CSIP116"),
    spec.LABEL_SCHEMAS: ("CSIP98", "CSIP99", "CSIP100", "CSIP118"),
    spec.LABEL_REPRESENTATIONS: ("CSIP102", "CSIP103", "CSIP104", "CSIP119"),
}
_FAMILIES = ("parent aip", "child aips")
_ONCE: Mapping[str, tuple[str, ...]] = {
    spec.LABEL_METADATA: ("CSIP88", "CSIP90"),
    spec.LABEL_DOCUMENTATION: ("CSIP93",),
    spec.LABEL_SCHEMAS: ("CSIP97",),
    spec.LABEL_REPRESENTATIONS: ("CSIP101",),
}
"""The rules by which there is one such division."""


class Groups:
    """The file groups of a document by their use, and the ids of metadata, of as many as are compared."""

    MOST = 200_000

    def __init__(self) -> None:
        self.ids: dict[str, set[str]] = {label.lower(): set() for label in _FIXED}
        self.inner_ids: dict[str, set[str]] = {label: set() for label in self.ids}
        self.uses: dict[str, int] = {}
        self.current: dict[str, set[str]] = {"ADMID": set(), "DMDID": set()}
        self.sections: dict[str, set[str]] = {"ADMID": set(), "DMDID": set()}

    def add(self, stated_use: str, group_id: str, use: str) -> None:
        """Takes a group. One that states no use has that of the group around it, and is named with it."""
        first = use.partition("/")[0].lower()
        ids = self.ids if stated_use else self.inner_ids
        if stated_use:
            self.uses[first] = self.uses.get(first, 0) + 1
        if group_id and first in ids and len(ids[first]) < self.MOST:
            ids[first].add(group_id)

    def add_section(self, attribute: str, section_id: str, *, current: bool) -> None:
        """Takes a section of metadata, which others name by that attribute."""
        for ids in (self.sections[attribute], self.current[attribute] if current else set[str]()):
            if section_id and len(ids) < self.MOST:
                ids.add(section_id)

    def has(self, use: str) -> bool:
        """True if groups of that use are there, in whatever case."""
        return use.lower() in self.uses

    def has_id(self, use: str, group_id: str | None) -> bool:
        """True for the id of a group of that use; where there are too many to tell, for all."""
        ids, inner_ids = self.ids[use.lower()], self.inner_ids[use.lower()]
        return group_id in ids or group_id in inner_ids or max(len(ids), len(inner_ids)) >= self.MOST

    def unnamed_groups(self, use: str, named_ids: set[str]) -> list[str]:
        """The ids of the groups of that use that are not among those."""
        return sorted(self.ids[use.lower()] - named_ids)

    def unknown_ids(self, attribute: str, attribute_text: str) -> list[str]:
        """Those of the ids in an attribute that belong to no section of that kind."""
        section_ids = self.sections[attribute]
        return (
            []
            if len(section_ids) >= self.MOST
            else [element_id for element_id in attribute_text.split() if element_id not in section_ids]
        )


class Maps:
    """Judges the maps of one document. `point` looks where a METS pointer leads, and is told of each."""

    def __init__(self, groups: Groups, add_finding: AddFinding, point: Callable[[str | None, int], str | None]) -> None:
        self._groups = groups
        self._add_now = add_finding
        self._point = point
        self._notes: list[tuple[str, int, dict[str, object]]] = []
        self._label_counts: dict[str, int] = {}
        self._pointers: dict[str, set[str]] = {}
        self._lines: dict[str, int] = {}
        self._representations = 0
        self._with_mets = 0
        self._maps = 0
        self._named = 0
        self._judged_map: StructMap | None = None

    def division(self, struct_map: StructMap, division: Division) -> None:
        """A division below the top of any map."""
        if struct_map.attributes.get("LABEL", "").lower() in _FAMILIES:
            return
        if not self._is_judged(struct_map):
            for pointer in division.pointers:
                self._resolve_pointer(pointer, division.line)
            return
        label = division.label.strip().lower()
        fixed_label = next((name for name in _FIXED if name.lower() == label), None)
        if fixed_label is not None:
            self._judge_fixed(fixed_label, division)
            if division.pointers:
                self._nested(division)
        elif label.startswith("representations/") or any(
            _is_representation(candidate) for candidate in division.pointers
        ):
            self._representation(division)
        else:
            for pointer in division.pointers:
                self._resolve_pointer(pointer, division.line)

    def structure(self, struct_map: StructMap, object_id: str, *, top_is_named: bool) -> None:
        """A map ended. `top_is_named` = its top division is called as the package."""
        self._maps += 1
        if not self._is_judged(struct_map):
            return
        self._judged_map = struct_map
        attributes, line = struct_map.attributes, struct_map.line
        if attributes.get("TYPE") != spec.STRUCT_MAP_TYPE:
            self._note("CSIP81", line, attribute="TYPE", value=attributes.get("TYPE"))
        if attributes.get("LABEL") != spec.STRUCT_MAP_LABEL:
            self._note("CSIP80", line)
            self._note("CSIP82", line, attribute="LABEL", value=attributes.get("LABEL"))
        else:
            self._named += 1
            if self._named > 1:
                self._note("CSIP80", line, count=self._named)
                self._note("CSIP82", line, attribute="LABEL", value=attributes["LABEL"])
        if not attributes.get("ID"):
            self._note("CSIP83", line, attribute="ID")
        if len(struct_map.tops) != 1:
            self._note("CSIP84", line, count=len(struct_map.tops))
        for top, top_line in struct_map.tops[:1]:
            if not top.get("ID"):
                self._note("CSIP85", top_line, attribute="ID")
            if top_is_named and top.get("LABEL") != object_id:
                self._note("CSIP86", top_line, attribute="LABEL", value=top.get("LABEL"))

    def finish(self, *, documents: int) -> None:
        """The end of the document; `documents` = how many representations have METS documents of their own."""
        if self._judged_map is None:
            self._add_now("CSIP80", None)
            return
        line = self._judged_map.line
        self._check_single(line)
        for label, (_, _, code, _) in _FIXED.items():
            if code and label.lower() in self._lines:
                self._check_pointed(label, code)
        for label, code in ((spec.LABEL_DOCUMENTATION, "CSIP93"), (spec.LABEL_SCHEMAS, "CSIP97")):
            if label not in self._label_counts and self._groups.has(label):
                self._note(code, line)
        if documents and not self._with_mets:
            self._note("CSIP105", line)
        elif documents > self._with_mets:
            self._note("CSIP105", line, count=documents, found=self._with_mets)
        content = self._groups.has(spec.LABEL_REPRESENTATIONS)
        if (
            content
            and not documents
            and spec.LABEL_REPRESENTATIONS not in self._label_counts
            and not self._representations
        ):
            self._note("CSIP101", line)
        for code, at, data in self._notes:
            self._add_now(code, at, **data)

    def _is_judged(self, struct_map: StructMap) -> bool:
        """The map called CSIP; where none is yet, the first physical one stands for it."""
        label, kind = struct_map.attributes.get("LABEL", ""), struct_map.attributes.get("TYPE", "").upper()
        if label == spec.STRUCT_MAP_LABEL:
            judged_map = self._judged_map
            if judged_map is not None and judged_map is not struct_map and judged_map.attributes.get("LABEL") != label:
                self._notes, self._label_counts, self._judged_map = [], {}, None
                self._pointers, self._lines = {}, {}
                self._representations = self._with_mets = 0
            return True
        return (
            self._judged_map in (None, struct_map) and kind == spec.STRUCT_MAP_TYPE and label.lower() not in _FAMILIES
        )

    def _note(self, code: str, line: int, **data: object) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes.append((code, line, data))
        else:
            self._add_now(code, line, **data)

    def _check_single(self, line: int) -> None:
        """Divisions that there must be, and of which there is one alone."""
        if spec.LABEL_METADATA not in self._label_counts:
            self._note("CSIP88", line)
            if spec.LABEL_METADATA.lower() not in self._lines:
                self._note("CSIP90", line)
        for label, count in self._label_counts.items():
            for code in _ONCE[label] if count > 1 else ():
                self._note(code, line, count=count)

    def _check_pointed(self, label: str, code: str) -> None:
        """Groups that no pointer of their division names."""
        line, named_ids = self._lines[label.lower()], self._pointers.get(label, set())
        named_ids = named_ids | self._pointers.get(_TITLES, set()) if label == spec.LABEL_REPRESENTATIONS else named_ids
        for group_id in self._groups.unnamed_groups(label, named_ids)[:1]:
            if named_ids:
                self._note(code, line, name=group_id)
            else:
                self._note(code, line)

    def _judge_fixed(self, label: str, division: Division) -> None:
        id_code, label_code, _, pointer_code = _FIXED[label]
        attributes, line = division.attributes, division.line
        self._lines.setdefault(label.lower(), line)
        if not attributes.get("ID"):
            self._note(id_code, line, attribute="ID")
        if attributes.get("LABEL") == label:
            self._label_counts[label] = self._label_counts.get(label, 0) + 1
        else:
            self._note(label_code, line, attribute="LABEL", value=attributes.get("LABEL"))
        if label == spec.LABEL_METADATA:
            self._current(attributes, line)
            return
        self._remember(label, division.files)
        for file_id in division.files:
            if not self._groups.has_id(label, file_id):
                self._note(pointer_code, line, attribute="FILEID", value=file_id or None)

    def _remember(self, label: str, ids: Iterable[str]) -> None:
        named_ids = self._pointers.setdefault(label, set())
        if len(named_ids) < Groups.MOST:
            named_ids.update(ids)

    def _current(self, attributes: Attributes, line: int) -> None:
        for code, attribute in (("CSIP91", "ADMID"), ("CSIP92", "DMDID")):
            attribute_text = attributes.get(attribute, "")
            missing = self._groups.current[attribute].difference(attribute_text.split())
            if missing:
                self._note(code, line, attribute=attribute, name=min(missing), count=len(missing))
            for stranger in self._groups.unknown_ids(attribute, attribute_text)[:1]:
                self._note(code, line, attribute=attribute, value=stranger)

    def _nested(self, division: Division) -> None:
        """Pointers of representations that have no division of their own, or one a step deeper than they should."""
        if division.label.lower() == spec.LABEL_REPRESENTATIONS.lower():
            self._note("CSIP107", division.line, attribute="LABEL", value=division.label)
        for pointer in division.pointers:
            title = pointer.get(XLINK_TITLE)
            self._remember(_TITLES, (title,) if title else ())
            if self._resolve_pointer(pointer, division.line):
                self._with_mets += 1

    def _representation(self, division: Division) -> None:
        attributes, line = division.attributes, division.line
        self._representations += 1
        if not attributes.get("ID"):
            self._note("CSIP106", line, attribute="ID")
        if not division.label.startswith(f"{spec.LABEL_REPRESENTATIONS}/"):
            self._note("CSIP107", line, attribute="LABEL", value=attributes.get("LABEL"))
        self._remember(_TITLES, division.files)
        for file_id in division.files:
            if not division.pointers and not self._groups.has_id(spec.LABEL_REPRESENTATIONS, file_id):
                self._note("CSIP119", line, attribute="FILEID", value=file_id or None)
        if len(division.pointers) != 1 and not division.files:
            self._note("CSIP109", line, count=len(division.pointers))
        for pointer in division.pointers[:1]:
            self._with_mets += 1
            title = pointer.get(XLINK_TITLE)
            self._remember(_TITLES, (title,) if title else ())
            if not self._groups.has_id(spec.LABEL_REPRESENTATIONS, title):
                self._note("CSIP108", line, attribute="xlink:title", value=title)
            self._resolve_pointer(pointer, line)
            if pointer.get(XLINK_TYPE) != "simple":
                self._note("CSIP111", line, attribute="xlink:type", value=pointer.get(XLINK_TYPE))
            if pointer.get("LOCTYPE") != "URL":
                self._note("CSIP112", line, attribute="LOCTYPE", value=pointer.get("LOCTYPE"))
            if not division.files:
                self._note("AIP3", line)

    def _resolve_pointer(self, pointer: Attributes, line: int) -> str | None:
        if pointer.get("LOCTYPE") == "OTHER":
            return None
        return self._point(pointer.get(XLINK_HREF), line)


def _is_representation(pointer: Attributes) -> bool:
    return "representations/" in unquote(pointer.get(XLINK_HREF, "")).lower()
