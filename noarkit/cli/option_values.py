"""Options of commands that are made from classes of options, and the values that a command line gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from noarkit.cli.form_choices import RegistryChoice
from noarkit.cli.options import FILE, FOLDER, option
from noarkit.option_fields import OptionField, OptionSpec, flat_options, option_fields

_DAY = click.DateTime(("%Y-%m-%d",))


def options_of(
    *, without: Sequence[str] = (), **classes: type[Any]
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Gives a command the options of these classes, each option once, and a value of each class by its name here."""
    options = {item.flag: item for cls in classes.values() for item in flat_options(cls, without=without)}

    def decorate(function: Callable[..., int | None]) -> Callable[..., int | None]:
        @wraps(function)
        def call(*places: Any, **values: Any) -> int | None:  # as click gives them
            line = {name: values.pop(name) for name in [item.parameter for item in options.values()]}
            options_by_name = {name: _value(cls, line, without) for name, cls in classes.items()}
            return function(*places, **options_by_name, **values)

        decorated: Callable[..., int | None] = call
        for item in reversed(options.values()):
            decorated = _click_option(item)(decorated)
        return decorated

    return decorate


def _value(cls: type[Any], line: Mapping[str, Any], without: Sequence[str]) -> Any:  # one of that class
    return cls(**{item.name: _field_value(item, line) for item in option_fields(cls, without=without)})


def _field_value(item: OptionField, line: Mapping[str, Any]) -> Any:  # as click gives it
    if item.spec.make is not None:
        return item.spec.make(**{part.parameter: line[part.parameter] for part in item.inner})
    if item.spec.parts is not None:
        return _value(item.spec.parts, line, item.spec.without)
    value = line[item.parameter]
    if item.spec.kind == "day":
        return None if value is None else value.date()
    return not value if item.spec.kind == "negated" else value


def _click_option(item: OptionField) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    spec = item.spec
    more: dict[str, Any] = {"metavar": spec.metavar or None}  # as `click.option` takes them
    if isinstance(item.default, str):
        more["default"] = item.default
    if spec.kind in ("flag", "negated"):
        more["is_flag"] = True
    elif spec.is_multiple:
        more["multiple"] = True
    if (type_ := _click_type(spec)) is not None:
        more["type"] = type_
    return option(item.flag, variable="" if spec.has_variable else None, **more)


def _click_type(spec: OptionSpec) -> click.ParamType[Any] | None:
    if spec.choices is not None:
        return RegistryChoice(spec.choices)
    if spec.kind == "number":
        return click.IntRange(spec.least, spec.most)
    if spec.kind in ("file", "folder") and spec.must_exist:
        is_file = spec.kind == "file"
        return click.Path(exists=True, file_okay=is_file, dir_okay=not is_file, path_type=Path)
    return {"file": FILE, "folder": FOLDER, "day": _DAY}.get(spec.kind)
