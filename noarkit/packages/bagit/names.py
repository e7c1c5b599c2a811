"""The tag file that says what files of a bag were called before: names that some system cannot bear.

Each line has the path below `data/`, a tab, and the key of the original path (`noarkit.safe.keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from noarkit.errors import PackageFault
from noarkit.packages.bagit.spec import Declared
from noarkit.packages.holding.storage import Storage
from noarkit.safe.portable import is_portable_name_of

ORIGINAL_NAMES = "original-names.txt"
LABEL = "Original-Names"
_BATCH = 1_000

Pairs = Callable[[], Iterable[tuple[str, str]]]


def names_tag(pairs: Pairs) -> Callable[[], Iterator[bytes]]:
    """The blocks of the tag file, from paths below `data/` with the keys of their original paths."""

    def blocks() -> Iterator[bytes]:
        held: list[str] = []
        for name, key in pairs():
            held.append(f"{name}\t{key}\n")
            if len(held) >= _BATCH:
                yield "".join(held).encode()
                held.clear()
        yield "".join(held).encode()

    return blocks


def read_names(storage: Storage, declared: Declared) -> Iterator[tuple[str, str]]:
    """What the tag file tells, where there is one: paths below `data/` with the keys of their original paths.

    A line that does not follow the rule by which names are made is nothing that we wrote, and tells nothing.
    """
    from noarkit.packages.bagit.read import tag_lines

    try:
        with tag_lines(storage, ORIGINAL_NAMES, declared) as lines:
            for _, line in lines:
                name, _, key = line.rstrip("\r\n").partition("\t")
                if key and is_portable_name_of(key, name):
                    yield name, key
    except (FileNotFoundError, PackageFault):
        return  # a tag file that cannot be read tells nothing; its checksum is the validator's
