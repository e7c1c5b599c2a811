"""One thing has one word in all that noarkit says: the glossary beside this test says which."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.words.texts import LANGUAGES, texts
from tests.test_words import leaves

_GLOSSARY = tomllib.loads((Path(__file__).parent / "glossary.toml").read_text("utf-8"))


def spoken(form: str) -> str:
    """A sentence without what is no word of it: the names of its fields, code and options."""
    without_names = re.sub(r"\{\w+\}|\{\w+:([^}|]*)\|?([^}]*)\}", r"\1 \2", form)
    return re.sub(r"`[^`]*`|--[\w-]+|\S*[/=_.]\S+", " ", without_names)


def other_words(lang: str, entry: dict[str, object]) -> Iterator[tuple[str, str]]:
    """The sentences that say a thing by another word than its own, with that word."""
    patterns, allowed = entry["instead_of"], entry.get("allowed", {})
    assert isinstance(patterns, list)
    assert isinstance(allowed, dict)
    before = f"(?<!{entry['after_not']} )" if "after_not" in entry else ""
    pattern = re.compile(rf"{before}(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.IGNORECASE)
    for key, forms in leaves(texts(lang).tables):
        name = key.removeprefix(".")
        if name.startswith(tuple(allowed)) or name.endswith(".examples"):
            continue
        for form in forms:
            if found := pattern.search(spoken(form)):
                yield name, found[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_thing_has_one_word(lang: str) -> None:
    other = {(entry["word"], *use) for entry in _GLOSSARY[lang] for use in other_words(lang, entry)}
    assert sorted(other) == []


def test_a_forbidden_word_is_found_in_a_sentence_and_not_in_a_command() -> None:
    entry = {"instead_of": ["shards?"]}
    assert re.search("shards", spoken("{count} {count:shard|shards} done"))
    assert not re.search("shard", spoken("load it with --shard spine ({shard})"))
    assert not list(other_words("en", {**entry, "instead_of": ["no such word"]}))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_exception_is_a_sentence(lang: str) -> None:
    keys = [key.removeprefix(".") for key, _ in leaves(texts(lang).tables)]
    for entry in _GLOSSARY[lang]:
        for allowed, reason in entry.get("allowed", {}).items():
            assert reason
            assert any(key.startswith(allowed) for key in keys), allowed
