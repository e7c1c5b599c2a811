"""Makes a bag of version 1.0 elsewhere: each file is read once, copied and hashed in the same pass, never moved.

    make_bag(files_below(Path("case-files")), Path("delivery.zip"), BagOrder(info=(("Source-Organization", "Vik"),)))

The target's name says what it becomes: a folder, `.zip`, `.tar` or `.tar.gz`. It appears whole or not at all; the same
call after a kill goes on where the last stopped. A source that changes while it is read is `ItemChanged`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from uuid import uuid4

from noarkit.errors import UnsafeMember, UnsafePath, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.bagit.spec import (
    DECLARATION,
    DEFAULT_ALGORITHMS,
    ENCODING,
    FETCH,
    HASHES,
    INFO,
    OXUM,
    PAYLOAD,
    WRITTEN_VERSION,
    encode_path,
    is_text,
    manifest_name,
    manifest_of,
    path_fault,
    write_info,
)
from noarkit.forms.container.building import OnUnreadable
from noarkit.forms.container.packager import Build, MadePackage, OnWhole, Order, make_package
from noarkit.forms.container.progress import PackagedFile, Progress
from noarkit.safe.digest import Readable
from noarkit.safe.tree import walk_tree
from noarkit.version import __version__

PREMIS = "premis.xml"
_FORMAT = "1"
_ID, _STARTED_AT = "bag-id", "bag-begun"

Blocks = Callable[[], Iterable[bytes]]
Opener = Callable[[], AbstractContextManager[Readable]]
Rows = Callable[[], Iterator[PackagedFile]]


@dataclass(frozen=True, slots=True)
class BagFile:
    """A file for the bag: its name below `data/`, and where its bytes come from: a path, or whatever opens them.

    `stamp` says of opened bytes that they are still the same; without one they are read again by a build that goes on.
    """

    name: str
    source: str | Path | Opener
    size_bytes: int | None = None
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class BagOrder:
    """How a bag shall be. `info` are entries of `bag-info.txt` in order, `tags` further tag files by name, whole or in
    blocks, which may be asked for again.

    One that is `identified` gets a UUID of its own at its first start. `premis` is asked for the tag file `premis.xml`,
    by that identifier, the moment of the first start, and what asks for the files of the payload, by name.
    """

    info: tuple[tuple[str, str], ...] = ()
    algorithms: tuple[str, ...] = DEFAULT_ALGORITHMS
    tags: tuple[tuple[str, bytes | Blocks], ...] = ()
    width: int | None = None
    identified: bool = False
    premis: Callable[[str, str, Rows], Iterable[bytes]] | None = None


MadeBag = MadePackage


def make_bag(
    files: Iterable[BagFile],
    target: Path,
    order: BagOrder | None = None,
    *,
    aside: OnUnreadable | None = None,
    before_named: OnWhole | None = None,
    emit: Listener = ignore_event,
) -> MadeBag:
    """Makes the bag at `target`, which must not be there. `aside` is told of files that cannot be read, `before_named`
    of the bag before it gets its name.

    Raises `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that cannot be
    taken (what was done is kept for the next call), `UnsafePath` and `UnsafeMember` for names no bag can hold.
    """
    order = order or BagOrder()
    _check_order(order)
    package_order = Order(
        target,
        f"{_FORMAT} {' '.join(order.algorithms)}",
        tuple(HASHES[algorithm] for algorithm in order.algorithms),
        order.width,
        (DECLARATION, _declaration()),
        (PAYLOAD,),
        aside=aside,
        before_named=before_named,
        keep=((_ID, f"urn:uuid:{uuid4()}"), (_STARTED_AT, datetime.now(UTC).isoformat(timespec="seconds"))),
    )
    return make_package(
        _package_files(files), package_order, lambda build, progress: _write_tags(build, progress, order), emit=emit
    )


def files_below(root: Path) -> Iterator[BagFile]:
    """Every file below a folder, in a stable order. Raises `UnsafeMember` for a link or device: a bag holds none."""
    files = []
    for entry in walk_tree(root):
        if entry.kind == "file":
            files.append((entry.name, entry.size()))
        elif entry.kind != "folder":
            raise UnsafeMember(where=entry.name, why="link" if entry.kind == "link" else "device")
        if len(files) >= 10_000:
            yield from _bag_files(root, files)
    yield from _bag_files(root, files)


def _bag_files(root: Path, files: list[tuple[str, int]]) -> Iterator[BagFile]:
    above = os.path.join(root, "")  # noqa: PTH118  # joining texts is ten times quicker, for millions of files
    for name, size in files:
        yield BagFile(name, above + name, size)
    files.clear()


def _check_order(order: BagOrder) -> None:
    if not order.algorithms or len(set(order.algorithms)) != len(order.algorithms):
        raise UsageFault(what="bad-value", where="algorithms")
    for algorithm in order.algorithms:
        if algorithm not in HASHES:
            raise UsageFault(what="bad-value", where=algorithm)
    for label, _ in order.info:
        if not label.strip() or ":" in label or label != " ".join(label.split()):
            raise UsageFault(what="bad-value", where=label)
    for name, _ in order.tags:
        is_reserved = name in (DECLARATION, INFO, FETCH) or manifest_of(name) is not None
        if path_fault(name) or is_reserved or name.split("/", 1)[0] == PAYLOAD:
            raise UnsafePath(where=name, why="not-plain")


def _package_files(files: Iterable[BagFile]) -> Iterator[tuple[str, str | Path | Opener, int | None, str]]:
    """Files under their whole names, which are judged here."""
    for file in files:
        name = f"{PAYLOAD}/{file.name}"
        wrong = path_fault(file.name)
        if wrong:
            raise UnsafePath(where=file.name, why=wrong.removeprefix("path:"))
        if not is_text(name):
            raise UnsafePath(where=file.name, why="not-utf-8")
        yield name, file.source, file.size_bytes, file.stamp


def _write_tags(build: Build, progress: Progress, order: BagOrder) -> None:
    octets, count = progress.octets()
    info = [(label, value) for label, value in order.info if label.casefold() != OXUM.casefold()]
    info += [
        entry
        for entry in _own_info(progress, order)
        if entry[0].casefold() not in {label.casefold() for label, _ in info}
    ]
    build.tag(INFO, [write_info([*info, (OXUM, f"{octets}.{count}")]).encode()])
    if order.premis is not None:
        rows = partial(progress.rows, "payload", by_name=True)
        build.tag(PREMIS, order.premis(progress.get(_ID) or "", progress.get(_STARTED_AT) or "", rows))
    for name, content in sorted(order.tags, key=itemgetter(0)):
        build.tag(name, [content] if isinstance(content, bytes) else content())
    for number, algorithm in enumerate(order.algorithms):
        files = progress.rows("payload", by_name=True)
        build.tag(manifest_name(algorithm), (_line(row.digests[number], row.name) for row in files))
    tag_rows = list(progress.rows("tag", by_name=True))
    for number, algorithm in enumerate(order.algorithms):
        lines = (_line(row.digests[number], row.name) for row in tag_rows)
        build.tag(manifest_name(algorithm, tags=True), lines)


def _own_info(progress: Progress, order: BagOrder) -> Iterator[tuple[str, str]]:
    """What every bag says of its making, unless it was told otherwise."""
    if order.identified:
        yield "External-Identifier", progress.get(_ID) or ""
    yield "Bagging-Date", (progress.get(_STARTED_AT) or "")[:10]
    yield "Bag-Software-Agent", f"noarkit {__version__}"


def _line(digest: str, name: str) -> bytes:
    return f"{digest}  {encode_path(name)}\n".encode()


def _declaration() -> bytes:
    return f"BagIt-Version: {WRITTEN_VERSION}\nTag-File-Character-Encoding: {ENCODING}\n".encode()
