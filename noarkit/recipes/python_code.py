"""Writes the tree of an expression as Python, so that a value costs one call.

    record.subject | trim | default(key)      ->
        filter_default(filter_trim((v if (v := get(values, 'subject', MISSING)) is not MISSING else
            getattr_(record, 'subject'))), (key))

The tree is of the node types that `expressions` allows, and every name in the text is one of ours or from a table of
ours: what a recipe says stands in it as a literal, or in `objects` under a name of ours. The meaning is jinja2's own;
`tests/sources/recipe/test_python_code.py` holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType
from typing import Any

from jinja2 import nodes
from jinja2.runtime import str_join
from jinja2.sandbox import ImmutableSandboxedEnvironment

Run = Callable[[dict[str, object]], Any]  # Any: whatever an expression gives
MISSING = object()
"""What stands for a name that is not there."""
_OF_EACH_RECORD = ("record", "key", "kind", "contents")
_OPERATORS = {
    "eq": "==",
    "ne": "!=",
    "gt": ">",
    "gteq": ">=",
    "lt": "<",
    "lteq": "<=",
    "in": "in",
    "notin": "not in",
}
_BINARY: dict[type[nodes.Node], str] = {
    nodes.Add: "+",
    nodes.Sub: "-",
    nodes.Mul: "*",
    nodes.Div: "/",
    nodes.FloorDiv: "//",
    nodes.Mod: "%",
    nodes.And: "and",
    nodes.Or: "or",
}
_UNARY: dict[type[nodes.Node], str] = {nodes.Not: "not ", nodes.Neg: "-", nodes.Pos: "+"}


@lru_cache(maxsize=2048)
def _compiled(text: str) -> CodeType:
    """Compiles a text; the same recipe is compiled again with each run of a library that makes several."""
    return compile(text, "<recipe>", "exec")


class PythonCode:
    """The functions of one sandbox; `objects` is what their text refers to."""

    def __init__(self, sandbox: ImmutableSandboxedEnvironment) -> None:
        self._intercepted = sandbox.intercepted_binops
        self.objects: dict[str, object] = {
            "get": dict.get,
            "getattr_": sandbox.getattr,
            "getitem_": sandbox.getitem,
            "binary_": sandbox.call_binop,
            "undefined_": sandbox.undefined,
            "join_": str_join,
            "ABSENT": sandbox.undefined(),
            "MISSING": MISSING,
        }
        self.objects |= {f"filter_{name}": look for name, look in sandbox.filters.items()}
        self.objects |= {f"test_{name}": look for name, look in sandbox.tests.items()}

    def keep(self, value: object) -> str:
        """The name by which the text of a function refers to `value`."""
        name = f"object_{len(self.objects)}"
        self.objects[name] = value
        return name

    def function(
        self, names: Iterable[str], lines: Iterable[str]
    ) -> Callable[[dict[str, object]], Any]:  # Any: any value
        """A function of the names on the scene, of lines that use `names`."""
        return self.definition("names", [*_headers(names), *lines])

    def definition(self, parameters: str, lines: Iterable[str]) -> Callable[..., Any]:  # Any: any value
        """A function of these parameters, of lines that define each name that they use."""
        text = "\n    ".join([f"def run({parameters}):", *lines])
        namespace: dict[str, Callable[..., Any]] = {}  # Any: as above
        exec(_compiled(text), self.objects, namespace)  # noqa: S102  # text of ours, see above
        return namespace["run"]

    def write(self, node: nodes.Node) -> str:
        """The text of one node."""
        if isinstance(node, nodes.Name):
            return node.name if node.name in _OF_EACH_RECORD else _maybe(node.name)
        if isinstance(node, nodes.Const):
            plain = node.value is None or type(node.value) in (str, bool)
            return repr(node.value) if plain else self.keep(node.value)
        if isinstance(node, nodes.Getattr):
            return self._attribute(node)
        if isinstance(node, nodes.Getitem):
            owner = self.write(node.node)
            if isinstance(node.arg, nodes.Slice):
                return f"{owner}[{self._slice(node.arg)}]"
            return f"getitem_({owner}, {self.write(node.arg)})"
        if isinstance(node, nodes.Filter) and _is_simple_default(node):
            # a text that is there needs no other
            replacement = self.write(node.args[0])
            return f"(t if (t := {self._filtered(node)}).__class__ is str and t else filter_default(t, {replacement}))"
        if isinstance(node, nodes.Filter | nodes.Test):
            kind = "filter" if isinstance(node, nodes.Filter) else "test"
            return f"{kind}_{node.name}({', '.join([self._filtered(node), *self._arguments(node)])})"
        if isinstance(node, nodes.CondExpr):
            otherwise = self.write(node.expr2) if node.expr2 is not None else "None"
            return f"({self.write(node.expr1)} if {self.write(node.test)} else {otherwise})"
        if isinstance(node, nodes.Compare):
            steps = [f" {_OPERATORS[step.op]} {self.write(step.expr)}" for step in node.ops]
            return f"({self.write(node.expr)}{''.join(steps)})"
        if isinstance(node, nodes.Concat):
            return f"join_(({self._items(node.nodes)}))"
        return self._calculation(node)

    def _calculation(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.BinExpr):
            left, right, operator = self.write(node.left), self.write(node.right), _BINARY[type(node)]
            if operator in self._intercepted:
                return f"binary_(None, {operator!r}, {left}, {right})"
            return f"({left} {operator} {right})"
        if isinstance(node, nodes.UnaryExpr):
            return f"({_UNARY[type(node)]}{self.write(node.node)})"
        if isinstance(node, nodes.List):
            return f"[{self._items(node.items)}]"
        if isinstance(node, nodes.Tuple):
            return f"({self._items(node.items)})"
        if isinstance(node, nodes.Dict):
            pairs = [f"{self.write(pair.key)}: {self.write(pair.value)}" for pair in node.items]
            return f"{{{', '.join(pairs)}}}"
        raise TypeError(type(node).__name__)

    def _filtered(self, node: nodes.Filter | nodes.Test) -> str:
        """What a filter or test is used on; `default` does not ask which name was missing."""
        if node.node is None:
            raise TypeError(node.name)
        if node.name == "default" and isinstance(node.node, nodes.Getattr):
            return self._attribute(node.node, ", ABSENT")
        return self.write(node.node)

    def _attribute(self, node: nodes.Getattr, if_missing: str = "") -> str:
        owner = self.write(node.node)
        slowly = f"getattr_({owner}, {node.attr!r}{if_missing})"
        if owner != "record":
            return slowly
        return f"(v if (v := get(values, {node.attr!r}, MISSING)) is not MISSING else {slowly})"

    def _slice(self, node: nodes.Slice) -> str:
        parts = [self.write(part) if part is not None else "" for part in (node.start, node.stop, node.step)]
        return ":".join(parts if node.step is not None else parts[:2])

    def _items(self, items: Iterable[nodes.Node]) -> str:
        return "".join(f"{self.write(item)}, " for item in items)

    def _arguments(self, node: nodes.Filter | nodes.Test) -> Iterable[str]:
        yield from (self.write(argument) for argument in node.args)
        if node.dyn_args is not None:
            yield f"*{self.write(node.dyn_args)}"
        for argument in node.kwargs:
            yield f"**{{{argument.key!r}: {self.write(argument.value)}}}"
        if node.dyn_kwargs is not None:
            yield f"**{self.write(node.dyn_kwargs)}"


def _is_simple_default(node: nodes.Filter) -> bool:
    """True for a default that is a name, an attribute or a constant: to look at it, or not, makes no difference."""
    if node.name != "default" or len(node.args) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
        return False
    part: nodes.Node = node.args[0]
    while isinstance(part, nodes.Getattr):
        part = part.node
    return isinstance(part, nodes.Name | nodes.Const)


def names_of(tree: nodes.Node) -> frozenset[str]:
    """The names that an expression uses."""
    names = {node.name for node in tree.find_all(nodes.Name)}
    return frozenset(names | {tree.name} if isinstance(tree, nodes.Name) else names)


def _headers(names: Iterable[str]) -> Iterable[str]:
    for name in sorted(set(names)):
        if name not in _OF_EACH_RECORD:
            yield f"{name} = names.get({name!r}, MISSING)"
            continue
        yield f"{name} = names[{name!r}]"
        if name == "record":
            yield "values = record.values"


def _maybe(name: str) -> str:
    return f"(undefined_(name={name!r}) if {name} is MISSING else {name})"
