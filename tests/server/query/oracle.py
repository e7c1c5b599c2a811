"""Random archives and random queries, and a plain evaluator that knows nothing of SQL.

The evaluator tries every way to choose one linked object for each chain, and keeps an object where some choice fits.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from noarkit.model import Field, ObjectType, Reference, metamodel
from noarkit.server.schema import schema

MODEL = metamodel()
TYPES = (
    "Arkivdel",
    "Klassifikasjonssystem",
    "Klasse",
    "Mappe",
    "Saksmappe",
    "Moetemappe",
    "Moetedeltaker",
    "Basisregistrering",
    "Journalpost",
    "Arkivnotat",
    "Korrespondansepart",
    "Dokument",
    "Dokumentversjon",
    "EksternId",
    "Noekkelord",
    "Merknad",
    "Presedens",
    "Avskrivning",
    "Dokumentflyt",
    "Plan",
    "Adresse",
    "DNummer",
)
ROOTS = (*TYPES, *MODEL.abstract)
TEXTS = ("", "a", "b", "A", "ab", "a%b", "a_b", "a*b", "[a]", "æ", "a?b", "-1", "7", "𝄞", "ﬀ")
PATTERNS = ("%", "a%", "%b", "a%b", "_", "a_%", "%*%", "[a]", "%[%", "%%a%%", "A", "%?b", "7%", "", "æ%", "%ﬀ")
NUMBERS = (-1, 0, 7, 2021, 2**40)
MOMENTS = ("2021-01-01T00:00:00.000Z", "2021-06-01T12:30:00.001Z", "1969-12-31T23:59:59.999Z")
DAYS = ("2021-01-01", "2021-06-01", "1950-02-28")

Value = str | int | bool | None


@dataclass
class Thing:
    """One object of a random archive; values as clients see them."""

    id: int
    type: str
    values: dict[str, Value]
    links: dict[str, list[int]] = field(default_factory=dict)


Archive = dict[int, Thing]


@dataclass(eq=False)
class Chain:
    """A linked object that a query speaks of: how it is reached, and from where."""

    reference: str
    parent: Chain | None


@dataclass
class Question:
    """A random query: the request body, and the same condition as something that can be asked of one choice."""

    body: dict[str, object]
    chains: list[Chain]
    holds: Callable[[list[Thing | None], Thing], bool]
    order: list[tuple[str, bool]]


def random_archive(rnd: random.Random) -> Archive:
    archive: Archive = {}
    kinds = rnd.sample(TYPES, rnd.randint(1, 5))
    for number in range(1, rnd.randint(6, 20)):
        name = rnd.choice(kinds)
        fields = [each for each in MODEL.types[name].fields.values() if each.kind != "object" and each.name != "uuid"]
        values = {
            each.name: _value(rnd, each) for each in rnd.sample(fields, rnd.randint(len(fields) // 2, len(fields)))
        }
        values |= {"tittel": rnd.choice(TEXTS)} if "tittel" in MODEL.types[name].fields else {}
        values |= {"id": number * 3, "version": rnd.choice((1, 7)), "uuid": f"u{number}"}
        archive[number * 3] = Thing(number * 3, name, values)
    for thing in archive.values():
        for reference in MODEL.types[thing.type].references.values():
            _link_some(rnd, archive, thing, reference)
    return archive


def store(db: sqlite3.Connection, archive: Archive) -> None:
    """Writes the archive into the tables."""
    for thing in archive.values():
        family = MODEL.family(thing.type)
        columns: dict[str, object] = {"type": thing.type}
        for name, value in thing.values.items():
            columns[name] = _stored(MODEL.types[thing.type].fields[name], value)
        for name, targets in thing.links.items():
            link = schema().links.get((thing.type, name))
            if link is not None and link.kind == "column" and targets:
                columns[name] = targets[0]
            if link is not None and link.kind == "pairs":
                rows = [(thing.id, target) for target in targets]
                sql = f"INSERT OR IGNORE INTO {link.pair_table} ({link.own_column}, {link.other_column}) VALUES (?, ?)"
                db.executemany(sql, rows)
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        db.execute(f"INSERT INTO {schema().tables[family].name} ({names}) VALUES ({marks})", tuple(columns.values()))


def random_question(rnd: random.Random, archive: Archive) -> Question:
    return _Asker(rnd, archive).question()


def answer(archive: Archive, question: Question, readable: set[int]) -> list[int]:
    """The ids that the query finds, in its order."""
    types = MODEL.concrete(str(question.body["type"]))
    found = [
        thing
        for thing in archive.values()
        if thing.type in types
        and thing.id in readable
        and any(question.holds(choice, thing) for choice in _choices(archive, question.chains, thing, readable))
    ]
    found.sort(key=lambda thing: thing.id, reverse=True)
    for name, descending in reversed(question.order):
        found.sort(key=lambda thing: _rank(thing.values.get(name)), reverse=descending)
    return [thing.id for thing in found]


def _rank(value: Value) -> tuple[int, int, str]:
    if value is None:
        return 0, 0, ""
    return (1, value, "") if isinstance(value, int) else (1, 0, value)


def _choices(archive: Archive, chains: list[Chain], start: Thing, readable: set[int]) -> Iterator[list[Thing | None]]:
    chosen: list[Thing | None] = []

    def choose(place: int) -> Iterator[list[Thing | None]]:
        if place == len(chains):
            yield chosen
            return
        parent = chains[place].parent
        above = start if parent is None else chosen[chains.index(parent)]
        ids = [each for each in (above.links.get(chains[place].reference, []) if above else []) if each in readable]
        candidates: list[Thing | None] = [archive[each] for each in ids]
        for candidate in candidates or [None]:
            chosen.append(candidate)
            yield from choose(place + 1)
            chosen.pop()

    yield from choose(0)


def _value(rnd: random.Random, about: Field) -> Value:
    if about.kind == "boolean":
        return rnd.choice((True, False))
    pools: dict[str, tuple[Value, ...]] = {"number": NUMBERS, "timestamp": MOMENTS, "date": DAYS}
    return rnd.choice(pools.get(about.kind, TEXTS))


def _stored(about: Field, value: Value) -> Value:
    if about.kind == "timestamp":
        return dict(zip(MOMENTS, (1609459200000, 1622550600001, -1), strict=True))[str(value)]
    return int(value) if isinstance(value, bool) else value


def _link_some(rnd: random.Random, archive: Archive, thing: Thing, reference: Reference) -> None:
    kinds = {name for target in reference.targets for name in MODEL.concrete(target)}
    possible = [each for each in archive.values() if each.type in kinds]
    if not possible or rnd.random() < 0.2:
        return
    for target in rnd.sample(possible, rnd.randint(1, min(3, len(possible))) if reference.many else 1):
        back = MODEL.types[target.type].references.get(reference.inverse)
        mine = thing.links.setdefault(reference.name, [])
        theirs = target.links.setdefault(reference.inverse, [])
        taken = (mine and not reference.many) or (theirs and not (back is not None and back.many))
        if back is not None and target.id not in mine and not taken:
            mine.append(target.id)
            if thing.id not in theirs:
                theirs.append(thing.id)


class _Asker:
    """Makes one question."""

    def __init__(self, rnd: random.Random, archive: Archive) -> None:
        self.rnd = rnd
        self.archive = archive
        kinds = sorted({thing.type for thing in archive.values()})
        above = sorted({MODEL.family(kind) for kind in kinds})
        self.root = rnd.choice(ROOTS) if rnd.random() < 0.05 else rnd.choice([*kinds, *above])
        self.parameters: dict[str, Value] = {}
        self.joins: dict[str, str] = {}
        self.aliases: dict[str, tuple[Chain, tuple[str, ...]]] = {}
        self.by_prefix: dict[str, Chain] = {}
        self.chains: list[Chain] = []

    def question(self) -> Question:
        for number in range(self.rnd.choice((0, 0, 1, 2, 3))):
            self._new_alias(f"#{number}x")
        text, holds = self._tree(self.rnd.choice((0, 1, 1, 2, 3)))
        if self.rnd.random() < 0.1:
            text, holds, self.chains = "", lambda choice, thing: True, []
        order = self._order()
        body: dict[str, object] = {
            "type": self.root,
            "limit": self.rnd.choice((1, 2, 5, 500)),
            "offset": self.rnd.choice((0, 0, 1, 3)),
            "query": text,
            "parameters": self.parameters,
            "joins": self.joins,
            "publicUse": False,
            "sortOrder": [{"field": name, "order": "desc" if down else "asc"} for name, down in order],
        }
        return Question(body, self.chains, holds, order)

    def _order(self) -> list[tuple[str, bool]]:
        fields = [each for each in self._fields(MODEL.concrete(self.root)) if each.sortable]
        picked = self.rnd.sample(fields, self.rnd.choice((0, 0, 1, 2)))
        return [(each.name, self.rnd.random() < 0.5) for each in picked]

    def _new_alias(self, name: str) -> None:
        start, types, above = "", MODEL.concrete(self.root), None
        if self.aliases and self.rnd.random() < 0.5:
            start = self.rnd.choice(list(self.aliases))
            above, types = self.aliases[start]
        references = self._references(types)
        if not references:
            return
        reference = self.rnd.choice(references)
        chain = Chain(reference, above)
        self.joins[name] = f"{start}.{reference}" if start else reference
        self.aliases[name] = (chain, self._targets(types, reference))

    def _tree(self, depth: int) -> tuple[str, Callable[[list[Thing | None], Thing], bool]]:
        if depth == 0:
            return self._leaf()
        parts = [self._tree(depth - 1) for _ in range(self.rnd.randint(1, 3))]
        sign, every = self.rnd.choice((("&&", all), ("||", any)))
        gap = self.rnd.choice(("", " ", " \n"))
        text = f"{gap}{sign}{gap}".join(f"({part})" for part, _ in parts)
        if self.rnd.random() < 0.3:
            text = f"({text} )"
        return text, lambda choice, thing: every(holds(choice, thing) for _, holds in parts)

    def _leaf(self) -> tuple[str, Callable[[list[Thing | None], Thing], bool]]:
        prefix, types, chain = "", MODEL.concrete(self.root), None
        if self.aliases and self.rnd.random() < 0.4:
            prefix = self.rnd.choice(list(self.aliases))
            chain, types = self.aliases[prefix]
            self._speak_of(chain)
        for _ in range(self.rnd.choice((0, 0, 1, 1, 2))):
            references = self._references(types)
            if references and len(self.chains) < 5:
                reference = self.rnd.choice(references)
                prefix = f"{prefix}.{reference}" if prefix else reference
                chain = self.by_prefix.setdefault(prefix, Chain(reference, chain))
                self._speak_of(chain)
                types = self._targets(types, reference)
        if "." not in prefix and not prefix.startswith("#") and prefix and self.rnd.random() < 0.3:
            about = MODEL.types[types[0]].fields["id"]
            return self._comparison(prefix, about, chain, is_reference=True)
        about = self.rnd.choice([each for each in self._fields(types) if each.queryable])
        if self.rnd.random() < 0.3:
            about = MODEL.types[types[0]].fields.get("tittel", MODEL.types[types[0]].fields["id"])
        path = f"{prefix}.{about.name}" if prefix else about.name
        return self._comparison(path, about, chain, is_reference=False)

    def _comparison(
        self, path: str, about: Field, chain: Chain | None, *, is_reference: bool
    ) -> tuple[str, Callable[[list[Thing | None], Thing], bool]]:
        whole = "number" if about.name in ("id", "version") else about.kind
        kinds = ["=", "=", "!="]
        kinds += ["%="] if whole in ("string", "number") and not is_reference else []
        kinds += ["range"] if whole in ("number", "date", "timestamp") and not is_reference else []
        operator = self.rnd.choice(kinds)
        chains = self.chains

        def value_of(choice: list[Thing | None], thing: Thing) -> Value:
            at = thing if chain is None else choice[chains.index(chain)]
            return at.values.get(about.name) if at else None

        if operator == "range":
            return self._range(path, about, value_of)
        operand = self._operand(about, whole)
        if operator == "%=":
            operand = self.rnd.choice(PATTERNS)
        mark = self._parameter(operand)
        text = f"{path}{self.rnd.choice(('', ' '))}{operator}{self.rnd.choice(('', ' '))}{mark}"
        wanted = int(operand) if whole == "number" and operand is not None and operator != "%=" else operand

        def holds(choice: list[Thing | None], thing: Thing) -> bool:
            value = value_of(choice, thing)
            if operator == "%=":
                return value is not None and _like(str(operand), str(value))
            if operand is None:
                return (value is None) == (operator == "=")
            return value is not None and (value == wanted) == (operator == "=")

        return text, holds

    def _range(
        self, path: str, about: Field, value_of: Callable[[list[Thing | None], Thing], Value]
    ) -> tuple[str, Callable[[list[Thing | None], Thing], bool]]:
        whole = "number" if about.name in ("id", "version") else about.kind
        low, high = (self.rnd.choice(("*", self._operand(about, whole) or 0)) for _ in range(2))
        low, high = (("*" if each == 0 and whole != "number" else each) for each in (low, high))
        opening, closing = self.rnd.choice("[{"), self.rnd.choice("]}")
        text = f"{path} = {opening}{self._parameter(low)}:{self._parameter(high)} {closing}"

        def number(bound: Value) -> int | str:
            return int(bound or 0) if whole == "number" else str(bound)

        def holds(choice: list[Thing | None], thing: Thing) -> bool:
            value = value_of(choice, thing)
            if value is None:
                return False
            key = number(value)
            above = low == "*" or _before(number(low), key) or (opening == "[" and key == number(low))
            below = high == "*" or _before(key, number(high)) or (closing == "]" and key == number(high))
            return above and below

        return text, holds

    def _operand(self, about: Field, whole: str) -> Value:
        if self.rnd.random() < 0.2:
            return None
        if self.rnd.random() < 0.6:
            return self.rnd.choice([thing.values.get(about.name) for thing in self.archive.values()])
        if about.name == "id":
            return self.rnd.choice((3, 6, 9, 12, 30, 5, "15"))
        if whole == "number":
            return self.rnd.choice((*NUMBERS, "7", "2021"))
        return _value(self.rnd, about)

    def _parameter(self, value: Value) -> str:
        name = f"@p{len(self.parameters)}"
        self.parameters[name] = value
        return name

    def _speak_of(self, chain: Chain) -> None:
        if chain.parent is not None:
            self._speak_of(chain.parent)
        if all(chain is not each for each in self.chains):
            self.chains.append(chain)

    @staticmethod
    def _fields(types: tuple[str, ...]) -> list[Field]:
        found: dict[str, Field] = {}
        for each in map(_type, types):
            found |= dict(each.fields)
        return list(found.values())

    def _references(self, types: tuple[str, ...]) -> list[str]:
        """What can be followed; mostly what leads somewhere in this archive."""
        every = sorted(set(itertools.chain.from_iterable(_type(each).references for each in types)))
        set_ones = {name for thing in self.archive.values() if thing.type in types for name in thing.links}
        leading = [name for name in every if name in set_ones]
        return leading if leading and self.rnd.random() < 0.9 else every

    @staticmethod
    def _targets(types: tuple[str, ...], reference: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for each in map(_type, types):
            if reference in each.references:
                for target in each.references[reference].targets:
                    found |= dict.fromkeys(MODEL.concrete(target))
        return tuple(found)


def _type(name: str) -> ObjectType:
    return MODEL.types[name]


def _before(first: int | str, second: int | str) -> bool:
    if isinstance(first, int) and isinstance(second, int):
        return first < second
    # days and moments are compared as what they are: as texts they stand in the same order
    return str(first) < str(second)


def _like(pattern: str, text: str) -> bool:
    """Greedy matching from the left, written without any pattern engine."""
    first, *rest = pattern.split("%")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(text) - at >= len(rest[-1]) and text.endswith(rest[-1])
