"""The change log against the units that it names: they are there, have the field, and hold what was put last."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.case import Case, add_findings
from noarkit.forms.noark5.rules.changed_units import ChangedUnits
from noarkit.forms.noark5.rules.fields import REFERENCES
from noarkit.forms.noark5.rules.relations import is_before
from noarkit.forms.noark5.rules.store import unpack_id
from noarkit.forms.noark5.rules.values import codes, keys
from noarkit.forms.noark5.rules.walk_state import UNITS
from noarkit.model.xml_model import Version, xml_model

_FILE = f"{spec.CHANGE_LOG}.xml"
_MADE = """SELECT c.target, c.at, c.field, c.day, s.text FROM changes c
           JOIN standing s ON s.target = c.target AND s.field = 'opprettetDato' WHERE c.day != '' ORDER BY c.at"""
_LATER = "SELECT target, at, field, day FROM changes WHERE day > ? ORDER BY at"
_LAST = """SELECT target, at, field, new, text FROM (
               SELECT c.target, c.at, c.field, c.new, s.text,
                      ROW_NUMBER() OVER (PARTITION BY c.target, c.field ORDER BY c.day DESC, c.at DESC) AS place
               FROM changes c JOIN standing s ON s.target = c.target AND s.field = c.field
           ) WHERE place = 1 AND new IS NOT NULL AND new != text ORDER BY at"""


def changed_units(case: Case) -> ChangedUnits | None:
    """The units that the change log names; None where it names none."""
    return ChangedUnits(case.store) if case.store.number("SELECT EXISTS (SELECT 1 FROM changes)") else None


def judge_change_log(case: Case) -> None:
    """Every change is of a unit in the package, and of a field that such a unit has."""
    if not case.has(spec.CHANGE_LOG) or not case.has(spec.STRUCTURE):
        return
    # before 5.0 a dokumentobjekt has no systemID, nor has an arkivskaper: changes of one must point at nothing
    without_id = set()
    if case.version != "5.0":
        without_id = {*_fields_of(case.version, "dokumentobjekt"), *_fields_of(case.version, "arkivskaper")}
        without_id.add("referanseDokumentBeskrivelse")
    dangling = """SELECT target, at, field FROM changes c WHERE NOT EXISTS
                  (SELECT 1 FROM units WHERE id = c.target) ORDER BY at"""
    for target, at, field in case.store.ask(dangling):
        code = "N602" if str(field) in without_id else "N601"
        add_findings(case, code, _FILE, iter([(target, at, _shown_id(target), field)]), ("value", "element"))
    known_fields = set(xml_model(case.version).values) | set(REFERENCES)
    groups = xml_model(case.version).structure.groups
    known_fields |= {element.name for group in groups.values() for element in group.elements}
    changes = """SELECT c.target, c.at, c.field, u.kind, u.form FROM changes c LEFT JOIN units u ON u.id = c.target
                 ORDER BY c.at"""
    for target, at, field, kind, form in case.store.ask(changes):
        name = str(field)
        if name not in known_fields:
            add_findings(case, "N603", _FILE, iter([(target, at, name)]), ("value",))
        elif isinstance(kind, int) and not name.startswith("referanse"):
            unit = str(form or UNITS[kind])
            if name not in _fields_of(case.version, unit):
                add_findings(case, "N604", _FILE, iter([(target, at, name, unit)]), ("value", "unit"))
    _judge_days(case)
    _judge_values(case)


def _judge_days(case: Case) -> None:
    """No change was before its unit, or has yet to come."""
    for target, at, field, day, made_at in case.store.ask(_MADE):
        if is_before(str(day), str(made_at)):
            add_findings(case, "N605", _FILE, iter([(target, at, field, day, made_at)]), ("element", "last", "first"))
    later = ((target, at, field, day) for target, at, field, day in case.store.ask(_LATER, (f"{case.today}~",)))
    add_findings(case, "N608", _FILE, later, ("element", "value"))


def _judge_values(case: Case) -> None:
    """What a field was changed to last is what it holds."""
    for target, at, field, new, text in case.store.ask(_LAST):
        if not _says_same(case.version, str(field), str(new), str(text)):
            add_findings(case, "N607", _FILE, iter([(target, at, field, new, text)]), ("element", "value", "found"))


def _says_same(version: Version, name: str, logged_text: str, unit_text: str) -> bool:
    """True for two texts that say the same: a code and its key, a moment in two zones or cut to its day."""
    logged_text, unit_text = logged_text.strip(), unit_text.strip()
    if logged_text.casefold() == unit_text.casefold():
        return True
    list_keys = keys().get(name)
    if list_keys is not None:
        # which text belongs to which key differs between lists: a key never contradicts a text of its list
        texts = codes(version).get(name, frozenset())
        return (logged_text in list_keys and unit_text in texts) or (unit_text in list_keys and logged_text in texts)
    try:
        logged_at, unit_at = datetime.fromisoformat(logged_text), datetime.fromisoformat(unit_text)
    except ValueError:
        return False
    if logged_at.tzinfo is not None and unit_at.tzinfo is not None:
        return logged_at == unit_at
    # without its zone a moment is told by what the clock showed, and a day by itself
    shorter = min(len(logged_text), len(unit_text), len("2019-03-04T12:00:00"))
    return logged_text[:shorter] == unit_text[:shorter]


@cache
def _fields_of(version: Version, unit: str) -> frozenset[str]:
    """The fields of a unit, and of what belongs to it alone."""
    groups = xml_model(version).structure.groups
    names: set[str] = set()
    waiting = [unit]
    while waiting:
        group = groups.get(waiting.pop())
        for element in group.elements if group is not None else ():
            names.add(element.name)
            if element.group is not None and element.group not in UNITS and element.group not in waiting:
                waiting.append(element.group)
    return frozenset(names)


def _shown_id(key: object) -> str | None:
    return unpack_id(key) if isinstance(key, bytes) else None
