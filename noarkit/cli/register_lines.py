"""What a register and the folders or files it is of have to do with each other, in a line or two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from noarkit.model.disclosure import mask_text
from noarkit.records import Oddity
from noarkit.words.texts import Texts, plain

JOINED = ("by_number", "by_name")
ODDITIES = ("rows_left", "places_left", "by_name", "titles", "twice", "same_number", "no_number")
"""The counts of what should be looked at."""
_FEW = ODDITIES[2:]


def register_lines(texts: Texts, account: Mapping[str, object]) -> Iterator[str]:
    """How many rows were joined, and of what there is more than none."""
    rows_joined = sum(int(str(account[name])) for name in JOINED)
    yield texts.say(f"plan.register-{account['is_of']}", joined=rows_joined, **account)
    counts = [texts.say(f"plan.register-{name}", count=account[name]) for name in _FEW if account[name]]
    if counts:
        yield texts.say("plan.register-also", told=", ".join(counts))


def oddity_lines(texts: Texts, oddities: Iterable[Oddity]) -> Iterator[str]:
    """Each row or folder that should be looked at, by name."""
    for oddity in oddities:
        name = oddity.place or oddity.in_register or oddity.in_place
        yield f"  {texts.say(f'register.{oddity.kind}')}: {plain(mask_text(name))}"
