"""Compiles a parsed query to one SQL statement: names come from the metamodel, every value is a bound parameter.

The statement yields ids, distinct and in order; whole rows are fetched afterwards for one page only. For the type
Mappe, `tittel %= @t && refArkivdel.tittel = @s` with @t "Road%" and @s "Series" becomes

    SELECT o.id FROM o_abstraktmappe o JOIN o_arkivdel t1 ON t1.id = o."refArkivdel"
    WHERE o.type = 'Mappe' AND ((o."tittel" GLOB ? AND MATCHES(o."tittel", ?)) AND t1."tittel" = ?)
    ORDER BY o.id DESC LIMIT ? OFFSET ?          operands: "Road*", "Road%", "Series", limit + 1, offset
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from noarkit.server import values
from noarkit.server.query.language import Between, Compare, Group, Node, Path, parse
from noarkit.server.query.paths import MAY_READ, LinkedObject, Paths, Target, joins_sql, require_tables
from noarkit.server.query.patterns import ANY, MATCHES, MAX_LENGTH
from noarkit.server.query.request import QueryRequest, Scalar, Sort
from noarkit.server.schema import schema
from noarkit.server.settings import Settings
from noarkit.server.values import BadValue
from noarkit.server.wire import Refusal

# SQLite joins at most 64 tables; its expressions may be 1,000 deep, and a row of ANDs is as deep as it is long.
MAX_TABLES = 60
_MAX_ROW = 64


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL for the ids of one page and one more, and the family whose ids they are."""

    sql: str
    operands: tuple[Operand, ...]
    family: str


def compile_query(request: QueryRequest, settings: Settings, *, checks_rights: bool) -> Statement:
    """Compiles a request; with `checks_rights`, objects for which the SQL function `MAY_READ` is false are left out."""
    paths = Paths(request.type, request.joins, settings)
    tree = parse(request.query)
    condition = _Conditions(paths, request.parameters, checks_rights=checks_rights)
    conditions = (
        [f"o.type = '{request.type}'"] if paths.root.types != schema().model.concrete(paths.root.family) else []
    )
    required: frozenset[LinkedObject] = frozenset()
    if tree is not None:
        conditions.append(condition.sql(tree))
        required = condition.required(tree)
    if checks_rights:
        conditions.append(f"{MAY_READ}('{paths.root.family}', o.id)")
    order, sorted_by = _order(paths, request.sort_order)
    linked_objects = condition.linked_objects()
    joins = joins_sql(linked_objects, required, checks_rights=checks_rights)
    if len(joins) >= MAX_TABLES:
        raise Refusal(400, f"The query joins more than {MAX_TABLES} tables.")
    repeats = any(linked_object.link is not None and _may_repeat(linked_object) for linked_object in linked_objects)
    select = ["SELECT DISTINCT" if repeats else "SELECT", ", ".join(["o.id", *(sorted_by if repeats else ())])]
    clauses = [*select, "FROM", schema().tables[paths.root.family].name, "o", *joins]
    if conditions:
        clauses += ["WHERE", " AND ".join(conditions)]
    clauses += ["ORDER BY", order, "LIMIT ? OFFSET ?"]
    return Statement(" ".join(clauses), (*condition.operands, request.limit + 1, request.offset), paths.root.family)


def _may_repeat(linked_object: LinkedObject) -> bool:
    link = linked_object.link
    return link is not None and link.kind != "column" and not link.single


def _order(paths: Paths, sorts: tuple[Sort, ...]) -> tuple[str, list[str]]:
    """The ORDER BY list, and its columns; ids decide last, the newest first, so that pages never overlap."""
    columns: list[str] = []
    order_terms: list[str] = []
    for sort in sorts:
        if paths.is_reference(sort.field):
            raise Refusal(400, f"sortOrder: {sort.field} is a reference, which cannot be sorted on.")
        sort_field = paths.field(paths.root, sort.field)
        if not sort_field.sortable:
            raise Refusal(400, f"sortOrder: field {sort.field} of {paths.root.name} cannot be sorted on.")
        columns.append(f'o."{sort_field.name}"')
        order_terms.append(f'o."{sort_field.name}" {"DESC" if sort.descending else "ASC"}')
    if 'o."id"' not in columns:
        order_terms.append("o.id DESC")
    return ", ".join(order_terms), columns


@dataclass(slots=True)
class _Conditions:
    """Compiles the condition tree to SQL, and collects the operands in the order of their placeholders."""

    paths: Paths
    parameters: Mapping[str, Scalar]
    checks_rights: bool = field(kw_only=True)
    operands: list[Operand] = field(default_factory=list)
    _linked_objects: dict[LinkedObject, None] = field(default_factory=dict)

    def sql(self, node: Node) -> str:
        """The condition as SQL."""
        if isinstance(node, Compare):
            return self._compare(node)
        if isinstance(node, Between):
            return self._between(node)
        parts = list(self._alternatives(node) if node.kind == "||" else map(self.sql, node.parts))
        word = " AND " if node.kind == "&&" else " OR "
        while len(parts) > _MAX_ROW:
            rows = (parts[start : start + _MAX_ROW] for start in range(0, len(parts), _MAX_ROW))
            parts = ["(" + word.join(row) + ")" for row in rows]
        return "(" + word.join(parts) + ")"

    def required(self, node: Node) -> frozenset[LinkedObject]:
        """The linked objects without which the condition cannot hold."""
        if isinstance(node, Group):
            requirements = [self.required(part) for part in node.parts]
            return frozenset.union(*requirements) if node.kind == "&&" else frozenset.intersection(*requirements)
        if isinstance(node, Compare) and node.operator == "=" and self._value(node.param) is None:
            return frozenset()
        return frozenset(self.paths.target(node.path).linked_object.lineage())

    def linked_objects(self) -> list[LinkedObject]:
        """The linked objects that the condition speaks of, parents first."""
        return sorted(self._linked_objects, key=lambda linked: linked.depth)

    def _alternatives(self, group: Group) -> Iterator[str]:
        """The parts of an OR; equalities of one path become one IN, which an index serves at once."""
        equal: dict[Path, list[Compare]] = {}
        for part in group.parts:
            if isinstance(part, Compare) and part.operator == "=" and self._value(part.param) is not None:
                equal.setdefault(part.path, []).append(part)
            else:
                yield self.sql(part)
        for path, parts in equal.items():
            target = self._target(path)
            column = target.sql(checks_rights=self.checks_rights)
            self.operands.extend(self._operand(target, part) for part in parts)
            yield f"{column} IN ({', '.join('?' * len(parts))})"

    def _compare(self, node: Compare) -> str:
        target = self._target(node.path)
        column = target.sql(checks_rights=self.checks_rights)
        if node.operator == "%=":
            return self._like(node, target, column)
        if self._value(node.param) is None:
            return f"{column} IS {'' if node.operator == '=' else 'NOT '}NULL"
        self.operands.append(self._operand(target, node))
        return f"{column} {'=' if node.operator == '=' else '<>'} ?"

    def _like(self, node: Compare, target: Target, column: str) -> str:
        if target.field is None or target.kind not in ("string", "number"):
            raise Refusal(400, f"{node.path} cannot be compared with %=; only strings and numbers can.")
        text = pattern(self._value(node.param), node.param, node.path)
        column = column if target.kind == "string" else f"CAST({column} AS TEXT)"
        if ANY not in text:
            self.operands.append(text)
            return f"{column} = ?"
        self.operands += [prefix(text), text]
        return f"({column} GLOB ? AND {MATCHES}({column}, ?))"

    def _between(self, node: Between) -> str:
        target = self._target(node.path)
        if target.field is None or target.kind not in ("date", "timestamp", "number"):
            raise Refusal(400, f"{node.path} cannot be compared with a range; only dates, timestamps and numbers can.")
        column = target.sql(checks_rights=self.checks_rights)
        low, high = ">=" if node.low_inside else ">", "<=" if node.high_inside else "<"
        parts: list[str] = []
        for name, comparison in ((node.low, low), (node.high, high)):
            value = self._value(name)
            if value is None:
                raise Refusal(400, f'parameter {name} of {node.path} is null; an open end of a range is written "*".')
            if value != "*":
                self.operands.append(operand(target.kind, value, name, node.path))
                parts.append(f"{column} {comparison} ?")
        return "(" + " AND ".join(parts) + ")" if parts else f"{column} IS NOT NULL"

    def _target(self, path: Path) -> Target:
        """The target of a path; the tables on the way are added to the joins of the statement."""
        target = self.paths.target(path)
        self._linked_objects.update(dict.fromkeys(require_tables(target)))
        return target

    def _operand(self, target: Target, node: Compare) -> Operand:
        return operand(target.kind, self._value(node.param), node.param, node.path)

    def _value(self, name: str) -> Scalar:
        if name not in self.parameters:
            raise Refusal(400, f"Parameter {name} is not among the parameters.")
        return self.parameters[name]


Operand = int | float | str


def operand(kind: str, value: Scalar, name: str, path: Path) -> Operand:
    """The stored form of a parameter that is compared with a field of that kind; the Refusal names both."""
    try:
        return _CONVERT[kind](value)
    except BadValue as fault:
        raise Refusal(400, f"parameter {name} of {path} {fault}.") from None


def pattern(value: Scalar, name: str, path: Path) -> str:
    """A `%=` parameter, no longer than a pattern may be."""
    if isinstance(value, bool) or value is None:
        raise Refusal(400, f"parameter {name} of {path} takes a string.")
    text = str(operand("string", value, name, path))
    if len(text) > MAX_LENGTH:
        raise Refusal(400, f"parameter {name} of {path} is longer than the {MAX_LENGTH} characters of a pattern.")
    return text


def prefix(text: str) -> str:
    """What every text that fits a pattern begins with, as a pattern of SQLite's GLOB, which an index can serve."""
    return "".join(_GLOB.get(character, character) for character in text.partition(ANY)[0]) + "*"


def _text(value: Scalar) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return values.text(value)


_GLOB = {"*": "[*]", "?": "[?]", "[": "[[]"}
_CONVERT: Mapping[str, Callable[[Scalar], Operand]] = {
    "string": _text,
    "number": values.whole_number,
    "boolean": values.truth,
    "date": values.day,
    "timestamp": values.timestamp,
}
