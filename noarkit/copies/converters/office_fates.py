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
    finished: AbstractSet[str],
    refusals: int,
    ended: bool,
) -> list[Fate]:
    """The fate of each document of a batch, which LibreOffice takes one by one in the order of `names`.

    `refusals` counts how often it said that a document could not be loaded; it does not say which. `ended` is True
    where it came to its own end.
    """
    last = max((place for place, name in enumerate(names) if name in loaded or name in finished), default=-1)
    passed_over = sum(name not in loaded and name not in finished for name in names[: last + 1])
    refused_behind = max(0, refusals - passed_over)
    if not ended:
        broke_writing = last >= 0 and names[last] not in finished
        turns = last if broke_writing else last + 1 + refused_behind
    elif last >= 0 and len(names) - last - 1 > refused_behind:
        turns = last + 1  # it left in the middle, content: who comes behind has another start
    else:
        turns = len(names)
    fates: list[Fate] = []
    for place, name in enumerate(names):
        if name in finished:
            fates.append("made")
        elif place >= turns:
            fates.append("waiting" if ended or place > turns else "broke")
        elif name in loaded or not refusals:
            fates.append("no-result")
        else:
            fates.append("damaged")
    return fates
