"""The shape that results share: `to_dict()` for a program, a short table for a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape

_MOST_SHOWN = 20


class Result(ABC):
    """What a function of `noarkit` returns."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The result as plain JSON values; its keys are those of the command's `--json`, and stay."""

    def _repr_html_(self) -> str:
        """The result as a table, as notebooks show it."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(_line(value))}</td></tr>" for name, value in self.to_dict().items()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"


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
