"""The tables of the chapter `noark-fields`: all types, all fields, and the fields that have two names."""

from __future__ import annotations

from collections.abc import Iterable

from noarkit.cli.noark_help import meaning_of, place_of
from noarkit.manual.markdown import Block, Inline, Span, Table
from noarkit.model import Field, metamodel
from noarkit.model.field_names import fields_called, standard_name
from noarkit.model.mapping import mapping
from noarkit.words.labels import known_label
from noarkit.words.texts import Texts

_FEW = 3
_WHO = {"x": "noark.who.you", "cw": "noark.who.right", "sm": "noark.who.archive"}


def noark_lists(texts: Texts) -> dict[str, Block]:
    """The tables, by the name that the chapter calls them."""
    return {"noark-types": _types(texts), "noark-fields": _fields(texts), "noark-names": _names(texts)}


def _types(texts: Texts) -> Table:
    rows = [
        (
            kind.name,
            known_label(texts, kind.name) or kind.name,
            mapping().types[kind.name].group or "–",
            texts.text("noark_types", kind.name),
        )
        for kind in metamodel().types.values()
    ]
    heads = ("type", "plain", "element", "means")
    return _table(heads, rows, texts)


def _fields(texts: Texts) -> Table:
    """A row for each field of the standard's name, in the order of the alphabet."""
    names = {standard_name(kind.name, field) for kind in metamodel().types.values() for field in kind.fields}
    heads = ("names", "means", "form", "who", "on")
    return _table(heads, [_field_row(name, texts) for name in sorted(names, key=str.lower)], texts)


def _field_row(name: str, texts: Texts) -> tuple[str, ...]:
    pairs = [(kind, field) for kind, field in fields_called(name) if standard_name(kind, field) == name]
    fields = [metamodel().types[kind].fields[field] for kind, field in pairs]
    mark = "" if any(place_of(kind, field) for kind, field in pairs) else "*"
    label = known_label(texts, name) or ""
    return (
        ", ".join(dict.fromkeys((name + mark, *(field for _, field in pairs if field != name)))),
        f"{label}: {meaning_of(name, texts)}",
        _short_form(fields[0], texts),
        ", ".join(dict.fromkeys(texts.say(_WHO[field.save]) for field in fields)),
        _few([kind for kind, _ in pairs], texts),
    )


def _names(texts: Texts) -> Table:
    types_by_names: dict[tuple[str, str], list[str]] = {}
    for kind in metamodel().types.values():
        for field in kind.fields:
            standard = standard_name(kind.name, field)
            if standard != field:
                types_by_names.setdefault((standard, field), []).append(kind.name)
    rows = [(*names, ", ".join(types)) for names, types in types_by_names.items()]
    return _table(("standard", "archive", "on"), rows, texts)


def _short_form(field: Field, texts: Texts) -> str:
    return texts.say("noark.short.code" if field.code_list or field.values else f"noark.short.{field.kind}")


def _few(types: list[str], texts: Texts) -> str:
    return ", ".join(types) if len(types) <= _FEW else texts.say("noark.types", count=len(types))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], texts: Texts) -> Table:
    head, *lines = (
        [(Span("text", cell),) for cell in row] for row in ([texts.say(f"noark.head.{name}") for name in heads], *rows)
    )
    return Table(_inline(head), tuple(_inline(line) for line in lines))


def _inline(cells: Iterable[Inline]) -> tuple[Inline, ...]:
    return tuple(cells)
