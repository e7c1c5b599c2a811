"""The shape that results share: `to_dict()` for a program, a short table for a notebook.

What stands in the JSON of a result is declared once, by the fields of its dataclass: name and kind are those of the
attribute and its type. From that come `to_dict()`, the line of `--json`, `schemas/events.json` and the check that holds
every line which a test sees. What is otherwise is said with the field, as `metadata` (type checkers know no other
maker of fields than `dataclasses.field`); a property is told where `json_value` stands below `property`:

    size_bytes: int = field(metadata=json_field("bytes"))
    numbers: Numbers = field(metadata=SPREAD)
    findings: tuple[Finding, ...] = field(default=(), metadata=HIDDEN)

    @property
    @json_value("complete")
    def is_complete(self) -> bool: …

A class that is a line of its own names its event in `EVENT`; what the command adds to the line stands beside the
command, under `EVENTS`. Fields are added, never taken away and never changed.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Collection, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, fields, replace
from functools import cache
from html import escape
from inspect import isfunction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints  # values of any kind

from noarkit.errors import NoarkitError
from noarkit.events import Kind

Getter = TypeVar("Getter", bound=Callable[[Any], object])
_MOST_SHOWN = 20
_KEY = "json"
_WORDS = {bool: "flag", int: "count", float: "number", str: "text", Path: "text", NoarkitError: "text"}


@dataclass(frozen=True, slots=True)
class JsonKind:
    """What the value of a field is: a word of `events.Kind`, the `values` of a short list, for a list or names with
    values the kind `of` each, for an object its `fields`."""

    word: str
    is_optional: bool = False
    values: tuple[str | int, ...] = ()
    of: JsonKind | None = None
    fields: Mapping[str, JsonKind] | None = None

    def __str__(self) -> str:
        """The word, with a `?` where null or nothing may stand in its place."""
        return f"{self.word}?" if self.is_optional else self.word


@dataclass(frozen=True, slots=True)
class JsonField:
    """How a field is told where that is not as it stands: by another `name`, or brought in `form` first, whose kind is
    what `form` is annotated to return.

    One that is `spread` is told by its own fields, among those of the result; where it is None, they are empty. One
    that is `hidden` is for callers in Python alone. Readers must not count on one that is `optional`; one that is
    `omitted` is left out where it is None or an empty text. One that is `closed` will never have another value than its
    type lists.
    """

    name: str = ""
    form: Callable[[Any], object] | None = None
    optional: bool = False
    closed: bool = False
    omitted: bool = False
    spread: bool = False
    hidden: bool = False


def json_field(name: str = "", form: Callable[[Any], object] | None = None, **marks: bool) -> dict[str, JsonField]:
    """The metadata of a field that is told as a `JsonField` says."""
    return {_KEY: JsonField(name, form, **marks)}


HIDDEN = json_field(hidden=True)
SPREAD = json_field(spread=True)


def json_value(
    name: str = "", form: Callable[[Any], object] | None = None, **marks: bool
) -> Callable[[Getter], Getter]:
    """Declares that a property is told as JSON too; stands below `property`."""

    def declare(getter: Getter) -> Getter:
        vars(getter).update(json_field(name, form, **marks))
        return getter

    return declare


class JsonObject:
    """A dataclass whose fields are declared as those of a JSON object."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """The fields as plain JSON values; their names are those of the command's `--json`, and stay."""
        values: dict[str, object] = {}
        for attribute, how in _members(type(self)):
            value = getattr(self, attribute)
            if how.omitted and value in (None, ""):
                continue
            if not how.spread:
                values[how.name or attribute] = _plain(how.form(value) if how.form else value)
            elif value is None:
                values |= {name: [] if kind.word == "list" else None for name, kind in _spread(type(self), attribute)}
            else:
                values |= value.to_dict()
        return values


class Result(JsonObject, ABC):
    """What a function of `noarkit` returns."""

    __slots__ = ()

    EVENT: ClassVar[str] = ""
    """The line of `--json` that it is; empty for one that is none by itself."""

    def _repr_html_(self) -> str:
        """The result as a table, as notebooks show it."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(_line(value))}</td></tr>" for name, value in self.to_dict().items()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"


def count_of(values: Sized) -> int:
    """The form of a field of which only the number is told."""
    return len(values)


def kinds_of(declaring: type[JsonObject]) -> dict[str, JsonKind]:
    """Returns the fields that a class declares, by their names in JSON."""
    kinds: dict[str, JsonKind] = {}
    for attribute, how in _members(declaring):
        if how.spread:
            kinds |= _spread(declaring, attribute)
            continue
        form = get_type_hints(how.form) if isfunction(how.form) else {}
        kind = _kind_of(form.get("return", _hint(declaring, attribute)))
        kinds[how.name or attribute] = replace(
            kind,
            is_optional=kind.is_optional or how.optional or how.omitted,
            values=kind.values if how.closed else (),
        )
    return kinds


def parse_kind(word: Kind) -> JsonKind:
    """The kind that is declared under `EVENTS`."""
    if isinstance(word, tuple):
        return JsonKind("text" if isinstance(word[0], str) else "integer", values=word)
    if not isinstance(word, str):
        fields_of_row = {name: parse_kind(kind) for name, kind in word[0].items()}
        return JsonKind("list", of=JsonKind("object", fields=fields_of_row))
    return JsonKind(word.removesuffix("?"), word.endswith("?"))


def _told_members(declaring: type[JsonObject]) -> tuple[tuple[str, JsonField], ...]:
    """The attributes that are told, each with how: fields first, then properties."""
    stored = [(member.name, member.metadata.get(_KEY, JsonField())) for member in fields(declaring)]  # type: ignore[arg-type]  # a dataclass
    computed = [
        (name, getattr(value.fget, _KEY))
        for base in reversed(declaring.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, property) and hasattr(value.fget, _KEY)
    ]
    return tuple((name, how) for name, how in (*stored, *computed) if not how.hidden and not name.startswith("_"))


_members: Callable[[type[JsonObject]], tuple[tuple[str, JsonField], ...]] = cache(_told_members)  # type: ignore[assignment]  # classes are hashable


def _plain(value: object) -> object:
    """A value as JSON has it: of a fault its code, sets in order."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, JsonObject):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Sequence):
        return [_plain(entry) for entry in value]
    if isinstance(value, NoarkitError):
        return value.code
    return str(value) if isinstance(value, Path) else value


def _hint(declaring: type[JsonObject], attribute: str) -> object:
    """The type of an attribute."""
    member = getattr(declaring, attribute, None)
    if isinstance(member, property):
        return get_type_hints(member.fget)["return"]
    return get_type_hints(declaring)[attribute]


def _spread(declaring: type[JsonObject], attribute: str) -> list[tuple[str, JsonKind]]:
    """The fields of an attribute that are told as those of the class. Where it may be None, so may they; lists are
    empty then."""
    hint = _hint(declaring, attribute)
    (spread,) = (member for member in (get_args(hint) or (hint,)) if member is not NoneType)
    return [
        (name, replace(kind, is_optional=kind.is_optional or (spread is not hint and kind.word != "list")))
        for name, kind in kinds_of(spread).items()
    ]


def _kind_of(hint: object) -> JsonKind:
    """The kind that values of a type have in JSON."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        hints = [argument for argument in arguments if argument is not NoneType]
        kind = _kind_of(hints[0]) if len(hints) == 1 else JsonKind("any")
        return replace(kind, is_optional=len(hints) < len(arguments))
    if origin is Literal:
        return replace(_kind_of(type(arguments[0])), values=arguments)
    actual = origin or hint
    if not isinstance(actual, type):
        return JsonKind("any")
    if issubclass(actual, JsonObject):
        return JsonKind("object", fields=kinds_of(actual))
    if issubclass(actual, Mapping):
        of = _kind_of(arguments[1] if len(arguments) > 1 else int)  # a Counter
        return JsonKind("counts") if of == JsonKind("count") else JsonKind("object", of=of)
    if issubclass(actual, Collection) and not issubclass(actual, str):
        return JsonKind("list", of=_kind_of(arguments[0]))
    return JsonKind(next((word for known, word in _WORDS.items() if issubclass(actual, known)), "any"))


def _line(value: object) -> str:
    """A value in one line: of a long list the first entries, and how many more there are."""
    if isinstance(value, Mapping):
        parts = [f"{name}: {_line(entry)}" for name, entry in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        parts = [_line(entry) for entry in value]
    else:
        return "–" if value is None else str(value)
    more = f", … (+{len(parts) - _MOST_SHOWN})" if len(parts) > _MOST_SHOWN else ""
    return (", ".join(parts[:_MOST_SHOWN]) + more) or "–"
