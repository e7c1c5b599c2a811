"""What a field is called in plain words: as a language has it, else by the words that its own name is made of."""

from __future__ import annotations

import re

from noarkit.words.texts import Texts, plain

_MADE_OF_WORDS = re.compile(r"@?[A-Za-zÆØÅæøå][\w:.-]*")
_BORDER = re.compile(r"[_:.-]+|(?<=[a-zæøå0-9])(?=[A-ZÆØÅ])|(?<=[A-ZÆØÅ])(?=[A-ZÆØÅ][a-zæøå])")
_MOST_STEPS = 3
_TABLES = ("fields", "place-fields")
"""Names of Noark 5, and names of what runs, packages, databases and files say of themselves."""


def field_label(texts: Texts, name: str) -> str:
    """The label of a field; of the path of an element, those of its last steps. Never a name as programs write it."""
    known = known_label(texts, name)
    if known is not None:
        return known
    if "/" in name:
        steps = list(dict.fromkeys(_step_label(texts, step) for step in name.split("/")))
        return " › ".join(steps[-_MOST_STEPS:])
    return _step_label(texts, name)


def known_label(texts: Texts, name: str) -> str | None:
    """The label that a language has for a name; None where it has none."""
    return next((texts.text(table, name) for table in _TABLES if texts.has(table, name)), None)


def _step_label(texts: Texts, name: str) -> str:
    known = known_label(texts, name)
    if known is not None:
        return known
    if _MADE_OF_WORDS.fullmatch(name) is None:
        return plain(name)
    words = [word if word.isupper() else word.lower() for word in _BORDER.split(name.removeprefix("@")) if word]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def glossed(words: Texts, value: str) -> str:
    """A value of a code list of Noark with what it means in this language beside it; any other as it is."""
    table = words.tables["code_values"]
    meaning = table.get(value)
    return f"{plain(value)} ({meaning})" if isinstance(meaning, str) and meaning != value else plain(value)
