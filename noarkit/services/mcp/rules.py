"""Which tools of a service may be called: those known to read; all others count as changing something.

A name is judged by its words, whatever the prefix: `"Any_getRecords"`, `"any.get_records"` and `"getRecords"` are the
same tool. `"forgetRecords"` is not. For services without prefixes, names are compared whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from noarkit.services.kind import ToolKind

Judgement = Literal["reads", "writes", "never"]
Words = tuple[str, ...]
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

# a changing word anywhere in a name outweighs its ending
CHANGE_WORDS = frozenset(
    {"add", "approve", "archive", "assign", "associate", "bulk", "cancel", "clear", "complete", "convert", "copy",
     "create", "delete", "disable", "edit", "enable", "execute", "forget", "import", "insert", "invite", "mass",
     "merge", "modify", "move", "patch", "post", "publish", "purge", "put", "queue", "reject", "remove", "rename",
     "replace", "restore", "review", "run", "send", "set", "share", "submit", "trigger", "undo", "update",
     "upload", "upsert", "write"}
)  # fmt: skip
# money is never moved, not even where writing is switched on
_MONEY = frozenset(
    {"deposit", "deposits", "disburse", "pay", "payment", "payments", "payout", "payouts", "refund", "refunds",
     "reimburse", "reimbursement", "reimbursements", "topup", "topups", "transfer", "transfers", "withdraw",
     "withdrawal", "withdrawals"}
)  # fmt: skip
_TOP_UP = (("top", "up"), ("top", "ups"), ("pay", "out"), ("pay", "outs"))


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints of a server about a tool. They can make us more careful, never less."""

    read_only: bool | None = None
    destructive: bool | None = None


def words_of(name: str) -> Words:
    """Splits a tool's name into words, in small letters."""
    return tuple(word.casefold() for word in _WORD.findall(name))


class Rules:
    """The tools that a connection may call. `more` are tools that its owner knows to read only."""

    def __init__(self, kind: ToolKind, more: Iterable[str] = (), *, may_write: bool = False) -> None:
        self._read_names = {words_of(name) for name in (*kind.read_names, *more)} - {()}
        self._may_write = may_write
        self._guards_money = kind.guards_money
        self._whole = kind.has_whole_names

    def judge(self, name: str, hints: Hints | None = None) -> Judgement:
        """Judges whether a tool reads, (possibly) changes something, or is never called."""
        words, known_hints = words_of(name), hints or Hints()
        if self._guards_money and _moves_money(words):
            return "never"
        if known_hints.read_only is False or known_hints.destructive is True:
            return "writes"
        for length in range(len(words), len(words) - 1 if self._whole else 0, -1):
            if words[-length:] in self._read_names:
                return "writes" if CHANGE_WORDS.intersection(words[:-length]) else "reads"
        return "writes"

    def allows(self, judgement: Judgement) -> bool:
        """True if a tool with that judgement may be called."""
        return judgement == "reads" or (judgement == "writes" and self._may_write)


def _moves_money(words: Words) -> bool:
    pairs = pairwise(words)
    return bool(_MONEY.intersection(words)) or any(pair in _TOP_UP for pair in pairs)
