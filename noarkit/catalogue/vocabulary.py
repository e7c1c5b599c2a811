"""The words of an index with the number of items that hold each: what a beginning of a word may be, what is common."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Literal

from noarkit.catalogue.query import Term, tokens_of

_COMMON = 20_000
"""A word of more items than this says nothing of which of them is meant, and weighing it would be dear."""
_MOST_EXPANSIONS = 2_000
_ITEMS_A_WORD = 1_500
"""To ask for one word more costs about as much as to gather so many items of a beginning."""


class Vocabulary:
    """The words of the metadata (`main`), or of the texts of documents (`texts`)."""

    def __init__(self, db: sqlite3.Connection, schema: Literal["main", "texts"] = "main") -> None:
        self._db = db
        self._schema = schema

    def expand(self, word: str) -> Sequence[str]:
        """The words that begin so, where it is quicker to ask for each of them; else none."""
        rows = self._db.execute(
            f"SELECT term, items FROM {self._schema}.term WHERE term >= ? AND term < ? LIMIT ?",  # noqa: S608  # ours
            (word, _after(word), _MOST_EXPANSIONS + 1),
        ).fetchall()
        if len(rows) > _MOST_EXPANSIONS or len(rows) * _ITEMS_A_WORD > sum(items for _, items in rows):
            return ()
        return [term for term, _ in rows]

    def is_common(self, term: Term) -> bool:
        """True where a term is of too many items to be weighed. A phrase is as rare as its rarest word."""
        if term.is_filter:
            return True
        tokens = tokens_of(term.text)
        last = len(tokens) - 1
        counts = [self._count(token, is_prefix=not term.is_exact and at == last) for at, token in enumerate(tokens)]
        return min(counts) > _COMMON

    def _count(self, token: str, *, is_prefix: bool) -> int:
        last = _after(token) if is_prefix else token + "\0"
        sql = f"SELECT sum(items) FROM {self._schema}.term WHERE term >= ? AND term < ?"  # noqa: S608  # ours
        return int(self._db.execute(sql, (token, last)).fetchone()[0] or 0)


def _after(word: str) -> str:
    """What stands behind every word that begins with this one."""
    return word + "\U0010ffff"
