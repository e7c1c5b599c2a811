"""What each field of an object should be in the archive: what was sent, what closing made of it, or what the archive
itself gives a field that nothing was said of.

What is excepted from comparing is excepted by name, in the tables here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from noarkit.archive.values import SavedObject
from noarkit.graph.store import Planned
from noarkit.load.finality import AUTHOR, AUTHOR_ID, BY_DATE, DATE, STATUS, finalising, held_back
from noarkit.load.lease import RunFacts
from noarkit.load.lookup import uuid_again, uuid_for
from noarkit.load.spine import NATURAL_KEYS
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
ACCEPTED = "accepted"
_FINAL = (DATE, AUTHOR, AUTHOR_ID)
_WITHOUT_ZONE = ZoneInfo("Europe/Oslo")

Defaults = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Problem:
    """One field that is not what it should be."""

    code: str
    name: str
    expected: object
    actual: object


@dataclass(slots=True)
class Compared:
    """What comparing one object came to: how many fields agree, which do not, and how many were left, by reason.

    `filled` are fields with a value that nothing was said of, `emptied` those without one: see `defaults`.
    """

    agree: int = 0
    filled: list[Field] = field(default_factory=list)
    emptied: list[Field] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)

    def leave(self, reason: str) -> None:
        """One field more that was not compared."""
        self.left[reason] = self.left.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class Expectation:
    """What holds for all objects of a run.

    `defaults` are what the archive's code lists say a field is where nothing is said, by type and name; `unread` the
    code lists that could not be read although the plan needs the archive's own codes; `not_closed` what the run could
    not close (type and id), with "accepted" where somebody took it as it is.
    """

    facts: RunFacts
    closed: bool
    defaults: Defaults = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    not_closed: Mapping[str, str] = field(default_factory=dict)

    def compare(self, planned: Planned, state: str, actual: SavedObject, screening: frozenset[object]) -> Compared:
        """Holds an object against its plan, field by field. `screening` is what it may be screened with by
        inheritance, where the plan says nothing of it."""
        found = Compared()
        if planned.type in NATURAL_KEYS and state == "already_there":
            self._compare_known(planned, actual, found)
            return found
        final = self._finality(planned, state, actual, found)
        for one in metamodel().types[planned.type].fields.values():
            if one.name in OF_THE_FILE or one.name in final:
                continue
            if one.name in planned.fields:
                self._compare_planned(one, planned, state, actual, found)
            else:
                self._compare_unplanned(one, planned, state, actual, found, screening=screening)
        return found

    def alike(self, planned: Planned, actual: SavedObject) -> bool:
        """True where an object could be what is planned, by what was sent of it."""
        found = Compared()
        for one in metamodel().types[planned.type].fields.values():
            if one.save == "x" and one.name in planned.fields and one.name not in (*OF_THE_FILE, SCREENING):
                self._compare_planned(one, planned, "done", actual, found)
        return not found.problems

    def _compare_known(self, planned: Planned, actual: SavedObject, found: Compared) -> None:
        """What was not made but found is itself where it bears the name that it was found by."""
        fields = metamodel().types[planned.type].fields
        for name in planned.fields:
            if name in NATURAL_KEYS[planned.type]:
                self._compare_planned(fields[name], planned, "already_there", actual, found)
            else:
                found.leave("other_run")

    def _compare_planned(self, one: Field, planned: Planned, state: str, actual: SavedObject, found: Compared) -> None:
        name = one.name
        may_write = self.facts.sets_system_fields and (name != "uuid" or state == "done")
        if one.save != "x" and not may_write:
            found.leave("no_right")
            return
        if one.save == "sm":
            found.leave("set_by_archive")
            return
        expected = planned.fields[name]
        if one.code_list in self.unread:
            found.leave("codes_unread")
            return
        if isinstance(expected, str) and one.code_list is not None:
            expected = self.facts.codes.get(one.code_list, {}).get(expected, expected)
        value = actual.fields.get(name)
        if name == "uuid":
            expected = str(expected).lower()
        if same(one, expected, value):
            found.agree += 1
        elif name == SCREENING:
            found.problems.append(Problem("V213", name, expected, value))
        else:
            found.problems.append(Problem("V211" if empty(value) else "V210", name, expected, value))

    def _compare_unplanned(
        self,
        one: Field,
        planned: Planned,
        state: str,
        actual: SavedObject,
        found: Compared,
        *,
        screening: frozenset[object],
    ) -> None:
        """A field that nothing was said of is empty, or as the archive fills it in."""
        name, value = one.name, actual.fields.get(one.name)
        if name == "uuid" and state == "done" and self.facts.sets_system_fields:
            ours = {uuid_for(self.facts, planned), uuid_again(self.facts, planned.key)}
            if str(value).lower() not in ours:
                found.problems.append(Problem("V210", name, uuid_for(self.facts, planned), value))
            return
        if state == "done":
            (found.emptied if empty(value) else found.filled).append(one)
        if name in SET_BY_ARCHIVE or (name in _FINAL and state == "already_there"):
            return
        if name in (AUTHOR, AUTHOR_ID) and planned.fields.get(DATE) is not None:
            return  # a precedent that the plan brings as closed: the archive says by whose account
        if name == SCREENING:
            if (None if empty(value) else value) not in screening:
                found.problems.append(Problem("V213", name, None, value))
            return
        default: object = self.defaults.get((planned.type, name)) or one.default
        if empty(value) or (default is not None and same(one, _typed(one, default), value)):
            return
        found.problems.append(Problem("V212", name, default, value))

    def _finality(self, planned: Planned, state: str, actual: SavedObject, found: Compared) -> frozenset[str]:
        """Judges the fields that finalise an object, where closing has a say in them; returns their names."""
        kind = planned.type
        if kind not in BY_DATE and kind not in STATUS:
            return frozenset()
        status = STATUS[kind][0] if kind in STATUS else None
        wanted = finalising(kind, planned.fields, "", may_tell=self.facts.sets_system_fields)
        names = frozenset({*_FINAL, *([status] if status else ())})
        final = STATUS[kind][1] if kind in STATUS else None
        is_final = actual.fields.get(status) == final if status else bool(actual.fields.get(DATE))
        left = self.not_closed.get(f"{kind} {actual.id}")
        # a run that could not close everything has closed the rest
        must_be = self.closed and left is None
        if state == "done" and wanted is not None and (must_be or (self.facts.closes and is_final)):
            self._closed(planned, wanted, actual, found)
            return names
        if self.facts.closes or left is not None:
            waiting = held_back(kind, planned.fields)
            if wanted is not None and not is_final:
                found.leave(ACCEPTED if left == ACCEPTED else "not_finalised")
                return waiting
            return names if state == "already_there" or wanted is None else waiting
        # planned as final, or found final by another run: the archive says when and by whom
        if status is not None and planned.fields.get(status) == STATUS[kind][1]:
            return frozenset(name for name in _FINAL if name not in planned.fields)
        if planned.fields.get(DATE) is not None and self.facts.sets_system_fields:
            return frozenset(name for name in (AUTHOR, AUTHOR_ID) if name not in planned.fields)
        return frozenset()

    def _closed(self, planned: Planned, wanted: Mapping[str, object], actual: SavedObject, found: Compared) -> None:
        """What the run finalised is final still, with the date and the name that the source told."""
        fields = metamodel().types[planned.type].fields
        for name, value in wanted.items():
            there = actual.fields.get(name)
            as_wanted = not empty(there) if value == "" else same(fields[name], value, there)
            if as_wanted:
                found.agree += 1
            elif name == DATE or (planned.type in STATUS and name == STATUS[planned.type][0]):
                found.problems.append(Problem("V214", name, value or "*", there))
            else:
                found.problems.append(Problem("V210", name, value, there))
        if planned.type in STATUS and DATE not in wanted and empty(actual.fields.get(DATE)):
            found.problems.append(Problem("V214", DATE, "*", None))


def empty(value: object) -> bool:
    """True where nothing is said: no value, or a text without a character."""
    return value is None or value in ("", {}, [])


def same(one: Field, expected: object, actual: object) -> bool:
    """Whether two values of a field mean the same on the wire."""
    if empty(expected) or empty(actual):
        return empty(expected) and empty(actual)
    if one.name == BUSINESS:
        return _business(expected) == _business(actual)
    if one.kind == "timestamp":
        return _moment(expected) == _moment(actual)
    if one.kind == "date":
        return _day(expected) == _day(actual)
    if one.kind == "boolean":
        return _truth(expected) == _truth(actual)
    if one.kind == "number":
        return _number(expected) == _number(actual)
    return expected == actual


def _typed(one: Field, text: object) -> object:
    return text == "true" if one.kind == "boolean" else text


def _truth(value: object) -> object:
    return value if not isinstance(value, str) else {"true": True, "false": False}.get(value.lower(), value)


def _number(value: object) -> object:
    try:
        return float(str(value)) if abs(float(str(value))) < 2**53 else int(str(value))
    except ValueError:
        return value


def _moment(value: object) -> object:
    """A moment as milliseconds since 1970, however it is written."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    found = found if found.tzinfo else found.replace(tzinfo=_WITHOUT_ZONE)
    return (found - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000 // 1


def _day(value: object) -> object:
    """A day; of a whole timestamp, the day it was in the archive's zone."""
    text = str(value)
    try:
        if len(text) <= len("2024-01-02"):
            return date.fromisoformat(text)
        found = datetime.fromisoformat(text)
    except ValueError:
        return value
    return (found.astimezone(_WITHOUT_ZONE) if found.tzinfo else found).date()


def _business(value: object) -> object:
    """Business-specific metadata as groups of fields of values, whatever else an answer says of them."""
    return {(group, name): list(values) for group, name, values in _business_values(value)}


def _business_values(value: object) -> Iterator[tuple[str, str, list[object]]]:
    for group, fields in value.items() if isinstance(value, Mapping) else ():
        for name, told in fields.items() if isinstance(fields, Mapping) else ():
            kind = told.get("type") if isinstance(told, Mapping) else None
            values = told.get("values", []) if isinstance(told, Mapping) else told
            some = [_plain(one, kind) for one in (values if isinstance(values, list) else [values])]
            if some:
                yield str(group), str(name), some


def _plain(value: object, kind: object) -> object:
    """A value that compares alike from both sides: moments as moments, numbers as numbers, the rest as text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    if kind in ("long", "double"):
        return _number(text)
    try:
        return ("at", _moment(text)) if len(text) >= len("2024-01-02T03:04") and "T" in text else text
    except ValueError:
        return text
