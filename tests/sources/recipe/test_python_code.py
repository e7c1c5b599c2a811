"""Expressions written as Python mean what jinja2 makes of them, and the fields of a rule what they are one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.runtime import Context, Undefined

from noarkit.graph.entity import Content
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.recipes.expressions import ExpressionRefused, Sandbox, Scene
from noarkit.recipes.mapper import Mapper
from noarkit.recipes.values import Formats, make_formats
from noarkit.records import SourceRecord

SANDBOX = Sandbox(make_formats(Formats()), {"kind": {"a": "A", "*": "X"}})
ATOMS = (
    *("record.text", "record.number", "record.nothing", "record.list", "record.inner", "record.absent", "key", "kind"),
    *("record.inner.deep", "record['text']", "record.list[0]", "record.list[9]", "record.text[1:]", "contents"),
    *("item", "item.name", "item.stem", "item.absent", "index", "items", "contents[0].name", "record.contents"),
    *("1", "2.5", "true", "none", "'a'", "''", "'é\\n'", "[]", "[1, record.text]", "{'a': record.number}", "(1,)"),
)
FILTERS = (
    "trim",
    "upper",
    "default('d')",
    "list",
    "first",
    "length",
    "code('kind')",
    "clip(2)",
    "replace('e', 'i')",
    "join",
)
TESTS = ("defined", "none", "string", "blank", "number", "sequence", "endingwith('t')")
BINARY = ("+", "-", "*", "/", "//", "%", "~", "and", "or", "==", "!=", "<", ">=", "in", "not in")
RECORD = SourceRecord(
    "file",
    "case/letter.txt",
    {"text": "letter", "number": 7, "nothing": None, "list": ["a", 2], "inner": {"deep": "down"}},
    (Content("l", "letter.txt", 10, 1_600_000_000_000_000_000),),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({} | {})".format, inner, st.sampled_from(FILTERS)),
        st.builds("({} is {})".format, inner, st.sampled_from(TESTS)),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} if {})".format, inner, inner),
        st.builds("({}{})".format, st.sampled_from(("not ", "-", "+")), inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(ATOMS), _grown, max_leaves=6)


def _scene(*, inside: bool) -> Scene:
    scene = Scene()
    scene.show(RECORD)
    if inside:
        contents = scene.names["contents"]
        assert isinstance(contents, list)
        scene.enter(contents[0], 0, contents)
    return scene


def _outcome(run: Callable[[], object]) -> object:
    """What comes of it, in words that can be compared."""
    try:
        value = run()
    except Exception as fault:  # noqa: BLE001  # every kind must be the same
        return type(fault).__name__, str(fault)
    return (
        repr(value) if not isinstance(value, Undefined) else ("undefined", value._undefined_name, value._undefined_hint)
    )


def _by_jinja(source: str, scene: Scene) -> object:
    tree = Parser(SANDBOX, source, state="variable").parse_expression()
    tree.set_environment(SANDBOX)
    SANDBOX._check_tree(tree, ("record", "key", "kind", "contents", "item", "index", "items"))
    template = SANDBOX.from_string(
        nodes.Template([nodes.Assign(nodes.Name("made", "store"), tree, lineno=1)], lineno=1)
    )
    context = Context(SANDBOX, scene.names, None, {})
    for _ in template.root_render_func(context):
        pass
    return context.vars["made"]


@given(EXPRESSIONS, st.booleans())
def test_an_expression_means_what_jinja_makes_of_it(source: str, inside: bool) -> None:
    scene = _scene(inside=inside)
    try:
        expression = SANDBOX.compile_value(source)
    except ExpressionRefused:
        return
    ours = _outcome(lambda: expression._run(scene.names))
    assert ours == _outcome(lambda: _by_jinja(source, scene))


RECIPE = """
[source]
kind = "files"
[target]
external_system = "x"
model = 1
[personal_data]
identity_numbers = "MODE"
[formats]
longest = 40
[[map]]
for = "file"
type = "Basisregistrering"
documents = []
[map.fields]
tittel = "= record.title"
beskrivelse = "= record.text | default(none)"
dokumentetsDato = "= record.day | default(none)"
forfatter = "= record.who | default(none)"
dokumentmedium = "E"
"""
TEXTS = st.one_of(
    st.text(max_size=50),
    st.sampled_from(
        ("", "15076500565", "om 150765 00565 her", "line\nline", "a\x01b", "\ud800", "x" * 41, "2020/123456")
    ),
)
VALUES = st.one_of(TEXTS, st.none(), st.integers(), st.floats(), st.booleans(), st.lists(st.integers(), max_size=2))
FIELDS = st.fixed_dictionaries(
    {"title": TEXTS},
    optional={"text": VALUES, "who": VALUES, "day": st.one_of(VALUES, st.dates(), st.dates().map(str))},
)


def _one_by_one(mapper: Mapper) -> Mapper:
    """The same recipe, without the functions that make all fields at once."""
    plan = mapper._plan
    maps = tuple(
        replace(rule, run=None, entity=replace(rule.entity, fields=replace(rule.entity.fields, run=None)))
        for rule in plan.maps
    )
    return Mapper(replace(plan, maps=maps), Scene())


MODES = {"report": '"report"', "set-aside": '"set-aside"', "screen": '"screen"\nscreening = "P"'}
MAPPERS = {mode: compile_recipe(read_recipe(RECIPE.replace('"MODE"', text), "test")) for mode, text in MODES.items()}


@pytest.mark.parametrize("mode", MAPPERS)
@given(fields=FIELDS)
def test_fields_made_at_once_are_those_made_one_by_one(mode: str, fields: dict[str, object]) -> None:
    record = SourceRecord("file", "k", fields)
    assert MAPPERS[mode].map(record) == _one_by_one(MAPPERS[mode]).map(record)


@pytest.mark.parametrize("mode", MAPPERS)
def test_an_ordinary_record_is_made_at_once(mode: str) -> None:
    plan = MAPPERS[mode]._plan.maps[0].entity.fields
    scene = Scene()
    scene.show(SourceRecord("file", "k", {"title": "Letter\nof 2020/123456", "day": "01.02.2024", "who": None}))
    assert plan.run is not None
    assert plan.run(scene.names) == {
        "tittel": "Letter\nof 2020/123456",
        "dokumentetsDato": "2024-02-01",
        "dokumentmedium": "E",
    }
