"""Compiles and runs the "= …" values of recipes in a sandbox: jinja2 expressions that see only data, and that end.

Recipes are shared between people who do not read code, so an expression must not be able to do more than look at the
record. What it can cost is bounded too: in length, in the size of numbers and results, in patterns (`patterns`).

    compile_value("record.subject | upper")(scene)        -> "MEETING ON TUESDAY"
    compile_value("record.__class__")                     -> "missing-name" when run: no attribute of Python is reached

No attribute of any Python object can be reached, nothing can be called or raised to a power, and there are no loops;
filters and tests are those of `filters.py` alone. Unknown names, filters and tests are refused when an expression is
compiled, so that a run meets only faults of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, UndefinedError, nodes
from jinja2.parser import Parser
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from noarkit.graph.entity import Content
from noarkit.recipes.filters import FilterRefused, filters_and_tests
from noarkit.recipes.patterns import PatternRefused, read_pattern
from noarkit.recipes.python_code import PythonCode, names_of
from noarkit.recipes.values import Formats, ValueRefused, read_date_form
from noarkit.records import SourceRecord

LONGEST_EXPRESSION = 2_000
LONGEST_RESULT = 1_000_000
_HIGHEST = 10**30
NAMES = ("record", "key", "kind", "contents", "item", "index", "items")
# A list of what is allowed, not of what is forbidden: a node type of a later jinja2 is refused until it is looked at.
_ALLOWED = (
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.Dict,
    nodes.Pair,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Filter,
    nodes.Test,
    nodes.Keyword,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Concat,
    nodes.Add,
    nodes.Sub,
    nodes.Mul,
    nodes.Div,
    nodes.FloorDiv,
    nodes.Mod,
    nodes.Neg,
    nodes.Pos,
)


class ExpressionRefused(ValueError):
    """An expression that cannot be compiled, or that a record does not fit. `why` is a stable word, `what` a name."""

    def __init__(self, why: str, what: str = "", *, near: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.what = what
        self.near = near


class ContentView:
    """A content as expressions see it."""

    __slots__ = ("content", "index")

    def __init__(self, content: Content, index: int) -> None:
        self.content = content
        self.index = index


class RecordView:
    """A source record as expressions see it."""

    __slots__ = ("contents", "fields", "key", "kind", "values")

    def __init__(self, record: SourceRecord) -> None:
        fields = record.fields
        self.fields = fields
        self.values = fields if isinstance(fields, dict) else {}  # what can be looked up without asking what it is
        self.key = record.key
        self.kind = record.kind
        self.contents = [ContentView(content, index) for index, content in enumerate(record.contents)]


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression; called with the scene of a record it gives a plain value."""

    source: str
    text: str
    """What computes it, in Python; `names` are those it uses."""
    names: frozenset[str]
    _run: Callable[[dict[str, object]], object]
    is_literal: bool = False
    """A list or mapping is written in it."""

    def __call__(self, scene: Scene) -> object:
        """The value, none included. Raises ExpressionRefused where the record does not fit."""
        try:
            value = self._run(scene.names)
            if value.__class__ is str and len(value) <= LONGEST_RESULT:
                return value
            if isinstance(value, str):
                if len(value) > LONGEST_RESULT:
                    raise ExpressionRefused("result-too-long")
                # A plain str: jinja2's Markup would else wander into fields.
                return str(value)
        except UndefinedError as fault:
            raise ExpressionRefused("missing-name", fault.message or "") from fault
        except FilterRefused as fault:
            raise ExpressionRefused(fault.why, fault.what) from fault
        except (ValueRefused, PatternRefused) as fault:
            raise ExpressionRefused(str(fault)) from fault
        except TemplateError as fault:
            raise ExpressionRefused("sandbox") from fault
        except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as fault:
            if isinstance(fault, ExpressionRefused):
                raise
            raise ExpressionRefused("does-not-fit", type(fault).__name__) from fault
        # StrictUndefined raises when a missing name is used, but one that merely stands in a list is not used yet.
        missing = _first_missing(value) if self.is_literal else value
        if isinstance(missing, Undefined):
            raise ExpressionRefused("missing-name", missing._undefined_hint or missing._undefined_name or "")
        return value


class Scene:
    """The names that expressions see, filled anew for each record. Not shared between threads."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, object] = {}

    def show(self, record: SourceRecord) -> None:
        """Makes `record` what expressions see."""
        view = RecordView(record)
        names = self.names
        names.clear()
        names["record"] = view
        names["key"] = view.key
        names["kind"] = view.kind
        names["contents"] = view.contents

    def enter(self, item: object, index: object, items: object) -> None:
        """Makes `item` what expressions under an `each = …` see."""
        self.names["item"] = item
        self.names["index"] = index
        self.names["items"] = items

    def current(self) -> tuple[object, object, object] | None:
        """The item that is shown now, for `restore`."""
        names = self.names
        return (names["item"], names["index"], names["items"]) if "item" in names else None

    def restore(self, outer: tuple[object, object, object] | None) -> None:
        """After the last item: what was shown before is shown again."""
        if outer is not None:
            self.enter(*outer)
            return
        for name in ("item", "index", "items"):
            self.names.pop(name, None)


class Sandbox(ImmutableSandboxedEnvironment):
    """Compiles expressions. Only data is reachable: mappings by key, lists by index, records and contents by name."""

    intercepted_binops = frozenset({"*", "%", "+"})

    def __init__(self, formats: Formats, codes: Mapping[str, Mapping[str, object]]) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False)
        self.globals = {}
        filters, tests = filters_and_tests(formats, codes)
        self.filters = dict(filters)
        self.tests = dict(tests)
        self._codes = codes
        self.code = PythonCode(self)

    def getattr(self, obj: object, attribute: str, absent: Undefined | None = None) -> object:
        """`obj.attribute`: a field of data, never an attribute of a Python object; `absent` where there is none."""
        # Never Python's getattr, except for the three names of `_OF_RECORD`: sandboxes fall by way of `__class__`,
        # `__globals__` and their like.
        if isinstance(obj, ContentView):
            read = _OF_CONTENT.get(attribute)
            return read(obj) if read else self._missing(attribute, absent)
        if isinstance(obj, dict | Mapping):  # a dict is known for one much sooner than any other mapping
            return obj[attribute] if attribute in obj else self._missing(attribute, absent)
        if isinstance(obj, RecordView):
            if attribute in obj.fields:
                return obj.fields[attribute]
            return getattr(obj, attribute) if attribute in _OF_RECORD else self._missing(attribute, absent)
        return obj if isinstance(obj, Undefined) else self._missing(attribute, absent)

    def getitem(self, obj: object, argument: object) -> object:
        """`obj[argument]`: an item of a list or text, or a field of data."""
        if isinstance(argument, str):
            value = self.getattr(obj, argument)
            return self._missing("[…]") if isinstance(value, Undefined) else value  # the name may be of the data
        if isinstance(obj, list | tuple | str) and isinstance(argument, int | slice):
            try:
                return obj[argument]
            except IndexError:
                return self._missing(f"[{argument}]")
        if isinstance(obj, Mapping) and isinstance(argument, int) and argument in obj:
            return obj[argument]
        return obj if isinstance(obj, Undefined) else self._missing("[…]")

    def call_binop(self, context: Context | None, operator: str, left: object, right: object) -> object:
        """Numbers are reckoned with inside bounds; texts and lists can be added, but not multiplied or formatted."""
        # «'a' * 10**9», «'%999999999d' % 1» and ever larger numbers are how a short expression eats all memory or time.
        if operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
            return _concatenate(left, right)
        for operand in (left, right):
            if isinstance(operand, Undefined):
                raise ExpressionRefused("missing-name", operand._undefined_hint or operand._undefined_name or "")
            if not isinstance(operand, int | float) or not -_HIGHEST < operand < _HIGHEST:
                raise ExpressionRefused("not-a-number")
        return self.binop_table[operator](left, right)

    def compile_value(self, source: str, names: tuple[str, ...] = NAMES) -> Expression:
        """Compiles the text after "= ". Raises ExpressionRefused with the reason."""
        if len(source) > LONGEST_EXPRESSION:
            raise ExpressionRefused("expression-too-long")
        try:
            parser = Parser(self, source, state="variable")
            tree = parser.parse_expression()
            if not parser.stream.eos:
                raise ExpressionRefused("expression-syntax", "chunk after the expression")
            tree.set_environment(self)
            literal = self._check_tree(tree, names)
            text, used_names = self.code.write(tree), names_of(tree)
            run = self.code.function(used_names, [f"return {text}"])
        except TemplateSyntaxError as fault:
            raise ExpressionRefused("expression-syntax", fault.message or "") from fault
        except (RecursionError, MemoryError, SyntaxError) as fault:
            raise ExpressionRefused("expression-too-deep") from fault
        except (TypeError, ValueError, ArithmeticError, LookupError) as fault:
            if isinstance(fault, ExpressionRefused):
                raise
            raise ExpressionRefused("expression-syntax", type(fault).__name__) from fault
        return Expression(source, text, used_names, run, literal)

    def _check_tree(self, tree: nodes.Node, names: tuple[str, ...]) -> bool:
        """Refuses what is not allowed; an `if` without `else` gives none. True if lists are written in it."""
        waiting = [tree]
        literal = False
        while waiting:
            node = waiting.pop()
            if isinstance(node, nodes.Call):
                raise ExpressionRefused("call-refused", _call_name(node))
            if not isinstance(node, _ALLOWED):
                raise ExpressionRefused("expression-part-refused", type(node).__name__)
            if isinstance(node, nodes.Name):
                _require_known(node.name, names, "unknown-name")
            elif isinstance(node, nodes.Filter):
                _require_known(node.name, tuple(self.filters), "unknown-filter")
                self._check_filter(node)
            elif isinstance(node, nodes.Test):
                _require_known(node.name, tuple(self.tests), "unknown-test")
                self._check_filter(node)
            # jinja2 would give an Undefined, and with it a fault for every record where the condition is false.
            elif isinstance(node, nodes.CondExpr) and node.expr2 is None:
                node.expr2 = nodes.Const(None, lineno=node.lineno, environment=self)
            literal = literal or isinstance(node, nodes.List | nodes.Tuple | nodes.Dict)
            waiting.extend(node.iter_child_nodes())
        return literal

    def _check_filter(self, node: nodes.Filter | nodes.Test) -> None:
        """Constant arguments that can be judged before any record is read: tables, patterns, date forms."""
        first = node.args[0] if node.args else None
        constant = first.value if isinstance(first, nodes.Const) else None
        if node.name == "code":
            if not isinstance(constant, str):
                raise ExpressionRefused("code-table-unnamed")
            _require_known(constant, tuple(self._codes), "unknown-code-table")
        elif node.name in ("match", "matching"):
            # A pattern from data could not be judged beforehand, and data may come from an enemy.
            if not isinstance(constant, str):
                raise ExpressionRefused("pattern-not-constant")
            _try_pattern(constant)
        elif node.name == "date" and first is not None:
            _try_date_form(constant)

    def _missing(self, name: str, absent: Undefined | None = None) -> Undefined:
        return self.undefined(hint=name) if absent is None else absent


def _first_missing(value: object) -> object:
    """The first missing name in a list that was written in the expression; the value itself where there is none."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Undefined):
            return part
        if isinstance(part, list | tuple):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
    return value


def _require_known(name: str, choices: tuple[str, ...], why: str) -> None:
    if name not in choices:
        raise ExpressionRefused(why, name, near=next(iter(get_close_matches(name, choices, 1)), ""))


def _call_name(node: nodes.Call) -> str:
    return node.node.name if isinstance(node.node, nodes.Name) else getattr(node.node, "attr", "")


def _try_pattern(pattern: str) -> None:
    try:
        read_pattern(pattern)
    except PatternRefused as fault:
        raise ExpressionRefused(str(fault), pattern) from fault


def _try_date_form(form: object) -> None:
    try:
        read_date_form(form if isinstance(form, str) else "%")
    except ValueRefused as fault:
        raise ExpressionRefused("date-form", str(form)) from fault


def _concatenate(
    left: str | list[object] | tuple[object, ...], right: str | list[object] | tuple[object, ...]
) -> object:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(left, str) or isinstance(right, str):
        raise ExpressionRefused("does-not-fit", "list")
    return [*left, *right]


def _extension(view: ContentView) -> str:
    name = view.content.name
    dot = name.rfind(".")
    return name[dot + 1 :] if dot > 0 else ""


def _stem(view: ContentView) -> str:
    name = view.content.name
    dot = name.rfind(".")
    return name[:dot] if dot > 0 else name


def content_format(content: Content) -> str:
    """A version's `format` where a recipe is silent: the extension, else one that its media type has, else `bin`.

    An extract names the file by it, so that format and ending agree as validators want.
    """
    name = content.name
    dot = name.rfind(".")
    extension = name[dot + 1 :].lower() if dot > 0 else ""
    if _is_ending(extension):
        return extension
    subtype = (content.media_type or "").rpartition("/")[2]
    ending = "txt" if subtype == "plain" else subtype
    return ending if _is_ending(ending) else "bin"


def _is_ending(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(text) <= 10


_OF_RECORD = frozenset({"key", "kind", "contents"})
_OF_CONTENT: Mapping[str, Callable[[ContentView], object]] = {
    "name": lambda view: view.content.name,
    "stem": _stem,
    "extension": _extension,
    "size": lambda view: view.content.size_bytes,
    "media_type": lambda view: view.content.media_type,
    "puid": lambda view: view.content.puid,
    "modified": lambda view: None if view.content.modified_ns is None else view.content.modified_ns / 1e9,
    "sha256": lambda view: view.content.sha256,
    "locator": lambda view: view.content.locator,
    "format": lambda view: content_format(view.content),
    "index": lambda view: view.index,
}
