"""Whatever a recipe says and a record holds, nothing unforeseen is raised and no two entities share a key."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.errors import PlanFault
from noarkit.graph.entity import Content, MappedRecord, SetAside, Skipped
from noarkit.model import metamodel
from noarkit.recipes import check, compile_recipe, read_recipe, render
from noarkit.records import SourceRecord

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=12),
    st.sampled_from(["1.2", "2020-01-01", "13097248022", "folder:x", "k#d1", "x" * 40_000, "=", "*"]),
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["name", "to", "items", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)
_records = st.builds(
    SourceRecord,
    st.sampled_from(["a", "b"]),
    st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=8),
    st.dictionaries(st.sampled_from(["name", "title", "to", "x", "y"]), _values, max_size=5),
    st.lists(st.builds(Content, st.just("l"), st.text(max_size=6), st.integers(0, 9)), max_size=3).map(tuple),
)
_expressions = st.sampled_from(
    [
        "= record.x",
        "= record.x | default(none)",
        "= record.x | default([])",
        "= record.name",
        "= record.to[0].name",
        "= record.x + record.y",
        "= record.x ~ record.y",
        "= record.x < record.y",
        "= [record.x, record.gone]",
        "= record.x | sort | unique | join('/')",
        "= record.x | date | default(key)",
        "= record.x | number | round(2)",
        "= record.x | split('.') | part(0)",
        "= record.x | match('^(.*)-(.*)$') | first",
        "= record.x | epoch('ms')",
        "= contents | first",
        "= contents | pluck('name')",
        "= item",
        "= item.name",
        "= index",
        "= key",
        "= record",
        "= none",
        "= record.gone",
        "= 1 / record.x",
        "= record.x[record.y]",
    ]
)
_keys = st.sampled_from(
    ["= key", "= record.name | default(key)", "= record.x | default('k')", "k", "folder:k", "= record.x"]
)
_value = st.one_of(_expressions, _expressions, st.text(max_size=5), st.integers(), st.booleans(), st.dates())
_fields = st.dictionaries(
    st.sampled_from(
        [
            "tittel",
            "beskrivelse",
            "dokumentetsDato",
            "mottattDato",
            "bevaringstid",
            "skjerming",
            "virksomhetsspesifikkeMetadata",
        ]
    ),
    _value,
    max_size=4,
)
_types = st.one_of(
    st.sampled_from([*metamodel().types]),
    *[st.sampled_from(["Mappe", "Basisregistrering", "Journalpost", "Arkivnotat"])] * 3,
)
_folders = st.sampled_from(["Mappe", "Mappe", "Saksmappe", "Basisregistrering"])
_part = st.fixed_dictionaries({}, optional={"each": _value, "when": _value, "fields": _fields})
_map = st.fixed_dictionaries(
    {},
    optional={
        "for": st.sampled_from(["a", "b"]),
        "when": st.one_of(_expressions, st.booleans()),
        "type": _types,
        "key": _keys,
        "class": _value,
        "parent": _value,
        "arkivdel": _value,
        "keywords": _value,
        "screening": _value,
        "business_metadata": st.just({"g": {"f": "= record.x"}}),
        "fields": _fields,
        "parents": st.lists(
            st.fixed_dictionaries({"key": _keys}, optional={"each": _value, "type": _folders, "fields": _fields}),
            max_size=2,
        ),
        "notes": st.lists(
            st.fixed_dictionaries({"fields": st.fixed_dictionaries({"tekst": _value})}, optional={"each": _value}),
            max_size=2,
        ),
        "cross_references": st.lists(st.fixed_dictionaries({"key": _value}), max_size=1),
        "documents": st.lists(_part, max_size=1),
    },
)
_recipes = st.fixed_dictionaries(
    {
        "target": st.fixed_dictionaries(
            {"external_system": st.just("x"), "model": st.sampled_from([1, 1, 2, 3])},
            optional={
                "classification": st.fixed_dictionaries(
                    {"name": st.just("e"), "leaf": st.sampled_from(["fault", "child"])},
                    optional={"separator": st.sampled_from(["", ".", "/"])},
                )
            },
        ),
        "map": st.lists(_map, max_size=2),
        "defaults": st.just({"Saksmappe": {"administrativEnhet": "A"}}),
    },
    optional={
        "personal_data": st.sampled_from(
            [{"identity_numbers": "set-aside"}, {"identity_numbers": "screen", "screening": "U"}]
        ),
        "skip": st.just([{"when": "= record.y | default(none) is string", "reason": "no text"}]),
    },
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_recipes, st.lists(_records, max_size=4))
def test_any_recipe_over_any_records_only_gives_what_it_promises(
    data: dict[str, object], records: list[SourceRecord]
) -> None:
    recipe = read_recipe(render(data), "random.toml")
    found = check(recipe, records)
    assert all(problem.line >= 1 for problem in found)
    try:
        mapper = compile_recipe(recipe)
    except PlanFault as fault:
        assert any(problem.key == fault.data["why"] for problem in found)
        return
    results = [mapper.map(record) for record in records]
    again = [mapper.map(record) for record in records]
    for record, result, second in zip(records, results, again, strict=True):
        assert result.record_key == record.key
        if isinstance(result, MappedRecord):
            keys = [entity.key for entity in result.entities]
            own = [key for key in keys if not key.startswith(("class:", "folder:"))]
            assert len(own) == len(set(own))
            known = {*keys, *(entity.key for entity in mapper.targets())}
            roots = [entity for entity in result.entities if entity.parent not in known]
            assert len(roots) <= 1
            for index, entity in enumerate(result.entities):
                assert entity.parent not in keys[index:]
            if isinstance(second, MappedRecord):
                assert [entity.key for entity in second.entities] == keys
        else:
            assert isinstance(result, SetAside | Skipped)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_as_no_recipe(text: str) -> None:
    try:
        check(read_recipe(text, "r"))
    except PlanFault as fault:
        assert fault.data["where"] == "r"
