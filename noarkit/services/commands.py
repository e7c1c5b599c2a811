"""Commands of a service as data: a table of resources, each with its verbs, each with its arguments and its call.

`records get MODULE ID` is the verb `get` of the resource `records`. Which call a person means, what is said of words
that no command has, and the lines of the help are all read from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from noarkit.errors import UsageFault
from noarkit.services.settings import Connection

JsonObject = Mapping[str, object]
OWN_VERBS = ("try", "login", "status", "forget", "configure")  # of every connection, whatever its service
_FORM_VALUES = ("report_format", "output")


class Closable(Protocol):
    """A service as far as its commands need to know it."""

    def close(self) -> None:
        """Ends all connections."""
        ...


S = TypeVar("S", bound=Closable)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One use of a command: its resource and verb, the words after them, and the values of `--arguments`."""

    resource: str
    verb: str
    words: tuple[str, ...] = ()
    values: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verb(Generic[S]):
    """One verb: its name, the names of its arguments (`ID [ENGINE]`, those that may be left out in brackets), its call.

    `members` are the names that `--arguments` may hold: none unless it says so, and any (None) where they are those of
    an object of the service, which judges them itself. `formats` are the forms in which its results may be shown, or
    written to a file; none if it has but one. A call that `returns_clean` results removed the secrets itself.
    """

    name: str
    arguments: str
    call: Callable[[S, Invocation], Iterable[JsonObject]]
    members: tuple[str, ...] | None = ()
    formats: tuple[str, ...] = ()
    returns_clean: bool = False

    @property
    def usage(self) -> str:
        """The verb with its arguments: `get MODULE ID`."""
        return f"{self.name} {self.arguments}".rstrip()

    def accepts(self, count: int) -> bool:
        """True if it may be called with so many words."""
        return self.least <= count <= len(self.arguments.split())

    @property
    def least(self) -> int:
        """How many words it needs."""
        return sum(1 for argument in self.arguments.split() if not argument.startswith("["))


@dataclass(frozen=True, slots=True)
class CommandTable(Generic[S]):
    """The commands of a service by resource. `clean` removes secrets from each result, even if the service repeats
    one."""

    service: str
    open: Callable[[Connection], S]
    resources: Mapping[str, tuple[Verb[S], ...]]
    clean: Callable[[S, JsonObject], object]

    def run(self, connection: Connection, words: Sequence[str], values: JsonObject) -> Iterator[JsonObject]:
        """Runs one command and yields its results. Raises `UsageFault` for an unknown one, a ServiceFault."""
        self.find(words, values)
        with closing(self.open(connection)) as service:
            yield from self.run_on(service, words, values)

    def run_on(self, service: S, words: Sequence[str], values: JsonObject) -> Iterator[JsonObject]:
        """Runs one command on an open service and yields its results without secrets."""
        verb, invocation = self.find(words, values)
        for row in verb.call(service, invocation):
            clean = row if verb.returns_clean else self.clean(service, row)
            yield clean if isinstance(clean, Mapping) else {}

    def find(self, words: Sequence[str], values: JsonObject) -> tuple[Verb[S], Invocation]:
        """Finds the verb that is meant. Raises `UsageFault` for an unknown resource, verb or member of the arguments,
        which names those there are, and for a wrong number of words."""
        resource, name, *others = (*words, "", "")[: max(2, len(words))]
        verbs = self.resources.get(resource)
        if verbs is None:
            raise self._fault(words, " · ".join((*self.resources, *OWN_VERBS)), "no-such-verb")
        verb = next((candidate for candidate in verbs if candidate.name == name), None)
        if verb is None:
            what = "no-such-verb" if name else "missing-argument"
            raise self._fault(words, f"{resource} {' · '.join(candidate.usage for candidate in verbs)}", what)
        if not verb.accepts(len(others)):
            what = "missing-argument" if len(others) < verb.least else "bad-value"
            raise self._fault(words, f"{resource} {verb.usage}", what)
        if self._has_formats and not verb.formats and any(values.get(key) for key in _FORM_VALUES):
            raise self._fault((*words, *(str(values[key]) for key in _FORM_VALUES if values.get(key))), resource)
        self._refuse_unknown_members(resource, verb, values)
        return verb, Invocation(resource, name, tuple(others), values)

    def usages(self) -> Iterator[str]:
        """Yields a line for each resource: `records list MODULE · get MODULE ID`."""
        for resource, verbs in self.resources.items():
            yield f"{resource} {' · '.join(verb.usage for verb in verbs)}"

    def _refuse_unknown_members(self, resource: str, verb: Verb[S], values: JsonObject) -> None:
        if verb.members is None:
            return
        known = (*verb.members, *(_FORM_VALUES if verb.formats else ()))
        unknown = [name for name in values if name not in known]
        if unknown:
            arguments = f" --arguments {{{', '.join(verb.members)}}}" if verb.members else ""
            where = f"--arguments: {', '.join(unknown)}"
            raise self._fault((where,), f"{resource} {verb.usage}{arguments}", "unknown-member")

    @property
    def _has_formats(self) -> bool:
        return any(verb.formats for verbs in self.resources.values() for verb in verbs)

    def _fault(self, words: Sequence[str], usage: str, what: str = "bad-value") -> UsageFault:
        do = f"noarkit connect {self.service}:NAME {usage}"
        return UsageFault(what=what, where=" ".join(word for word in words if word), do=do)


def text_list(value: object, name: str) -> tuple[str, ...]:
    """Reads an argument that is a list of texts. Raises `UsageFault` for any other."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageFault(what="not-a-list-of-texts", where=f"--arguments: {name}")
    return tuple(value)


def object_member(values: JsonObject, name: str) -> JsonObject:
    """Reads an argument that is an object, empty if it is not given. Raises `UsageFault` for any other."""
    value = values.get(name, {})
    if not isinstance(value, Mapping):
        raise UsageFault(what="not-a-json-object", where=f"--arguments: {name}")
    return value
