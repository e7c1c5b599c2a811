"""Checks entities and the structure of a plan before anything is sent.

`EntityChecks` looks at one entity at a time while the graph is filled; `structure_faults` looks at the whole graph
when it stands. Codes: F224 field, F225 code list, F226 structure, F227 class, F228 link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from noarkit.graph.entity import Entity, FieldValue, Note
from noarkit.graph.store import GraphStore
from noarkit.model import Field, ObjectType, metamodel

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_NEEDS_FILE = "referanseDokumentfil"
_BUSINESS_METADATA = "virksomhetsspesifikkeMetadata"


class EntityChecks:
    """Checks one entity against the model and, where they are known, the archive's own code lists.

    `added` are codes that will stand in the archive before the load.
    """

    def __init__(
        self,
        codes: Mapping[str, frozenset[str]] | None = None,
        new_codes: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        model = metamodel()
        model_codes = {
            name: frozenset(code.code for code in code_list.codes)
            for name, code_list in model.code_lists.items()
            if code_list.codes
        }
        all_codes = {**model_codes, **(codes or {})}
        added = new_codes if new_codes is not None else {}
        self._checks = {name: _compile(kind, all_codes, added) for name, kind in model.types.items()}

    def __call__(self, entity: Entity) -> Note | None:
        """The first thing wrong with the entity, or None."""
        checks = self._checks.get(entity.type)
        if checks is None:
            return Note("F224", {"type": entity.type, "why": "unknown-type"})
        fields = entity.fields
        if not checks.required <= fields.keys() and entity.target != "find":
            missing = min(checks.required.difference(fields))
            return Note("F224", {"type": entity.type, "field": missing, "why": "missing"})
        free_texts = checks.free_texts
        for name, value in fields.items():
            if name in free_texts and value and value.__class__ is str:
                continue
            find_problem = checks.problems.get(name)
            reason = "unknown-field" if find_problem is None else find_problem(value)
            if reason:
                return Note("F225" if reason == "code" else "F224", {"type": entity.type, "field": name, "why": reason})
        for name, _ in entity.links:
            if name not in checks.references:
                return Note("F228", {"type": entity.type, "field": name, "why": "unknown-link"})
        return None


FindProblem = Callable[[FieldValue], "str | None"]


@dataclass(frozen=True, slots=True)
class _TypeChecks:
    """What is checked of one type: the fields it must have, those where any text is right, and each field's own check.

    Dokument -> ({"tittel", …}, {"tittel", "beskrivelse", …}, {"tittel": <finds a problem>, …}, {"refRegistrering", …})
    """

    required: frozenset[str]
    free_texts: frozenset[str]
    problems: Mapping[str, FindProblem]
    references: frozenset[str]


def _compile(
    kind: ObjectType, codes: Mapping[str, frozenset[str]], added: Mapping[str, Collection[str]]
) -> _TypeChecks:
    return _TypeChecks(
        _required_fields(kind),
        frozenset(name for name, field in kind.fields.items() if field.kind == "string" and not field.code_list),
        {name: _problem_finder(field, codes, added) for name, field in kind.fields.items()},
        frozenset(kind.references),
    )


def _problem_finder(
    field: Field, codes: Mapping[str, frozenset[str]], added: Mapping[str, Collection[str]]
) -> FindProblem:
    must, code_list, fits = field.need == "must", field.code_list, _FITS[field.kind]
    known_codes = codes.get(code_list) if code_list else None

    def find_problem(value: FieldValue) -> str | None:
        if value is None:
            return "empty" if must and not field.has_default else None
        if code_list:
            if known_codes is None or value in known_codes or value in added.get(code_list, ()):
                return None
            return "code"
        if must and value == "":
            return "empty"
        return None if fits(value) else "kind"

    return find_problem


def _is_number(value: FieldValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Mapping[str, Callable[[FieldValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "date": lambda value: isinstance(value, str) and _DATE.fullmatch(value) is not None,
    "timestamp": lambda value: isinstance(value, str) and _TIMESTAMP.fullmatch(value) is not None,
    "object": lambda value: isinstance(value, Mapping),
}


def _required_fields(kind: ObjectType) -> frozenset[str]:
    return frozenset(
        name
        for name, field in kind.fields.items()
        if field.need == "must" and not field.has_default and field.save != "sm" and name != _NEEDS_FILE
    )


@dataclass(frozen=True, slots=True)
class StructureFault:
    """Something wrong between entities: `entity` is to blame, and came from `record`."""

    code: str
    reason: str
    entity: int
    record: int | None
    type: str
    line: int


_CHILDREN_OF_BOTH_KINDS = """
SELECT 'F226', 'folders-and-records', f.n, f.record, f.type, f.line FROM entity f
WHERE f.type IN ('Mappe', 'Saksmappe', 'Moetemappe')
AND EXISTS (SELECT 1 FROM entity c WHERE c.parent = f.n AND c.parent_link = 'refForelderMappe')
AND EXISTS (SELECT 1 FROM entity c WHERE c.parent = f.n AND c.parent_link = 'refMappe'
            AND c.type IN ('Basisregistrering', 'Journalpost', 'Moeteregistrering', 'Arkivnotat'))
"""

_NO_CHILD = """
SELECT 'F226', ?, p.n, p.record, p.type, p.line FROM entity p
WHERE p.type = ? AND p.target != 'find' AND NOT EXISTS (SELECT 1 FROM entity c WHERE c.parent = p.n AND c.type = ?)
"""

_NO_CLASS = """
SELECT 'F227', 'no-class', p.n, p.record, p.type, p.line FROM entity p
WHERE p.type = 'Saksmappe' AND NOT EXISTS
    (SELECT 1 FROM link WHERE link.entity = p.n AND link.name = 'refPrimaerKlasse')
"""

_CLASS_IN_USE_HAS_CHILDREN = """
SELECT 'F227', 'class-not-leaf', k.n, k.record, k.type, k.line FROM entity k
WHERE k.type = 'Klasse'
AND EXISTS (SELECT 1 FROM link WHERE link.other = k.n AND link.name IN ('refPrimaerKlasse', 'refSekundaerKlasse'))
AND (EXISTS (SELECT 1 FROM entity c WHERE c.parent = k.n AND c.parent_link = 'refForelderKlasse')
     OR EXISTS (SELECT 1 FROM link WHERE link.other = k.n AND link.name = 'refForelderKlasse'))
"""

_DANGLING = """
SELECT 'F228', link.name, e.n, e.record, e.type, e.line FROM link JOIN entity e ON e.n = link.entity
WHERE link.other IS NULL
"""


def structure_faults(store: GraphStore) -> Iterator[StructureFault]:
    """Everything wrong between entities; a stable order, one at a time."""
    checks: list[tuple[str, tuple[str, ...]]] = [
        (_CHILDREN_OF_BOTH_KINDS, ()),
        (_NO_CHILD, ("no-party", "Journalpost", "Korrespondansepart")),
        (_NO_CHILD, ("no-participant", "Moetemappe", "Moetedeltaker")),
        (_NO_CHILD, ("no-creator", "Arkiv", "Arkivskaper")),
        (_NO_CLASS, ()),
        (_CLASS_IN_USE_HAS_CHILDREN, ()),
        (_DANGLING, ()),
    ]
    for statement, values in checks:
        for row in store.db.execute(statement + " ORDER BY 3", values):
            yield StructureFault(*row)
