"""Makes a sealed package: files are copied and hashed in one pass, then listed, and the list is sealed and signed.

It appears whole or not at all, for its owner's eyes alone; the same call after a kill or a full disk goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.building import File
from noarkit.forms.container.packager import Build, MadePackage, Order, make_package
from noarkit.forms.container.progress import Progress
from noarkit.forms.container.sinks import form_of_target
from noarkit.forms.sealed.spec import FILES, SEAL, SIGNATURE, Kind, Seal, SealedFile, top_of
from noarkit.safe.signing import Signer

_HASH = "sha256"


@dataclass(frozen=True, slots=True)
class SealOrder:
    """What is to be sealed: where, as what, by whom. `job` is all that decides what the package becomes."""

    target: Path
    kind: Kind
    id: str
    made_at: str
    signer: Signer
    by: Mapping[str, str] = field(default_factory=dict)
    job: str = ""


# what is added once all files stand, and what the seal says of them; both are told what stands by then
Extras = Callable[[Iterator[SealedFile]], Iterable[tuple[str, Iterable[bytes]]]]
BuildStatement = Callable[[Iterator[SealedFile]], Mapping[str, object]]
OnSealed = Callable[[Seal], None]


def no_extras(files: Iterator[SealedFile], /) -> Iterable[tuple[str, Iterable[bytes]]]:
    """Adds nothing."""
    return ()


def check_target(target: Path) -> None:
    """Raises `UsageFault` for a name that asks for a form which cannot be read where it lies."""
    if form_of_target(target) == "tar.gz":
        name = str(target.with_name(f"{target.name.split('.', 1)[0]}.zip"))
        raise UsageFault(what="seal-form", where=str(target), wrong=str(target), fix=quote(name))


def seal_package(
    files: Iterable[File],
    order: SealOrder,
    build_statement: BuildStatement,
    *,
    extras: Extras = no_extras,
    before_placed: OnSealed | None = None,
    emit: Listener = ignore_event,
) -> MadePackage:
    """Makes the package at `order.target`, which must not be there. `before_placed` gets the seal once all but the
    name stands. Raises what `make_package` raises, and `UsageFault` for a name that asks for a tar.gz."""
    check_target(order.target)

    def describe(build: Build, progress: Progress) -> None:
        for name, blocks in extras(_sealed_files(progress)):
            build.tag(name, blocks)
        statement = build_statement(_sealed_files(progress))
        size = files_count = 0
        for file in _sealed_files(progress):
            files_count, size = files_count + 1, size + file.size_bytes
        build.tag(FILES, (file.line() for file in _sealed_files(progress)))
        seal = Seal(
            order.kind,
            order.id,
            order.made_at,
            order.signer.public.fingerprint,
            _find_sealed(progress, FILES),
            files_count,
            size,
            order.by,
            statement,
        )
        content = seal.content()
        build.tag(SEAL, [content])
        build.tag(SIGNATURE, [order.signer.sign(content)])
        if before_placed is not None:
            before_placed(seal)

    package_order = Order(
        order.target,
        f"seal 1 {order.kind} {order.id} {order.job} {order.signer.public.fingerprint}",
        (_HASH,),
        top=top_of(order.kind),
        private=True,
    )
    return make_package(files, package_order, describe, emit=emit)


def _sealed_files(progress: Progress) -> Iterator[SealedFile]:
    for row in progress.rows():
        yield SealedFile(row.name, row.size_bytes, row.digests[0])


def _find_sealed(progress: Progress, name: str) -> SealedFile:
    match = progress.find(name)
    assert match is not None  # noqa: S101  # it was written a moment ago
    return SealedFile(name, match[0].size_bytes, match[0].digests[0])
