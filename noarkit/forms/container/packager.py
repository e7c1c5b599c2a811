"""Makes a package of any form: files come in once, are copied and hashed in the same pass, and what describes them is
written after them. The package appears whole or not at all; the same call after a kill goes on where the last stopped.

    def describe(build: Build, progress: Progress) -> None:
        build.tag("METS.xml", mets(progress.rows("payload", by_name=True)))

    make_package(files, Order(Path("delivery.zip"), job="eark-sip 2.2.0", hashes=("sha256",)), describe)

The target's name says what it becomes: a folder, `.zip`, `.tar` or `.tar.gz`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import PackageFault, RunLocked, UsageFault
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.forms.container import sinks
from noarkit.forms.container.building import ArchiveBuild, File, FolderBuild, OnUnreadable
from noarkit.forms.container.progress import Progress
from noarkit.safe.atomic import no_room, place_new, sync_folder

EVENTS: EventFields = {"package_begun": {"resumed": "flag", "files": "count", "of": "count?"}}
Build = FolderBuild | ArchiveBuild
Describe = Callable[[Build, Progress], None]
OnWhole = Callable[["MadePackage"], None]
"""What is called once all of a package stands, before it gets its name."""


@dataclass(frozen=True, slots=True)
class Order:
    """How a package shall be made. A build is gone on with where `job` is the same: all that decides what it becomes.

    `hashes` are hashlib's names; rows of `progress` bear the digests in that order. `first` is a file that stands
    before all others, `folders` are there even where no file lies in them, but in a zip, which knows files alone. `top`
    is the folder inside a zip or tar, by default the target's name without its tail. `keep` are facts of the first
    start, which `progress` has for a build that goes on too. What is `private` its owner alone may read. Where
    `aside` is given, it is told of files that cannot be read, and the package is made without them. `before_named` is
    called once all stands.
    """

    target: Path
    job: str
    hashes: tuple[str, ...] = ("sha256",)
    width: int | None = None
    first: tuple[str, bytes] | None = None
    folders: tuple[str, ...] = ()
    top: str | None = None
    keep: tuple[tuple[str, str], ...] = ()
    private: bool = False
    aside: OnUnreadable | None = None
    before_named: OnWhole | None = None


@dataclass(frozen=True, slots=True)
class MadePackage:
    """A package that stands. `twins` are names in it that some systems take for one."""

    path: Path
    files: int
    size_bytes: int
    resumed: bool
    twins: tuple[tuple[str, str], ...] = ()


def make_package(
    files: Iterable[File], order: Order, describe: Describe, *, emit: Listener = ignore_event
) -> MadePackage:
    """Makes the package at `order.target`, which must not be there. `files` are (name inside, source, size, stamp).

    `describe` is called once all files stand, and writes what tells of them as tags; it is called anew by a build that
    goes on. Raises `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that
    cannot be taken (what was done is kept for the next call), `UnsafeMember` for names that stand twice.
    """
    target = order.target
    form = sinks.form_of_target(target)
    with no_room(target):
        progress = Progress(target, _job(order, form))
        try:
            if not os.path.lexists(target):
                if progress.get("phase") == "whole" and not os.path.lexists(progress.folder / "package"):
                    progress.begin_anew()  # killed after its last step, and then the package was taken away
                package = _build(files, form, order, progress, describe, emit)
            elif progress.get("phase") == "whole":
                package = _package_result(target, progress)  # killed between the last step and the cleaning up
            else:
                raise UsageFault(what="exists", where=str(target))
        except UsageFault:
            if progress.count() == 0:
                progress.clear()
            raise
        finally:
            progress.close()
        progress.clear()
    return package


def keep_first_fact(order: Order, key: str, fact: str) -> str:
    """What a build that goes on kept of its first start; `fact` where none was begun, which is kept from now on."""
    with no_room(order.target):
        progress = Progress(order.target, _job(order, sinks.form_of_target(order.target)))
        try:
            progress.put_first_fact(key, fact)
            return progress.get(key) or fact
        finally:
            progress.close()


def _job(order: Order, form: sinks.Form) -> str:
    return f"{order.job} {form} {' '.join(order.hashes)}"


def forget_build(target: Path) -> None:
    """Removes what a build left that was killed after its last step; nothing where another is at it."""
    with suppress(RunLocked):
        progress = Progress.open_existing(target)
        if progress is not None:
            progress.clear()


def _build(
    files: Iterable[File],
    form: sinks.Form,
    order: Order,
    progress: Progress,
    describe: Describe,
    emit: Listener,
) -> MadePackage:
    emit(Event("package_begun", {"resumed": progress.resumed, "files": progress.octets()[1]}))
    build: Build
    if form == "folder":
        build = FolderBuild(progress, order.hashes, order.width, private=order.private, aside=order.aside)
        for folder in order.folders:
            (build.path / folder).mkdir(parents=True, exist_ok=True)
    else:
        shape = (form, order.top or sinks.top_name(order.target))
        build = ArchiveBuild(progress, order.hashes, shape, order.folders, private=order.private, aside=order.aside)
    for key, value in order.keep:
        progress.put_first_fact(key, value)
    try:
        build.begin(order.first)
        build.take(files, emit)
        describe(build, progress)
        build.finish()
    finally:
        build.close()
    package = _package_result(order.target, progress)
    if order.before_named is not None:
        order.before_named(package)
    progress.put_fact("phase", "whole")
    _place(build.path, order.target)
    emit(Event("package_made", {"files": package.files, "bytes": package.size_bytes}))
    return package


def _package_result(target: Path, progress: Progress) -> MadePackage:
    octets, count = progress.octets()
    return MadePackage(target, count, octets, progress.resumed, tuple(progress.twins()))


def _place(build_path: Path, target: Path) -> None:
    """The last step: until here nothing bears the target's name."""
    if build_path.is_dir():
        if os.path.lexists(target):
            raise UsageFault(what="exists", where=str(target))
        try:
            build_path.rename(target)
        except OSError as error:
            raise PackageFault(where=str(target), why="not-placed", detail=error.strerror) from error
    else:
        place_new(build_path, target)
        build_path.unlink(missing_ok=True)
    sync_folder(target.parent)
