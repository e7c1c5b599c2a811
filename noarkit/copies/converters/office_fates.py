"""Who in a batch of LibreOffice's was made, refused or fatal, by the order of its documents and what became visible."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

Fate = Literal["made", "damaged", "no-result", "broke", "waiting"]
"""A file is there; it could not be loaded; it was loaded and nothing came; it ended the batch; it had no turn."""


def fates_of(
    names: Sequence[str],
    *,
    loaded: AbstractSet[str],
    made: AbstractSet[str],
    refusals: int,
    ended: bool,
) -> list[Fate]:
    """The fate of each document of a batch, which LibreOffice takes one by one in the order of `names`.

    `refusals` counts how often it said that a document could not be loaded; it does not say which. `ended` is True
    where it came to its own end.
    """
    turns = len(names) if ended else _place_of_breaker(names, loaded, made, refusals)
    fates: list[Fate] = []
    for place, name in enumerate(names):
        if name in made:
            fates.append("made")
        elif place > turns:
            fates.append("waiting")
        elif place == turns:
            fates.append("broke")
        elif name in loaded or not refusals:
            fates.append("no-result")
        else:
            fates.append("damaged")
    return fates


def _place_of_breaker(names: Sequence[str], loaded: AbstractSet[str], made: AbstractSet[str], refusals: int) -> int:
    """Where the batch broke; behind the last where all had their turn."""
    last = max((place for place, name in enumerate(names) if name in loaded or name in made), default=-1)
    if last >= 0 and names[last] not in made:
        return last
    passed_over = sum(name not in loaded and name not in made for name in names[: last + 1])
    return last + 1 + max(0, refusals - passed_over)
