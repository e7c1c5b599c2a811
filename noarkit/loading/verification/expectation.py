"""The expected value of each field of an object: what was sent, what closing made of it, or what the archive
itself gives a field that nothing was said of.

What is excepted from comparing is excepted by name, in the tables here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from noarkit.archive.values import SavedObject
from noarkit.graph.entity import CreationMode
from noarkit.graph.store import PlannedEntity
from noarkit.loading.finality import AUTHOR, AUTHOR_ID, BY_DATE, DATE, STATUS, finalising_fields, withheld_fields
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import uuid_for, uuid_of_new_version
from noarkit.loading.spine import NATURAL_KEYS
from noarkit.loading.verification.outcome import ACCEPTED
from noarkit.model import Field, metamodel

SET_BY_ARCHIVE = frozenset(
    {
        "id",
        "version",
        "uuid",
        "opprettetDato",
        "opprettetAv",
        "opprettetAvBrukerIdent",
        "mappeIdent",
        "registreringsIdent",
        "saksaar",
        "sakssekvensnummer",
        "saksdato",
        "saksansvarlig",
        "saksansvarligBrukerIdent",
        "moetedato",
        "journalaar",
        "journalsekvensnummer",
        "journalpostnummer",
        "journalansvarlig",
        "journalansvarligBrukerIdent",
        "registreringsDato",
        "dokumentnummer",
        "versjonsnummer",
        "forventetKassasjonsDato",
        "filnavn",
        "innholdstype",
        "title",
        "presedensDato",
        "presedensGodkjentDato",
        "presedensGodkjentAv",
        "presedensGodkjentAvBrukerIdent",
        "presedensStatus",
    }
)
"""Fields that the archive fills in by itself where the plan says nothing of them: there is nothing to compare with."""
OF_THE_FILE = frozenset({"referanseDokumentfil", "sjekksum", "filstoerrelse", "sjekksumAlgoritme"})
"""Fields that say which file a version has: compared with what was loaded, not with the plan."""
SCREENING, BUSINESS = "skjerming", "virksomhetsspesifikkeMetadata"
_FINAL = (DATE, AUTHOR, AUTHOR_ID)
_WITHOUT_ZONE = ZoneInfo("Europe/Oslo")

Defaults = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Problem:
    """A difference of one field."""

    code: str
    name: str
    expected: object
    actual: object


@dataclass(slots=True)
class FieldComparison:
    """The comparison of one object: how many fields agree, which do not, and how many were not compared, by reason.

    `filled_fields` are fields with a value that nothing was said of, `emptied_fields` those without one. `authors`
    says of a closed object which of the fields that tell who closed it have a value.
    """

    agree: int = 0
    filled_fields: list[Field] = field(default_factory=list)
    emptied_fields: list[Field] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    not_compared: dict[str, int] = field(default_factory=dict)
    authors: dict[str, bool] = field(default_factory=dict)

    def leave(self, reason: str) -> None:
        """Counts one field that was not compared."""
        self.not_compared[reason] = self.not_compared.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expectations for all objects of a run.

    `defaults` are what the archive's code lists say a field is where nothing is said, by type and name; `unread` the
    code lists that could not be read although the plan needs the archive's own codes; `not_closed` what the run could
    not close (type and id), with "accepted" where somebody took it as it is; `has_field` whether the archive has
    a field that only newer ones have; `listed_codes` the codes that the archive lists now, and `used_codes` those that
    were compared, each by type and name.
    """

    facts: RunFacts
    closed: bool
    defaults: Defaults = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    not_closed: Mapping[str, str] = field(default_factory=dict)
    has_field: Callable[[str, str], bool] = lambda kind, name: True
    listed_codes: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    used_codes: set[tuple[str, str, str]] = field(default_factory=set)

    def compare(
        self, entity: PlannedEntity, state: str, actual: SavedObject, screening: frozenset[object]
    ) -> FieldComparison:
        """Compares an object with its plan, field by field. `screening` is what it may be screened with by
        inheritance, where the plan says nothing of it."""
        comparison = FieldComparison()
        is_found = entity.type in NATURAL_KEYS or entity.target == CreationMode.FIND
        if is_found and state == "already_there":
            self._compare_known(entity, actual, comparison)
            return comparison
        final = self._compare_finality(entity, state, actual, comparison)
        self._note_authors(entity, state, actual, comparison)
        for model_field in metamodel().types[entity.type].fields.values():
            if model_field.name in OF_THE_FILE or model_field.name in final:
                continue
            if model_field.name in entity.fields:
                self._compare_planned(model_field, entity, state, actual, comparison)
            else:
                self._compare_unplanned(model_field, entity, state, actual, comparison, screening=screening)
        return comparison

    def is_similar(self, entity: PlannedEntity, actual: SavedObject) -> bool:
        """True if an object could be what is planned, by what was sent of it."""
        comparison = FieldComparison()
        for model_field in metamodel().types[entity.type].fields.values():
            if (
                model_field.save == "x"
                and model_field.name in entity.fields
                and model_field.name not in (*OF_THE_FILE, SCREENING)
            ):
                self._compare_planned(model_field, entity, "done", actual, comparison)
        return not comparison.problems

    def _compare_known(self, entity: PlannedEntity, actual: SavedObject, comparison: FieldComparison) -> None:
        """Compares only the natural key of an object that was found, not made, by the run."""
        fields = metamodel().types[entity.type].fields
        for name in entity.fields:
            if name in NATURAL_KEYS.get(entity.type, ()):
                self._compare_planned(fields[name], entity, "already_there", actual, comparison)
            else:
                comparison.leave("other_run")

    def _compare_planned(
        self, field: Field, entity: PlannedEntity, state: str, actual: SavedObject, comparison: FieldComparison
    ) -> None:
        name = field.name
        may_write = self.facts.sets_system_fields and (name != "uuid" or state == "done")
        if field.save != "x" and not may_write:
            comparison.leave("no_right")
            return
        if field.save == "sm":
            comparison.leave("set_by_archive")
            return
        expected = entity.fields[name]
        if field.code_list in self.unread:
            comparison.leave("codes_unread")
            return
        if isinstance(expected, str) and field.code_list is not None:
            expected = self.facts.codes.get(field.code_list, {}).get(expected, expected)
            self.used_codes.add((entity.type, name, expected))
        value = actual.fields.get(name)
        if name == "uuid":
            expected = str(expected).lower()
        if is_same_value(field, expected, value):
            comparison.agree += 1
        elif name == SCREENING:
            comparison.problems.append(Problem("V213", name, expected, value))
        else:
            comparison.problems.append(Problem("V211" if is_empty(value) else "V210", name, expected, value))

    def _compare_unplanned(
        self,
        field: Field,
        entity: PlannedEntity,
        state: str,
        actual: SavedObject,
        comparison: FieldComparison,
        *,
        screening: frozenset[object],
    ) -> None:
        """Compares a field without a planned value: it should be empty, or as the archive fills it in."""
        name, value = field.name, actual.fields.get(field.name)
        if name == "uuid" and state == "done" and self.facts.sets_system_fields:
            own_uuids = {uuid_for(self.facts, entity), uuid_of_new_version(self.facts, entity.key)}
            if str(value).lower() not in own_uuids:
                comparison.problems.append(Problem("V210", name, uuid_for(self.facts, entity), value))
            return
        if state == "done":
            (comparison.emptied_fields if is_empty(value) else comparison.filled_fields).append(field)
        if name in SET_BY_ARCHIVE or (name in _FINAL and state == "already_there"):
            return
        if name in (AUTHOR, AUTHOR_ID) and entity.fields.get(DATE) is not None:
            return  # a precedent that the plan brings as closed: the archive says by whose account
        if name == SCREENING:
            if (None if is_empty(value) else value) not in screening:
                comparison.problems.append(Problem("V213", name, None, value))
            return
        default: object = self.defaults.get((entity.type, name)) or field.default
        if is_empty(value) or (default is not None and is_same_value(field, _as_field_type(field, default), value)):
            return
        comparison.problems.append(Problem("V212", name, default, value))

    def _compare_finality(
        self, entity: PlannedEntity, state: str, actual: SavedObject, comparison: FieldComparison
    ) -> frozenset[str]:
        """Compares the fields that finalise an object, where the run closed it or should have; returns their names."""
        kind = entity.type
        if kind not in BY_DATE and kind not in STATUS:
            return frozenset()
        status = STATUS[kind][0] if kind in STATUS else None
        expected = finalising_fields(kind, entity.fields, "", may_write_author=self.facts.sets_system_fields)
        names = frozenset({*_FINAL, *([status] if status else ())})
        final = STATUS[kind][1] if kind in STATUS else None
        is_final = actual.fields.get(status) == final if status else bool(actual.fields.get(DATE))
        open_reason = self.not_closed.get(f"{kind} {actual.id}")
        # a run that could not close everything has closed the rest
        must_be = self.closed and open_reason is None
        if state == "done" and expected is not None and (must_be or (self.facts.closes and is_final)):
            self._compare_closed(entity, expected, actual, comparison)
            return names
        if self.facts.closes or open_reason is not None:
            waiting = withheld_fields(kind, entity.fields)
            if expected is not None and not is_final:
                comparison.leave(ACCEPTED if open_reason == ACCEPTED else "not_finalised")
                return waiting
            return names if state == "already_there" or expected is None else waiting
        # planned as final, or found final by another run: the archive says when and by whom
        if status is not None and entity.fields.get(status) == STATUS[kind][1]:
            return frozenset(name for name in _FINAL if name not in entity.fields)
        if entity.fields.get(DATE) is not None and self.facts.sets_system_fields:
            return frozenset(name for name in (AUTHOR, AUTHOR_ID) if name not in entity.fields)
        return frozenset()

    def _compare_closed(
        self, entity: PlannedEntity, expected: Mapping[str, object], actual: SavedObject, comparison: FieldComparison
    ) -> None:
        """Compares an object that the run finalised: still final, with the date and the name that the source gave."""
        kind = entity.type
        fields = metamodel().types[kind].fields
        for name, value in expected.items():
            value_now = actual.fields.get(name)
            as_wanted = not is_empty(value_now) if value == "" else is_same_value(fields[name], value, value_now)
            if as_wanted:
                comparison.agree += 1
            elif not self._can_hold(kind, name, value_now):
                comparison.leave("no_field")
            elif name == DATE or (kind in STATUS and name == STATUS[kind][0]):
                comparison.problems.append(Problem("V214", name, value or "*", value_now))
            else:
                comparison.problems.append(Problem("V210", name, value, value_now))
        if DATE not in expected and is_empty(actual.fields.get(DATE)) and self._can_hold(kind, DATE, None):
            comparison.problems.append(Problem("V214", DATE, "*", None))

    def _note_authors(
        self, entity: PlannedEntity, state: str, actual: SavedObject, comparison: FieldComparison
    ) -> None:
        """Notes whether a closed object tells by whom: an archive fills that in for all that it closes, or for none."""
        if state != "done" or is_empty(actual.fields.get(DATE)):
            return
        for name in (AUTHOR, AUTHOR_ID):
            if name not in entity.fields or not self.facts.sets_system_fields:
                comparison.authors[name] = not is_empty(actual.fields.get(name))

    def _can_hold(self, kind: str, name: str, value_now: object) -> bool:
        """False where a field is empty because the archive has no such field."""
        return not is_empty(value_now) or self.has_field(kind, name)


def is_empty(value: object) -> bool:
    """True for no value: None, an empty text, list or object."""
    return value is None or value in ("", {}, [])


def is_same_value(field: Field, expected: object, actual: object) -> bool:
    """Whether two values of a field mean the same on the wire."""
    if is_empty(expected) or is_empty(actual):
        return is_empty(expected) and is_empty(actual)
    if field.name == BUSINESS:
        return _as_business_groups(expected) == _as_business_groups(actual)
    if field.kind == "timestamp":
        return _as_milliseconds(expected) == _as_milliseconds(actual)
    if field.kind == "date":
        return _as_day(expected) == _as_day(actual)
    if field.kind == "boolean":
        return _as_boolean(expected) == _as_boolean(actual)
    if field.kind == "number":
        return _as_number(expected) == _as_number(actual)
    return expected == actual


def _as_field_type(field: Field, text: object) -> object:
    return text == "true" if field.kind == "boolean" else text


def _as_boolean(value: object) -> object:
    return value if not isinstance(value, str) else {"true": True, "false": False}.get(value.lower(), value)


def _as_number(value: object) -> object:
    try:
        return float(str(value)) if abs(float(str(value))) < 2**53 else int(str(value))
    except ValueError:
        return value


def _as_milliseconds(value: object) -> object:
    """A timestamp as milliseconds since 1970, in whatever zone it is written."""
    try:
        timestamp = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    timestamp = timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=_WITHOUT_ZONE)
    return (timestamp - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000 // 1


def _as_day(value: object) -> object:
    """A day; of a whole timestamp, the day it was in the archive's zone."""
    text = str(value)
    try:
        if len(text) <= len("2024-01-02"):
            return date.fromisoformat(text)
        timestamp = datetime.fromisoformat(text)
    except ValueError:
        return value
    return (timestamp.astimezone(_WITHOUT_ZONE) if timestamp.tzinfo else timestamp).date()


def _as_business_groups(value: object) -> object:
    """Business-specific metadata as groups of fields of values, whatever else an answer says of them."""
    return {(group, name): list(values) for group, name, values in _business_values(value)}


def _business_values(value: object) -> Iterator[tuple[str, str, list[object]]]:
    for group, fields in value.items() if isinstance(value, Mapping) else ():
        for name, entry in fields.items() if isinstance(fields, Mapping) else ():
            kind = entry.get("type") if isinstance(entry, Mapping) else None
            values = entry.get("values", []) if isinstance(entry, Mapping) else entry
            comparable = [_as_comparable(item, kind) for item in (values if isinstance(values, list) else [values])]
            if comparable:
                yield str(group), str(name), comparable


def _as_comparable(value: object, kind: object) -> object:
    """A value that compares alike from both sides: moments as moments, numbers as numbers, the rest as text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    if kind in ("long", "double"):
        return _as_number(text)
    try:
        return ("at", _as_milliseconds(text)) if len(text) >= len("2024-01-02T03:04") and "T" in text else text
    except ValueError:
        return text
