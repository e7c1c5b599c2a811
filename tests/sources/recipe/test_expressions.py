"""The sandbox shows data and nothing else, and always ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.recipes.expressions import ExpressionRefused, Sandbox, Scene
from noarkit.recipes.values import Formats, make_formats
from tests.sources.recipe.recipes import holding

FIELDS: dict[str, object] = {
    "title": "Brev om torsk",
    "path": "a/b/c.pdf",
    "items": ["x", "y", None, ""],
    "nothing": None,
    "empty": "",
    "day": "3.2.2021",
    "size": 12.0,
    "mail": {"to": [{"name": "Kari"}, {"name": "Ola"}], "keys": "of data"},
    "odd name": "odd",
    "code": "inn",
    "long": "a" * 5_000,
    "huge": 10**40,
    "ns": 1_600_000_000_123_000_000,
    "set": {"b", "a"},
    "numbered": {1: "one"},
}


def evaluate(source: str) -> object:
    """The value of an expression for a record with FIELDS and two contents."""
    sandbox = Sandbox(make_formats(Formats()), {"t": {"inn": "I", "*": "X"}, "strict": {"inn": "I"}})
    scene = Scene()
    scene.show(holding(FIELDS, "the/key", "b.PDF", "c"))
    return sandbox.compile_value(source)(scene)


@pytest.mark.parametrize(
    "source",
    [
        "record.__class__",
        "record['__class__'].mro()",
        "''.__class__.__mro__[1].__subclasses__()",
        "record.title.__class__",
        "record.title.format(record)",
        "record.title.upper()",
        "'{0.__class__}'.format(record)",
        "'%999999999d' % 1",
        "9 ** 9 ** 9",
        "record.size ** 9999",
        "'a' * 999999999",
        "[0] * 999999999",
        "record.long * 99999",
        "range(999999999)",
        "cycler('a')",
        "lipsum()",
        "namespace()",
        "self",
        "dict(a=1)",
        "record | attr('__class__')",
        "record | map('upper')",
        "record | xmlattr",
        "record.items | map(attribute='__class__')",
        "(record.title).__init__.__globals__",
        "contents[0].content",
        "contents[0].__class__",
        "record.mail.items()",
        "record.fields",
        "loop.index",
        "caller()",
        "{% for x in y %}{% endfor %}",
        "(" * 900 + "1" + ")" * 900,
        "-" * 1999 + "1",
        "1" + "+1" * 2000,
        "record.title | replace('', 'xxxxxxxxxx')",
        "record.long | replace('a', record.long) | replace('a', record.long)",
        "record.items | join(record.long) | replace('a', record.long)",
        "record.huge + 1",
        "record.huge * record.huge",
        "1 / 0",
        "1 // 0",
        "record.title - 1",
        "record.title < 1",
        "record.nothing + 'a'",
        "record.gone + 'a'",
        "record.gone",
        "record.gone.further",
        "record.gone == 1",
        "[record.gone]",
        "[[record.gone]]",
        "{'a': record.gone}",
        "record.items[99]",
        "record.title | match('(a+)+b')",
        "record.title | match(record.path)",
        "record.title | date(record.path)",
        "record.title | date('%Q')",
        "record.title | code(record.title)",
        "record.title | code('strict')",
        "record.title | code('nowhere')",
        "record.title | number",
        "record.title | date",
        "record.title | round",
        "record.items | round",
        "record.mail.to | sort | first | trim",
        "record.title | epoch('ns')",
        "record.ns | epoch('weeks')",
        "record.huge | epoch",
        "record.title | pluck('name')",
        "record.items | pluck('name')",
        "record.title | split('')",
        "record.size | round('x')",
        "record.items | list | join(record.long ~ record.long ~ record.long) | join(record.long)",
        "record.long.0 ~ record.gone",
        "record.gone | trim",
        "record.title + record.items",
        "record.size[0]",
        "~".join(["record.long"] * 180),
        "[record.long, record.long] | join | join(record.long) | replace('a', 'aaaaaaaaaa')",
        "7 | code(none)",
        "'a' | date(7)",
        "9999999999999 | epoch",
        "record.title | unknown",
        "record.title is unknown",
        "record.title |",
        "a b",
        "",
        "item",
        "x" * 2001,
    ],
)
def test_what_is_forbidden_endless_or_wrong_is_refused(source: str) -> None:
    with pytest.raises(ExpressionRefused):
        evaluate(source) if source != "item" else _outside_each()


def _outside_each() -> None:
    Sandbox(Formats(), {}).compile_value("item", ("record",))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("record.title", "Brev om torsk"),
        ("record.title | trim | upper", "BREV OM TORSK"),
        ("key ~ '!' ~ kind", "the/key!thing"),
        ("record.key", "the/key"),
        ("record.items", ["x", "y", None, ""]),
        ("record.mail.keys", "of data"),
        ("record['odd name']", "odd"),
        ("record.mail['to'][0].name", "Kari"),
        ("record.mail.to | pluck('name') | join(', ')", "Kari, Ola"),
        ("record.gone | default('d')", "d"),
        ("record.gone.further | default('d')", "d"),
        ("record.nothing | default('d')", "d"),
        ("record.empty | default('d')", "d"),
        ("record.gone is defined", False),
        ("record.nothing is none and record.empty is blank and record.gone is blank", True),
        ("record.title is startingwith('Brev') and record.title is endingwith('torsk')", True),
        ("record.title is matching('(?i)brev')", True),
        ("'x' in record.items and record.code is in ['inn', 'ut']", True),
        ("record.day | date", "2021-02-03"),
        ("'20210203' | date('%Y%m%d')", "2021-02-03"),
        ("record.day | timestamp", "2021-02-02T23:00:00.000Z"),
        ("record.day | year", 2021),
        ("record.ns | epoch('ns')", "2020-09-13T12:26:40.123Z"),
        ("'1 234,50' | number", 1234.5),
        ("'7' | int + 1", 8),
        ("2.567 | round(1)", 2.6),
        ("record.code | code('t')", "I"),
        ("'other' | code('t')", "X"),
        ("record.nothing | code('strict')", None),
        ("record.path | basename | stem", "c"),
        ("record.path | folder", "a/b"),
        ("record.path | extension", "pdf"),
        ("record.path | split('/') | part(1)", "b"),
        ("record.path | split('/') | part(9)", None),
        ("record.items | compact | reverse | first", "y"),
        ("[3, 1, 2, 1] | unique | sort | last", 3),
        ("record.items | length + record.title | length", 17),
        ("record.title | clip(5)", "Brev…"),
        ("'a_b__c' | readable", "a b c"),
        ("record.title | match('^(\\\\w+) om (\\\\w+)')", ["Brev", "torsk"]),
        ("record.title | match('x')", None),
        ("'yes' if record.title", "yes"),
        ("'yes' if record.empty", None),
        ("record.title[:4] + '/' + record.title[-5:]", "Brev/torsk"),
        ("['a'] + record.items[:1]", ["a", "x"]),
        ("record.size / 5 + 1 - 2 * 3 % 4 // 1", 1.4),
        ("contents | length", 2),
        ("contents[0].stem ~ contents[0].extension ~ contents[0].format ~ contents[1].format", "bPDFpdftxt"),
        ("contents[0].index + contents[0].size", 3),
        ("(contents | named('c')).name", "c"),
        ("record.contents[1].name", "c"),
        ("none | default(none) | trim", None),
        ("none | split(',')", []),
        ("none | clip(3)", None),
        ("none | replace('a', 'b')", None),
        ("none | match('a')", None),
        ("none | epoch", None),
        ("none | list", []),
        ("'ab' | replace('a', 'cc')", "ccb"),
        ("'ab' | first ~ ('ab' | last)", "ab"),
        ("'ab' | reverse", "ba"),
        ("record.set | list", ["a", "b"]),
        ("record.mail | list", ["to", "keys"]),
        ("['b', 1] | sort", [1, "b"]),
        ("record.numbered[1]", "one"),
        ("contents | named('gone')", None),
        ("record.mail.to | named('Ola')", {"name": "Ola"}),
        ("record.day is date and record.title is not date and record.size is number and true is not number", True),
        ("record.mail is mapping and record.items is sequence and record.title is string", True),
        ("3.6 | round", 4),
    ],
)
def test_expressions_read_and_change_data(source: str, value: object) -> None:
    assert evaluate(source) == value


def test_a_near_miss_is_proposed() -> None:
    with pytest.raises(ExpressionRefused) as fault:
        evaluate("record.title | trimm")
    assert (fault.value.why, fault.value.what, fault.value.near) == ("unknown-filter", "trimm", "trim")


def test_a_value_of_the_data_is_not_told_as_the_name_that_is_missing() -> None:
    with pytest.raises(ExpressionRefused) as fault:
        evaluate("record.mail[record.title]")
    assert "torsk" not in fault.value.what


@given(st.text(alphabet="record.titlms |'()[]{}+-*/%~0123456789,:=<>!_", max_size=40))
def test_whatever_is_written_gives_a_value_or_is_refused(source: str) -> None:
    try:
        evaluate(source)
    except ExpressionRefused as fault:
        assert fault.why
