"""The tag file that says what files of a bag were called before: names that some system cannot bear.

Each line has the path below `data/`, a tab, and the key of the original path (`noarkit.safe.keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

ORIGINAL_NAMES = "original-names.txt"
LABEL = "Original-Names"
_BATCH = 1_000

Pairs = Callable[[], Iterable[tuple[str, str]]]


def names_tag(pairs: Pairs) -> Callable[[], Iterator[bytes]]:
    """The blocks of the tag file, from paths below `data/` with the keys of their original paths."""

    def blocks() -> Iterator[bytes]:
        lines: list[str] = []
        for name, key in pairs():
            lines.append(f"{name}\t{key}\n")
            if len(lines) >= _BATCH:
                yield "".join(lines).encode()
                lines.clear()
        yield "".join(lines).encode()

    return blocks
