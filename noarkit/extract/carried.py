"""What the form has no element for: found object by object, and carried in business-specific metadata."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.packages.noark5 import beyond, vsm
from noarkit.packages.noark5.content import Codes, Content, Thing
from noarkit.packages.noark5.original import GROUP


def lost_fields(thing: Thing) -> list[tuple[str, str]]:
    """Every value of a thing that tells of the record and has no element, by its field; texts as they are."""
    kind, fields = thing["t"], thing["f"]
    return [*beyond.lost_fields(kind, fields), *beyond.lost_metadata(kind, fields)]


class Carried:
    """Writes what the form has no element for, of units and of what belongs to them. Names of codes as in the form."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes

    def of(self, content: Content) -> tuple[str, int]:
        """All of a unit that has business-specific metadata in the form, ready to stand in it, and how many values
        that are; nothing of another."""
        thing = content["o"]
        if not mapping().may_carry(thing["t"]):
            return "", 0
        found = list(self._objects(content))
        return beyond.whole_xml(text for text, _ in found), sum(count for _, count in found)

    def _objects(self, content: Content) -> Iterator[tuple[str, int]]:
        yield from self._object(content["o"])
        told = list(self._parts(content, ()))
        for document in content.get("d", ()):
            concerns = _concerns(document["o"])
            told += self._object(document["o"], concerns)
            told += self._parts(document, concerns)
            for version in document.get("v", ()):
                told += self._object(version["o"], _concerns(version["o"]))
        yield from sorted(told)

    def _parts(self, content: Content, concerns: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, int]]:
        owner = content["o"]["f"].get("uuid")
        for part in content.get("p", ()):
            kind, fields = part["t"], part["f"]
            if mapping().may_carry(kind) or beyond.repeats_system_id(kind, fields, owner):
                continue  # the one tells it itself, the other is told already
            yield from self._object(part, self._named(part) if kind in beyond.NAMED else concerns)

    def _object(self, thing: Thing, concerns: tuple[tuple[str, str], ...] = ()) -> Iterator[tuple[str, int]]:
        kind, fields = thing["t"], thing["f"]
        told = [(name, self._text(name, value)) for name, value in beyond.lost_fields(kind, fields)]
        count = len(told)
        metadata = sum(1 for _ in beyond.lost_metadata(kind, fields)) if BUSINESS_METADATA in fields else 0
        if metadata:
            told.append((BUSINESS_METADATA, "\n" + vsm.groups_xml(fields[BUSINESS_METADATA], left_out=GROUP)))
            told.sort()
        if told:
            yield beyond.object_xml(kind, (*concerns, *told)), count + metadata

    def _named(self, thing: Thing) -> tuple[tuple[str, str], ...]:
        name, role = beyond.NAMED[thing["t"]]
        fields = thing["f"]
        return (
            (beyond.CONCERNS, str(fields.get(name, ""))),
            (beyond.ROLE, self._text(role, str(fields.get(role, "")))),
        )

    def _text(self, name: str, value: str) -> str:
        return self._codes.of(name).get(value, value)


def _concerns(thing: Thing) -> tuple[tuple[str, str], ...]:
    return ((beyond.CONCERNS, str(thing["f"].get("uuid", ""))),)
