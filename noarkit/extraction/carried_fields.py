"""Values that the form has no element for: found object by object, and carried in business-specific metadata."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.forms.noark5.read.original import GROUP
from noarkit.forms.noark5.write import unmapped, vsm
from noarkit.forms.noark5.write.content import Codes, Content, EntityData
from noarkit.model.mapping import BUSINESS_METADATA, mapping


def lost_fields(entity: EntityData) -> list[tuple[str, str]]:
    """Every value of a thing that tells of the record and has no element, by its field; texts as they are."""
    kind, fields = entity["t"], entity["f"]
    return [*unmapped.lost_fields(kind, fields), *unmapped.lost_metadata(kind, fields)]


class CarriedFields:
    """Writes values without an element of the form, of units and of their parts, as business-specific metadata."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes

    def of(self, content: Content) -> tuple[str, int]:
        """All of a unit that has business-specific metadata in the form, ready to stand in it, and how many values
        that are; nothing of another."""
        entity = content["o"]
        if not mapping().may_carry(entity["t"]):
            return "", 0
        texts = list(self._objects(content))
        return unmapped.root_xml(text for text, _ in texts), sum(count for _, count in texts)

    def _objects(self, content: Content) -> Iterator[tuple[str, int]]:
        yield from self._object(content["o"])
        part_texts = list(self._parts(content, ()))
        for document in content.get("d", ()):
            concerns = _concerns(document["o"])
            part_texts += self._object(document["o"], concerns)
            part_texts += self._parts(document, concerns)
            for version in document.get("v", ()):
                part_texts += self._object(version["o"], _concerns(version["o"]))
        yield from sorted(part_texts)

    def _parts(self, content: Content, concerns: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, int]]:
        owner = content["o"]["f"].get("uuid")
        for part in content.get("p", ()):
            kind, fields = part["t"], part["f"]
            if mapping().may_carry(kind) or unmapped.repeats_system_id(kind, fields, owner):
                continue  # the one tells it itself, the other is told already
            yield from self._object(part, self._role_and_name(part) if kind in unmapped.NAMED else concerns)

    def _object(self, entity: EntityData, concerns: tuple[tuple[str, str], ...] = ()) -> Iterator[tuple[str, int]]:
        kind, fields = entity["t"], entity["f"]
        values = [(name, self._text(name, value)) for name, value in unmapped.lost_fields(kind, fields)]
        count = len(values)
        metadata = sum(1 for _ in unmapped.lost_metadata(kind, fields)) if BUSINESS_METADATA in fields else 0
        if metadata:
            values.append((BUSINESS_METADATA, "\n" + vsm.groups_xml(fields[BUSINESS_METADATA], left_out=GROUP)))
            values.sort()
        if values:
            yield unmapped.object_xml(kind, (*concerns, *values)), count + metadata

    def _role_and_name(self, entity: EntityData) -> tuple[tuple[str, str], ...]:
        name, role = unmapped.NAMED[entity["t"]]
        fields = entity["f"]
        return (
            (unmapped.CONCERNS, str(fields.get(name, ""))),
            (unmapped.ROLE, self._text(role, str(fields.get(role, "")))),
        )

    def _text(self, name: str, value: str) -> str:
        return self._codes.names_of(name).get(value, value)


def _concerns(entity: EntityData) -> tuple[tuple[str, str], ...]:
    return ((unmapped.CONCERNS, str(entity["f"].get("uuid", ""))),)
