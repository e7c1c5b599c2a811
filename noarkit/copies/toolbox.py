"""What turns a document into a copy: identification, inspection, converters and gates, as one value to be put together.

The coordinator asks it for versions, the workers do the work with it; each process makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.copies.port import Converter, Failure, Finding, Gate, Identity, Rule, Task
from noarkit.model.conversions import Purpose


class Policy(Protocol):
    """Which rule is for which format; `noarkit.copies.policy` reads it from a file."""

    @property
    def name(self) -> str: ...

    @property
    def refuses_mismatch(self) -> bool:
        """True where a document whose name contradicts its bytes is not converted."""
        ...

    @property
    def has_access(self) -> bool:
        """True where access copies are made too."""
        ...

    def rule_for(self, identity: Identity, purpose: Purpose = "archive") -> Rule | None:
        """The rule for a document and a purpose; None where the policy says nothing of its format."""
        ...

    def otherwise(self, rule: Rule) -> Rule | None:
        """The rule for a document that its own rule would keep, and which does not hold what is asked of it."""
        ...

    def rule_digest(self, rule: Rule) -> str:
        """A digest of everything in a rule that changes a result."""
        ...


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one process."""

    identify: Callable[[Path, str], Identity]
    """What a file is, by its bytes and by the name that it has in its source."""
    inspect: Callable[[Path, Identity], tuple[Finding, ...] | Failure]
    converters: Mapping[str, Converter]
    gates_for: Callable[[Task], tuple[Gate, ...]]


ToolboxFactory = Callable[[], AbstractContextManager[Toolbox]]
"""Makes the tools of a process, and lets them go. It is pickled for the workers."""


@dataclass(frozen=True, slots=True)
class ConverterChoice:
    """The converter that a rule comes to, with what of it is part of a copy's key; no name where none is there."""

    name: str = ""
    version: str = ""
    options_digest: str = ""


def choose_converter(toolbox: Toolbox, rule: Rule, target: str, after: str | None = None) -> ConverterChoice:
    """The first converter of a rule whose program is there; the first behind `after`, where that one refused."""
    names = rule.converters
    if after is not None:
        names = names[names.index(after) + 1 :] if after in names else ()
    choices = (converter_choice(toolbox, name, rule, target) for name in names)
    return next((choice for choice in choices if choice is not None), ConverterChoice())


def missing_converters(toolbox: Toolbox, rule: Rule) -> tuple[str, ...]:
    """The converters of a rule that are not there, or whose program is not."""
    return tuple(name for name in rule.converters if not is_there(toolbox, name))


def is_there(toolbox: Toolbox, name: str) -> bool:
    """True for a converter that can be used."""
    converter = toolbox.converters.get(name)
    return converter is not None and converter.version() is not None


def unfit_fallback(toolbox: Toolbox, rule: Rule, name: str) -> str:
    """What stands behind the converter `name` of a rule for what that one refuses, and cannot do it here because it is
    missing; empty where nothing does, or another one can."""
    later = rule.converters[rule.converters.index(name) + 1 :] if name in rule.converters else ()
    return "" if any(is_there(toolbox, other) for other in later) else next(iter(later), "")


def converter_choice(toolbox: Toolbox, name: str, rule: Rule, target: str) -> ConverterChoice | None:
    """A converter as it is now; None where it, or its program, is missing."""
    converter = toolbox.converters.get(name)
    version = converter.version() if converter is not None else None
    if converter is None or version is None:
        return None
    return ConverterChoice(name, version, converter.options_digest(rule, target))
