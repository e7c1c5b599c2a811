"""The filters and tests that recipe expressions have: each small, each bounded, each refusing what it cannot do.

None goes through most of them unchanged, so that `record.x | default(none) | trim` is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from jinja2.runtime import Undefined

from noarkit.recipes.patterns import Pattern, read_pattern
from noarkit.recipes.values import (
    Formats,
    ValueRefused,
    is_blank,
    make_formats,
    to_date,
    to_moment,
    to_number,
    to_text,
    wire_moment,
)

LONGEST_TEXT = 1_000_000
LONGEST_LIST = 100_000
_UNDERSCORES = re.compile(r"[_\s]+")
_EPOCH_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
Filters = Mapping[str, Callable[..., object]]


class FilterRefused(ValueError):
    """What a filter cannot do. `why` is a stable word."""

    def __init__(self, why: str, what: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.what = what


def filters_and_tests(formats: Formats, codes: Mapping[str, Mapping[str, object]]) -> tuple[Filters, Filters]:
    """All filters and all tests, those that read dates and numbers bound to `formats`, `code` to `codes`."""
    return {**_TEXTS, **_PATHS, **_LISTS, **_value_filters(formats, codes)}, {**_TESTS, **_value_tests(formats)}


def _value_filters(formats: Formats, codes: Mapping[str, Mapping[str, object]]) -> Filters:
    def code(value: object, table: str) -> object:
        return _code(value, table, codes.get(table, {}))

    def day(value: object, form: str | None = None) -> object:
        read = formats if form is None else _formats_of(formats, form)
        return None if is_blank(value) else to_date(_plain(value), read).isoformat()

    return {
        "default": _default,
        "code": code,
        "codes": lambda values, table: [
            found for value in _compact(values) if not is_blank(found := code(value, table))
        ],
        "date": day,
        "timestamp": lambda value: None if is_blank(value) else wire_moment(to_moment(_plain(value), formats)),
        "year": lambda value: None if is_blank(value) else to_date(_plain(value), formats).year,
        "number": lambda value: None if is_blank(value) else to_number(_plain(value), formats),
        "int": lambda value: None if is_blank(value) else math.trunc(to_number(_plain(value), formats)),
        "round": lambda value, digits=0: None if is_blank(value) else _round(to_number(_plain(value), formats), digits),
        "epoch": _epoch,
        "match": _match,
    }


def _value_tests(formats: Formats) -> Filters:
    def is_date(value: object) -> bool:
        try:
            to_date(_plain(value), formats)
        except (ValueRefused, FilterRefused):
            return False
        return True

    def is_number(value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    return {"date": is_date, "number": is_number}


@cache
def _formats_of(formats: Formats, form: str) -> Formats:
    return make_formats(
        Formats(formats.zone, formats.locale, (form,), formats.decimal, formats.thousands, formats.century)
    )


def _plain(value: object) -> object:
    if isinstance(value, Undefined):
        raise FilterRefused("missing-name", value._undefined_hint or value._undefined_name or "")
    return value


def _text(value: object) -> str:
    return to_text(_plain(value))


def _text_filter(change: Callable[[str], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else change(_text(value))


def _list(value: object) -> list[object]:
    plain = _plain(value)
    if plain is None:
        return []
    if isinstance(plain, list | tuple):
        return list(plain)
    if isinstance(plain, set | frozenset):
        return sorted(plain, key=str)
    if isinstance(plain, Mapping):
        return list(plain)
    raise FilterRefused("not-a-list")


def _default(value: object, other: object = None) -> object:
    return other if isinstance(value, Undefined) or is_blank(value) else value


def _code(value: object, table: str, codes: Mapping[str, object]) -> object:
    if value is None:
        return codes.get("*")
    text = _text(value)
    if text in codes:
        return codes[text]
    if "*" in codes:
        return codes["*"]
    raise FilterRefused("code-unmapped", f"{table}: {text[:40]}")


def _round(number: int | float, digits: object) -> int | float:
    if not isinstance(digits, int) or not 0 <= digits <= 15:
        raise FilterRefused("does-not-fit", "round")
    return round(number, digits) if digits else round(number)


def _epoch(value: object, unit: str = "s") -> object:
    plain = _plain(value)
    if plain is None:
        return None
    if unit not in _EPOCH_UNITS or isinstance(plain, bool) or not isinstance(plain, int | float):
        raise FilterRefused("not-a-number")
    seconds = plain / _EPOCH_UNITS[unit]
    return wire_moment(to_moment(seconds, Formats()))


@cache
def _pattern(text: str) -> Pattern:
    return read_pattern(text)


def _match(value: object, pattern: str) -> object:
    return None if value is None else _pattern(pattern).groups(_text(value))


def _replace(value: object, old: str, new: str) -> object:
    if value is None:
        return None
    text = _text(value)
    if not old or len(text) + text.count(old) * len(new) > LONGEST_TEXT:
        raise FilterRefused("result-too-long")
    return text.replace(old, new)


def _split(value: object, separator: str | None = None) -> list[str]:
    if value is None:
        return []
    if separator == "":
        raise FilterRefused("does-not-fit", "split")
    return _text(value).split(separator, LONGEST_LIST)


def _join(value: object, separator: str = "") -> str:
    if value.__class__ is list and isinstance(value, list) and {item.__class__ for item in value} == {str}:
        joined = separator.join(value)
        if len(joined) + len(separator) <= LONGEST_TEXT:
            return joined
    texts = [_text(item) for item in _list(value) if item is not None]
    if sum(map(len, texts)) + len(separator) * len(texts) > LONGEST_TEXT:
        raise FilterRefused("result-too-long")
    return separator.join(texts)


def _clip(value: object, longest: int, sign: str = "…") -> object:
    if value is None:
        return None
    text = _text(value)
    return text if len(text) <= longest else text[: max(longest - len(sign), 0)] + sign


def _readable(text: str) -> str:
    return _UNDERSCORES.sub(" ", text).strip() or text


def _stem(text: str) -> str:
    name = _basename(text)
    dot = name.rfind(".")
    return name[:dot] if dot > 0 else name


def _extension(text: str) -> str:
    name = _basename(text)
    dot = name.rfind(".")
    return name[dot + 1 :] if dot > 0 else ""


def _basename(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def _folder(text: str) -> str:
    return text.rsplit("/", 1)[0] if "/" in text else ""


def _first(value: object) -> object:
    items = _text(value) if isinstance(value, str) else _list(value)
    return items[0] if items else None


def _last(value: object) -> object:
    items = _text(value) if isinstance(value, str) else _list(value)
    return items[-1] if items else None


def _length(value: object) -> int:
    return len(_text(value)) if isinstance(value, str) else len(_list(value))


def _sorted(value: object) -> list[object]:
    items = _list(value)
    try:
        return sorted(items)  # type: ignore[type-var]  # what cannot be compared says so itself
    except TypeError:
        return sorted(items, key=str)


def _unique(value: object) -> list[object]:
    items_by_repr: dict[str, object] = {}
    for item in _list(value):
        items_by_repr.setdefault(repr(item), item)
    return list(items_by_repr.values())


def _part(value: object, index: int) -> object:
    items = _list(value)
    return items[index] if -len(items) <= index < len(items) else None


def _compact(value: object) -> list[object]:
    return [item for item in _list(value) if not is_blank(item)]


def _pluck(value: object, name: str) -> list[object]:
    return [item.get(name) for item in _mappings(_list(value))]


def _find_by_name(value: object, name: str) -> object:
    """The first content, or mapping, whose `name` is `name`; None if there is none."""
    for item in _list(value):
        content = getattr(item, "content", None)
        item_name = item.get("name") if isinstance(item, Mapping) else getattr(content, "name", None)
        if item_name == name:
            return item
    return None


def _mappings(items: Iterable[object]) -> Iterable[Mapping[object, object]]:
    for item in items:
        if not isinstance(item, Mapping):
            raise FilterRefused("not-a-mapping")
        yield item


def _reverse(value: object) -> object:
    return value[::-1] if isinstance(value, str) else _list(value)[::-1]


_TEXTS: Filters = {
    "trim": _text_filter(str.strip),
    "lower": _text_filter(str.lower),
    "upper": _text_filter(str.upper),
    "capitalize": _text_filter(str.capitalize),
    "title": _text_filter(str.title),
    "string": _text_filter(str),
    "readable": _text_filter(_readable),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "clip": _clip,
}
_PATHS: Filters = {
    "stem": _text_filter(_stem),
    "extension": _text_filter(_extension),
    "basename": _text_filter(_basename),
    "folder": _text_filter(_folder),
}
_LISTS: Filters = {
    "first": _first,
    "last": _last,
    "length": _length,
    "list": _list,
    "reverse": _reverse,
    "sort": _sorted,
    "unique": _unique,
    "part": _part,
    "compact": _compact,
    "pluck": _pluck,
    "named": _find_by_name,
}
_TESTS: Filters = {
    "defined": lambda value: not isinstance(value, Undefined),
    "undefined": lambda value: isinstance(value, Undefined),
    "none": lambda value: value is None,
    "blank": lambda value: isinstance(value, Undefined) or is_blank(value) or value in ([], {}, ()),
    "string": lambda value: isinstance(value, str),
    "mapping": lambda value: isinstance(value, Mapping),
    "sequence": lambda value: isinstance(value, list | tuple),
    "in": lambda value, items: _plain(value) in _in(items),
    "matching": lambda value, pattern: value is not None and _pattern(pattern).groups(_text(value)) is not None,
    "startingwith": lambda value, start: value is not None and _text(value).startswith(start),
    "endingwith": lambda value, end: value is not None and _text(value).endswith(end),
}


def _in(items: object) -> str | list[object]:
    return items if isinstance(items, str) else _list(items)
