"""Writes the fields of a rule as one Python function, for the records that nothing is to be said about.

    fields = { tittel = "= record.subject", dokumentetsDato = "= record.sent", journalposttype = "I" }    ->

        def run(names):
            record = names['record']
            values = record.values
            made = object_41.copy()                                 # {"journalposttype": "I"}
            value = (v if (v := get(values, 'subject', MISSING)) is not MISSING else getattr_(record, 'subject'))
            if value.__class__ is not str and value is not None:
                value = object_42(value)                            # to the wire form of a string
            if value is not None and value != '':
                if (not value.isprintable() and forbidden_(value)) or len(value) > 32000: raise Unusual_
                made['tittel'] = value
                texts += value + '\\n'
            …
            if texts and holds_number_(texts): raise Unusual_
            if 'tittel' not in made: raise Unusual_
            return made

    run(names)    -> {"journalposttype": "I", "tittel": "Meeting", "dokumentetsDato": "2024-01-02"}

Whatever this function raises, the record is mapped field by field (`mapper`), which says what is wrong, and where. So
nothing that is told of a record depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from noarkit.graph.entity import FieldValue
from noarkit.model.identity_numbers import has_identity_number
from noarkit.recipes.compiled import Convert, FieldPlan, FieldSlot
from noarkit.recipes.expressions import LONGEST_RESULT, Expression
from noarkit.recipes.python_code import PythonCode
from noarkit.recipes.values import Formats, converter, has_forbidden

RunFields = Callable[[dict[str, object]], dict[str, FieldValue]]
_KEPT_DAYS = 16_384
_MOMENT = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z")
_WHOLE_MINUTES = "1980"
"""Since then no clock of a zone has been seconds apart from others."""


class Unusual(Exception):
    """Something is to be said about a record."""


NAMES_OF_FIELDS: Mapping[str, object] = {
    "Unusual_": Unusual,
    "forbidden_": has_forbidden,
    "holds_number_": has_identity_number,
    "PLAIN_": (str, int, float, bool),
    "WIRE_": (str, int, float, bool, dict),
}
"""What the lines of fields refer to."""


def compile_fields(plan: FieldPlan, code: PythonCode, formats: Formats) -> RunFields:
    """The function that makes the fields of `plan` of the names on the scene."""
    code.objects |= NAMES_OF_FIELDS
    names = {name for slot in plan.slots if (expression := _expression(slot)) for name in expression.names}
    lines = field_lines(plan, code, formats)
    return code.function(
        names, ["texts = ''", *lines, "if texts and holds_number_(texts): raise Unusual_", "return made"]
    )


def can_be_written(plan: FieldPlan) -> bool:
    """True if all fields of a plan can stand in the text of a function."""
    return plan.run is not None and all(_expression(slot) is not None for slot in plan.slots)


def field_lines(plan: FieldPlan, code: PythonCode, formats: Formats) -> Iterator[str]:
    """The lines that make the fields, as `made`; open texts are added to `texts`."""
    yield f"made = {code.keep(dict(plan.constants))}.copy()"
    longest = min(formats.longest, LONGEST_RESULT)
    for slot in plan.slots:
        expression = _expression(slot)
        if expression is None:
            yield "raise Unusual_"
            continue
        convert = code.keep(_wire_form(slot.convert, formats))
        yield f"value = {expression.text}"
        if expression.is_literal:  # a name that is missing may stand inside of a list
            yield "if value is not None and value.__class__ not in PLAIN_: raise Unusual_"
        yield f"if {'value.__class__ is not str and ' if slot.plain else ''}value is not None and value != '':"
        yield f"    value = {convert}(value)"
        yield "    if value.__class__ not in WIRE_: raise Unusual_"
        yield "if value is not None and value != '':"
        yield "    if value.__class__ is str and ("
        yield f"            (not value.isprintable() and forbidden_(value)) or len(value) > {longest}): raise Unusual_"
        yield f"    made[{slot.name!r}] = value"
        if slot.open:
            yield "    texts += value + '\\n'"
    yield from (f"if {name!r} not in made: raise Unusual_" for name in plan.required)
    for names in plan.one_of:
        count = " + ".join(f"({name!r} in made)" for name in names)
        yield f"if {count} != 1: raise Unusual_"


def _expression(slot: FieldSlot) -> Expression | None:
    """What a slot computes, if it can stand in the text of a function."""
    run = slot.slot.run
    return run if isinstance(run, Expression) else None


def _wire_form(convert: Convert, formats: Formats) -> Callable[[object], FieldValue]:
    """The conversion to a wire form. Days come again and again, so what was made of their texts is kept."""

    def to_wire(value: object) -> FieldValue:
        return convert(value, formats)

    if convert is not converter("date"):
        return to_wire
    days = lru_cache(maxsize=_KEPT_DAYS)(to_wire)

    def to_day(value: object) -> FieldValue:
        if value.__class__ is not str:
            return to_wire(value)
        if isinstance(value, str) and not formats.dates and value > _WHOLE_MINUTES and _MOMENT.fullmatch(value):
            return days(f"{value[:16]}:00Z")  # files were changed at any second, and no day ends within a minute
        return days(value)

    return to_day
