"""Each option of a journey is declared once: commands, keywords, and what a run remembers follow from it."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noarkit
from noarkit.api.converting import ConversionKeywords, ConversionOptions
from noarkit.api.deriving import DeriveKeywords, DeriveOptions
from noarkit.api.extracting import ExtractOptions
from noarkit.cli.main import find_command
from noarkit.cli.option_values import options_of
from noarkit.extraction.selection import Selection
from noarkit.loading.next_step import TAKES
from noarkit.loading.options import (
    LOAD_ONLY,
    Cluster,
    IngestKeywords,
    IngestOptions,
    PlanKeywords,
    PlanOptions,
    RetryKeywords,
    SourceKeywords,
    SourceOptions,
)
from noarkit.loading.request import GLOBALS, may_hold_secret, run_request
from noarkit.option_fields import OptionField, flat_options, option_fields, values_given

CLASSES = (PlanOptions, IngestOptions, SourceOptions, DeriveOptions, ConversionOptions, ExtractOptions)
KEYWORDS = [
    (SourceKeywords, (SourceOptions,), ()),
    (PlanKeywords, (PlanOptions,), ()),
    (IngestKeywords, (IngestOptions,), ()),
    (RetryKeywords, (IngestOptions,), LOAD_ONLY),
    (DeriveKeywords, (SourceOptions, DeriveOptions), ()),
    (ConversionKeywords, (ConversionOptions,), ()),
]
FUNCTIONS = {
    "scan": (SourceOptions,),
    "plan": (PlanOptions,),
    "ingest": (IngestOptions,),
    "derive": (SourceOptions,),
    "convert": (ConversionOptions,),
}
COMMANDS = {
    "scan": (SourceOptions,),
    "plan": (PlanOptions,),
    "ingest": (PlanOptions, IngestOptions),
    "derive": (SourceOptions, DeriveOptions),
    "convert": (ConversionOptions,),
    "extract": (ExtractOptions,),
}


def options_on(command: str) -> set[str]:
    """The options of a command, as they are written."""
    return {flag for item in find_command(command).params for flag in item.opts if flag.startswith("--")}


@pytest.mark.parametrize(("keywords", "classes", "without"), KEYWORDS, ids=lambda value: getattr(value, "__name__", ""))
def test_keywords_are_the_fields_of_their_options(
    keywords: type[Any], classes: tuple[type[Any], ...], without: tuple[str, ...]
) -> None:
    types = {item.name: item.type for cls in classes for item in fields(cls) if item.name not in without}
    hints = {name: hint.__forward_arg__ for name, hint in keywords.__annotations__.items()}
    assert hints == types


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_its_options_with_their_defaults(name: str) -> None:
    shown = inspect.signature(getattr(noarkit, name)).parameters
    for cls in FUNCTIONS[name]:
        for item in fields(cls):
            assert shown[item.name].default == item.default
    assert all(item.kind is not inspect.Parameter.VAR_KEYWORD for item in shown.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_every_option_of_its_classes(command: str) -> None:
    declared = {item.flag for cls in COMMANDS[command] for item in flat_options(cls)}
    assert declared - options_on(command) == set()


def test_a_retry_takes_the_options_of_a_load_but_three() -> None:
    missing = {item.flag for item in flat_options(IngestOptions)} - options_on("retry")
    assert missing == {f"--{name.replace('_', '-')}" for name in LOAD_ONLY}


@pytest.mark.parametrize("command", TAKES)
def test_what_a_later_command_repeats_is_an_option_of_it(command: str) -> None:
    assert {f"--{name}" for name in TAKES[command] if name not in GLOBALS} - options_on(command) == set()


PLACES = {"file": Path(__file__), "folder": Path(__file__).parent}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_number_says_how_large_it_may_be(cls: type[Any]) -> None:
    numbers = [item for item in flat_options(cls) if item.spec.kind == "number"]
    assert [item.flag for item in numbers if item.spec.most <= item.spec.least] == []


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=9).filter(
    lambda text: not text.startswith("-")
)


def values_of(item: OptionField) -> st.SearchStrategy[Any]:
    """Values that an option may have, the default among them."""
    spec = item.spec
    if spec.parts is Selection:
        return any_options(Selection)
    if spec.parts is not None:
        whole = st.builds(Cluster, st.just("dask://there:1"), st.just(Path("/tls")), st.booleans())
        return st.none() | (whole.map(lambda value: replace(value, ship=False)) if spec.without else whole)
    if spec.kind in ("flag", "negated"):
        return st.booleans()
    if spec.choices is not None:
        return st.sampled_from([item.default, *spec.choices()])
    if spec.kind == "day":
        return st.none() | st.dates()
    if spec.kind == "number":
        return st.none() | st.integers(spec.least, spec.most)
    # an address that may hold a secret is not remembered
    single: st.SearchStrategy[Any] = TEXTS.filter(lambda text: item.name != "archive" or not may_hold_secret(text))
    if spec.kind in ("file", "folder"):
        single = TEXTS.map(lambda text: Path("/f") / text.replace("/", "-"))
        single = st.just(PLACES[spec.kind]) if spec.must_exist else single
    return st.lists(single, max_size=3).map(tuple) if spec.is_multiple else st.none() | single


def any_options(cls: type[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({item.name: values_of(item) for item in option_fields(cls)}).map(lambda v: cls(**v))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_what_was_asked_for_is_asked_again_by_the_words_remembered(cls: type[Any], data: st.DataObject) -> None:
    wish = data.draw(any_options(cls))
    parsed: list[Any] = []

    @click.command()
    @options_of(options=cls)
    def command(options: Any) -> int:
        parsed.append(options)
        return 0

    command.main(run_request("", **values_given(wish)).words(), standalone_mode=False)
    forgotten = {item.name for item in option_fields(cls) if not item.spec.is_remembered}
    expected = {item.name: getattr(wish, item.name) for item in option_fields(cls) if item.name not in forgotten}
    assert {name: getattr(parsed[0], name) for name in expected} == expected
