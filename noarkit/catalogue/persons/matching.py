"""Recognises a person in a text: by an identity number however it is written, by a name in any order of its words.

A hit is certain where the eleven digits stand by themselves, as one number or divided after the date, or where all
words of a name (two at least) stand in one text. Whatever else may be meant is a possible hit, for a person to judge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from noarkit.errors import UsageFault
from noarkit.model.identity_numbers import is_identity_number

Certainty = Literal["certain", "possible"]
Kind = Literal["id", "name"]
MOST_CRITERIA = 50
_ID_DIGITS = 11
_DATE_DIGITS = 6
_BETWEEN = r"[\s.\-/_\u00ad\u2010-\u2015\u2212]{0,3}"
"""What may stand between two digits of a number: blanks, hyphens, dots, a break of line."""
_JOINT = r"[ .\-\u00a0\u2009\u202f\u2010-\u2015\u2212]?"
_WRITTEN_BETWEEN = re.compile(r"[\s.\-/\u00a0\u2010-\u2015\u2212]+")
_ESCAPED_BLANK = re.compile(r"\\\\[nrt]")
"""How JSON writes a break of line or a tab."""
_WORD = re.compile(r"[^\W_]+")
_NEAR_WORDS = 5
"""So many other words may stand between the words of a name in the text of a document."""
_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "ð": "d", "þ": "th", "đ": "d", "ł": "l", "ß": "ss", "œ": "oe"})
_SPELLINGS = (("aa", "a"), ("oe", "o"), ("ae", "a"))


@dataclass(frozen=True, slots=True)
class Match:
    """A person recognised in a text, by which kind of criterion, and how sure that is."""

    kind: Kind
    certainty: Certainty


@dataclass(frozen=True)
class Person:
    """Whom a search is for: the numbers of one person, and the names. Prints neither."""

    ids: tuple[str, ...] = field(default=(), repr=False)
    names: tuple[tuple[str, ...], ...] = field(default=(), repr=False)

    @property
    def has_odd_ids(self) -> bool:
        """True where a number has no valid check digits, as one that was mistyped."""
        return not all(map(is_identity_number, self.ids))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What is searched for."""
        return (*(("id",) if self.ids else ()), *(("name",) if self.names else ()))

    def matches(self, text: str) -> Iterator[Match]:
        """How a short text (a field, a file name) shows the person: at most one match of each kind."""
        if not text:
            return
        if self.ids and (match := self._id_match(text)) is not None:
            yield match
        if self.names and (match := self._name_match(text, is_long=False)) is not None:
            yield match

    def matches_in_document(self, text: str) -> Iterator[Match]:
        """The same of the whole text of a document, where the words of a name must stand near each other to be sure."""
        if self.ids and (match := self._id_match(text)) is not None:
            yield match
        if self.names and (match := self._name_match(text, is_long=True)) is not None:
            yield match

    def may_occur_in(self, raw: str) -> bool:
        """A quick look: False only where no match can be in it, even one whose words stand in different fields."""
        if self.ids:
            plain = _ESCAPED_BLANK.sub(" ", raw if raw.isascii() else unicodedata.normalize("NFKC", raw))
            if any(pattern.search(plain) for pattern in self._loose):
                return True
        if not self.names:
            return False
        folded = widely_folded(raw)
        return any(all(word in folded for word in words) for words in self._wide_names)

    def words_in(self, text: str) -> set[tuple[int, str]]:
        """Which words of which names stand in a text, for names that are spread over several fields."""
        words = _spoken(widely_folded(text))
        return {(n, word) for n, name in enumerate(self._wide_names) for word in name if word in words}

    def is_complete(self, words: set[tuple[int, str]]) -> bool:
        """True where all words of one name are among these."""
        return any(all((n, word) in words for word in name) for n, name in enumerate(self._wide_names))

    @cached_property
    def _strict(self) -> tuple[re.Pattern[str], ...]:
        return tuple(
            re.compile(rf"(?<!\d){number[:_DATE_DIGITS]}{_JOINT}{number[_DATE_DIGITS:]}(?!\d)") for number in self.ids
        )

    @cached_property
    def _loose(self) -> tuple[re.Pattern[str], ...]:
        spread = [_BETWEEN.join(number) for number in self.ids]
        # a column of numbers has lost the nought in front
        without_nought = [rf"(?<!\d){number[1:]}(?!\d)" for number in self.ids if number.startswith("0")]
        return tuple(map(re.compile, (*spread, *without_nought)))

    @cached_property
    def _plain_names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(dict.fromkeys(map(folded_text, words))) for words in self.names)

    @cached_property
    def _wide_names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(dict.fromkeys(map(widely_folded, words))) for words in self.names)

    def _id_match(self, text: str) -> Match | None:
        text = text if text.isascii() else unicodedata.normalize("NFKC", text)
        if any(pattern.search(text) for pattern in self._strict):
            return Match("id", "certain")
        if any(pattern.search(text) for pattern in self._loose):
            return Match("id", "possible")
        return None

    def _name_match(self, text: str, *, is_long: bool) -> Match | None:
        wide = widely_folded(text)
        candidates = [n for n, name in enumerate(self._wide_names) if all(word in wide for word in name)]
        if not candidates:
            return None
        folded = folded_text(text)
        for n in candidates:
            name = self._plain_names[n]
            if len(name) > 1 and (_stands_near(folded, name) if is_long else set(name) <= _spoken(folded)):
                return Match("name", "certain")
        spoken = _spoken(wide)
        if any(set(self._wide_names[n]) <= spoken for n in candidates):
            return Match("name", "possible")
        return None


def person_of(ids: Iterable[str] = (), names: Iterable[str] = ()) -> Person:
    """A person by numbers and names as people write them. Raises `UsageFault`, which repeats none of them."""
    numbers = tuple(dict.fromkeys(_WRITTEN_BETWEEN.sub("", _digits(text)) for text in ids))
    if any(len(number) != _ID_DIGITS or not (number.isascii() and number.isdigit()) for number in numbers):
        raise UsageFault(what="person-id-form", where="--id")
    words = tuple(dict.fromkeys(tuple(_WORD.findall(_composed(text))) for text in names))
    if not all(words) or any(sum(map(len, name)) < 2 for name in words):
        raise UsageFault(what="person-name-form", where="--name")
    if not numbers and not words:
        raise UsageFault(what="person-wanted", where="--id, --name")
    if len(numbers) + len(words) > MOST_CRITERIA:
        raise UsageFault(what="person-too-many", where="--id, --name")
    return Person(numbers, words)


def folded_text(text: str) -> str:
    """A text without case and without marks on its letters: å as a, ø as o, æ as ae, é as e."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(_LETTERS)


def widely_folded(text: str) -> str:
    """The same, with aa, oe and ae as a, o and a, so that Aase, Åse and Ase are one."""
    folded = folded_text(text)
    for double, single in _SPELLINGS:
        folded = folded.replace(double, single)
    return folded


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _digits(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _spoken(folded: str) -> set[str]:
    """The words of a text, each also without the s of a genitive."""
    words = set(_WORD.findall(folded))
    return words | {word[:-1] for word in words if word.endswith("s") and len(word) > 2}


def _stands_near(folded: str, name: Sequence[str]) -> bool:
    """True where all words of a name stand in a run of words that is hardly longer than the name."""
    window = len(name) + _NEAR_WORDS
    last: dict[str, int] = {}
    wanted = frozenset(name)
    for at, match in enumerate(_WORD.finditer(folded)):
        word = match.group()
        if word not in wanted and word.endswith("s"):
            word = word[:-1]
        if word in wanted:
            last[word] = at
            if len(last) == len(wanted) and at - min(last.values()) < window:
                return True
    return False
