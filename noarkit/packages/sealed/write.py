"""Makes a sealed package: files are copied and hashed in one pass, then listed, and the list is sealed and signed.

It appears whole or not at all, for its owner's eyes alone; the same call after a kill or a full disk goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.events import Listener, nobody
from noarkit.packages.holding.building import File
from noarkit.packages.holding.containers import form_of_target
from noarkit.packages.holding.making import Build, Made, Order, make_package
from noarkit.packages.holding.progress import Progress
from noarkit.packages.sealed.spec import FILES, SEAL, SIGNATURE, Kind, Listed, Seal, top_of
from noarkit.safe.signing import Signer

_HASH = "sha256"


@dataclass(frozen=True, slots=True)
class SealOrder:
    """What is to be sealed: where, as what, by whom. `job` is all that decides what the package becomes."""

    target: Path
    kind: Kind
    id: str
    made: str
    signer: Signer
    by: Mapping[str, str] = field(default_factory=dict)
    job: str = ""


# what is added once all files stand, and what the seal says of them; both are told what stands by then
Extras = Callable[[Iterator[Listed]], Iterable[tuple[str, Iterable[bytes]]]]
Saying = Callable[[Iterator[Listed]], Mapping[str, object]]
Sealing = Callable[[Seal], None]


def no_extras(listed: Iterator[Listed], /) -> Iterable[tuple[str, Iterable[bytes]]]:
    """Adds nothing."""
    return ()


def check_target(target: Path) -> None:
    """Raises `UsageFault` for a name that asks for a form which cannot be read where it lies."""
    if form_of_target(target) == "tar.gz":
        raise UsageFault(what="seal-form", where=str(target), do=f"{target.name.split('.', 1)[0]}.zip")


def seal_package(
    files: Iterable[File],
    order: SealOrder,
    say: Saying,
    *,
    extras: Extras = no_extras,
    before_placed: Sealing | None = None,
    tell: Listener = nobody,
) -> Made:
    """Makes the package at `order.target`, which must not be there. `before_placed` gets the seal once all but the
    name stands. Raises what `make_package` raises, and `UsageFault` for a name that asks for a tar.gz."""
    check_target(order.target)

    def describe(build: Build, progress: Progress) -> None:
        for name, blocks in extras(_listed(progress)):
            build.tag(name, blocks)
        said = say(_listed(progress))
        size = files_count = 0
        for one in _listed(progress):
            files_count, size = files_count + 1, size + one.size_bytes
        build.tag(FILES, (one.line() for one in _listed(progress)))
        seal = Seal(
            order.kind,
            order.id,
            order.made,
            order.signer.public.fingerprint,
            _standing(progress, FILES),
            files_count,
            size,
            order.by,
            said,
        )
        content = seal.content()
        build.tag(SEAL, [content])
        build.tag(SIGNATURE, [order.signer.sign(content)])
        if before_placed is not None:
            before_placed(seal)

    wanted = Order(
        order.target,
        f"seal 1 {order.kind} {order.id} {order.job} {order.signer.public.fingerprint}",
        (_HASH,),
        top=top_of(order.kind),
        private=True,
    )
    return make_package(files, wanted, describe, tell=tell)


def _listed(progress: Progress) -> Iterator[Listed]:
    for row in progress.rows():
        yield Listed(row.name, row.size_bytes, row.digests[0])


def _standing(progress: Progress, name: str) -> Listed:
    found = progress.find(name)
    assert found is not None  # noqa: S101  # it was written a moment ago
    return Listed(name, found[0].size_bytes, found[0].digests[0])
