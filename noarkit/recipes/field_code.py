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

from collections.abc import Callable, Iterator
from functools import lru_cache

from noarkit.graph.entity import FieldValue
from noarkit.model.identity_numbers import has_identity_number
from noarkit.recipes.compiled import Convert, FieldPlan, FieldSlot
from noarkit.recipes.expressions import LONGEST_RESULT, Expression
from noarkit.recipes.python_code import PythonCode
from noarkit.recipes.values import Formats, converter, has_forbidden

RunFields = Callable[[dict[str, object]], dict[str, FieldValue]]
_KEPT_DAYS = 4_096


class Unusual(Exception):
    """Something is to be said about a record."""


def compile_fields(plan: FieldPlan, code: PythonCode, formats: Formats) -> RunFields:
    """The function that makes the fields of `plan` of the names on the scene."""
    code.objects |= {
        "Unusual_": Unusual,
        "forbidden_": has_forbidden,
        "holds_number_": has_identity_number,
        "PLAIN_": (str, int, float, bool),
        "WIRE_": (str, int, float, bool, dict),
    }
    names = {name for slot in plan.slots if (expression := _expression(slot)) for name in expression.names}
    return code.function(names, _lines(plan, code, formats))


def _lines(plan: FieldPlan, code: PythonCode, formats: Formats) -> Iterator[str]:
    yield f"made = {code.keep(dict(plan.constants))}.copy()"
    yield "texts = ''"
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
    yield "if texts and holds_number_(texts): raise Unusual_"
    yield from (f"if {name!r} not in made: raise Unusual_" for name in plan.required)
    for names in plan.one_of:
        count = " + ".join(f"({name!r} in made)" for name in names)
        yield f"if {count} != 1: raise Unusual_"
    yield "return made"


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
    return lambda value: days(value) if value.__class__ is str else to_wire(value)
