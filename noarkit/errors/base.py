"""The root of all faults, and which exit code wins where several apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import ClassVar

# Gravest first; the gravest of several wins (DESIGN of the command line).
GRAVITY = (7, 1, 10, 6, 9, 2, 8, 4, 5, 11, 130, 143, 3, 0)


def gravest(*exit_codes: int) -> int:
    """The exit code that wins where several apply; an unknown code counts as unforeseen."""
    return min((code if code in GRAVITY else 1 for code in exit_codes), key=GRAVITY.index, default=0)


def causes(error: BaseException, *, hidden: bool = False) -> Iterator[BaseException]:
    """An exception and what led to it, the latest first, each once: a fault that is raised again from what it caused
    makes a circle. `hidden` follows also what `from None` hides."""
    visited: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in visited:
        visited.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ and not hidden else cause.__context__)


class NoarkitError(Exception):
    """The root. `data` fills the sentences of `words/`; nothing in it may be a secret."""

    code: ClassVar[str] = "F900"
    exit_code: int = 1
    transient: ClassVar[bool] = False

    _sentence_of: ClassVar[Callable[[NoarkitError], str] | None] = None

    def __init__(self, **data: object) -> None:
        super().__init__(self.code, data)
        self.data: Mapping[str, object] = data
        self.add_note(self.describe())  # a traceback shows it below the sentence

    def __str__(self) -> str:
        sentence_of = NoarkitError._sentence_of
        return self.describe() if sentence_of is None else sentence_of(self)

    def describe(self) -> str:
        """The code, the name and the data in one line, for logs and developers."""
        return " ".join([self.code, type(self).__name__, *(f"{name}={value}" for name, value in self.data.items())])

    @staticmethod
    def use_sentences(sentence_of: Callable[[NoarkitError], str]) -> None:
        """Makes `str(fault)` what a function returns: sentences lie above faults, which cannot import them."""
        NoarkitError._sentence_of = sentence_of

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.data), ()


def fault_from_code(code: str, data: Mapping[str, object]) -> NoarkitError:
    """The fault with a code, made again from its data, as a worker or another machine met it."""
    kinds = list(NoarkitError.__subclasses__())
    for kind in kinds:
        if vars(kind).get("code") == code:
            return kind(**data)
        kinds.extend(kind.__subclasses__())
    return NoarkitError(error=code, **data)
