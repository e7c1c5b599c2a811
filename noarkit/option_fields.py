"""Options that are declared once: as the fields of a frozen dataclass, one for each journey.

The command line is made from them, the keywords of a function become them, and a run remembers what was given of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypeVar

_SPEC = "spec"
Function = TypeVar("Function", bound=Callable[..., object])
Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """How an option is written on a command line; `flag` is that of its field's name, unless it says another.

    `choices` are the values that it may have, `most` the largest number. `parts` is the class whose fields are options
    that make this value together, as `make` says. One that is not `is_remembered` holds for one call: no later command
    repeats it.
    """

    flag: str = ""
    kind: Literal["text", "flag", "negated", "number", "day", "file", "folder"] = "text"
    metavar: str = ""
    choices: Callable[[], tuple[str, ...]] | None = None
    least: int = 0
    most: int = 0
    must_exist: bool = False
    is_multiple: bool = False
    has_variable: bool = True
    is_remembered: bool = True
    parts: type[Any] | None = None  # any dataclass
    without: tuple[str, ...] = ()
    """Fields of `parts` that are no options here."""
    make: Callable[..., object] | None = None
    """Makes the value of `parts`, from what stands on a command line; it refuses what does not belong together."""


@dataclass(frozen=True, slots=True)
class OptionField:
    """One field of a class of options, and how it is written; `inner` are the options that its value is made from."""

    name: str
    spec: OptionSpec
    default: object = None
    inner: tuple[OptionField, ...] = ()

    @property
    def flag(self) -> str:
        """The option as it stands on a command line."""
        return self.spec.flag or f"--{self.name.replace('_', '-')}"

    @property
    def parameter(self) -> str:
        """The name that the command line has for its value."""
        return self.flag.removeprefix("--").replace("-", "_")


def option(default: Any = None, **spec: Any) -> Any:  # the value of a field of any type, by the names of `OptionSpec`
    """Declares a field of a class of options; a class as its default makes a new value each time."""
    metadata = {_SPEC: OptionSpec(**spec)}
    if isinstance(default, type):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def option_fields(options: type[Any], *, without: Sequence[str] = ()) -> tuple[OptionField, ...]:
    """The options of a class, in its order."""
    return tuple(
        OptionField(
            item.name, spec, item.default, option_fields(spec.parts, without=spec.without) if spec.parts else ()
        )
        for item in fields(options)
        if item.name not in without and isinstance(spec := item.metadata.get(_SPEC), OptionSpec)
    )


def flat_options(options: type[Any], *, without: Sequence[str] = ()) -> Iterator[OptionField]:
    """The options of a class as a command line has them: those that make one value together stand one by one."""
    for item in option_fields(options, without=without):
        yield from item.inner or (item,)


def names_remembered(options: type[Any]) -> tuple[str, ...]:
    """The options that later commands of a run repeat, by their names without dashes."""
    return tuple(item.flag.removeprefix("--") for item in flat_options(options) if item.spec.is_remembered)


def options_from(options: type[Options], keywords: Mapping[str, object]) -> Options:
    """The options among these keywords."""
    return options(**{item.name: keywords[item.name] for item in option_fields(options) if item.name in keywords})


def values_given(options: object) -> dict[str, object]:
    """What a run remembers of these options, by their names without dashes: paths are paths, and what is no path where
    one is expected has no name and is left out."""
    values: dict[str, object] = {}
    for item in option_fields(type(options)):
        value = getattr(options, item.name)
        if item.inner:
            values |= {} if value is None else values_given(value)
        elif item.spec.is_remembered:
            values[item.flag.removeprefix("--")] = _plain(item.spec, value)
    return values


def takes_options(*classes: type[Any], without: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Lets a function whose keywords are the fields of these classes show them, with their defaults."""

    def show(function: Function) -> Function:
        own = signature(function)
        named = [item for item in own.parameters.values() if item.kind is not Parameter.VAR_KEYWORD]
        declared_fields = [item for options in classes for item in fields(options) if item.name not in without]
        places = [item for item in named if item.kind is not Parameter.KEYWORD_ONLY]
        keywords = [*map(_parameter, declared_fields), *named[len(places) :]]
        function.__signature__ = own.replace(parameters=[*places, *keywords])  # type: ignore[attr-defined]  # for `inspect`
        return function

    return show


def _parameter(item: Field[Any]) -> Parameter:
    default = Parameter.empty if item.default is MISSING else item.default
    return Parameter(item.name, Parameter.KEYWORD_ONLY, default=default, annotation=item.type)


def _plain(spec: OptionSpec, value: object) -> object:
    if spec.kind == "negated":
        return not value
    if spec.kind in ("file", "folder"):
        if isinstance(value, list | tuple):
            return tuple(Path(item) for item in value)
        return Path(value) if isinstance(value, str | Path) else None
    return tuple(value) if spec.is_multiple and isinstance(value, Sequence) else value
