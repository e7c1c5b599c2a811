"""Fills the holes of a bag: fetches what `fetch.txt` promises, and only when somebody asked for it.

Only hosts that were named are asked, at the very addresses that were judged, and each turn to another address is judged
again. No more is taken than was announced or allowed, and nothing stays that is not what every manifest says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from noarkit.errors import PackageFault, TooLarge
from noarkit.forms.bagit.read import Bag, open_bag
from noarkit.forms.bagit.spec import PAYLOAD, Hole, hash_name
from noarkit.safe.atomic import open_atomic
from noarkit.safe.paths import resolve_inside
from noarkit.safe.urls import CheckedUrl, UrlPolicy, check_url

_MAX_REDIRECTS = 5
_REDIRECT_CODES = frozenset({301, 302, 303, 307, 308})

Download = Callable[[str, UrlPolicy], AbstractContextManager[Iterator[bytes]]]


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much may come, whatever is announced."""

    file_bytes: int = 2**40
    total_bytes: int = 2**42
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What was fetched, and what was there already."""

    files: int
    size_bytes: int
    already_present: int


def fetch_holes(
    path: Path, policy: UrlPolicy, *, limits: FetchLimits | None = None, download: Download | None = None
) -> FetchResult:
    """Fetches every file that `fetch.txt` of the bag in the folder `path` promises and that is not there yet.

    Raises `UnsafeUrl` for an address that is not allowed, `TooLarge`, and `PackageFault` where a file cannot be had,
    is not listed, or is not what its checksums say: what was fetched before it stays, and the next call goes on.
    """
    limits = limits or FetchLimits()
    get = download or http_download(limits.timeout_s)
    files = fetched_bytes = already_present = 0
    with open_bag(path) as bag:
        if bag.packed:
            raise PackageFault(where=str(path), why="not-a-folder")
        promised = {f"{PAYLOAD}/{entry.name}": entry for entry in bag.entries() if entry.size_bytes is None}
        for hole in bag.holes():
            entry = promised.get(hole.name)
            if entry is None:
                already_present += _is_there(bag, hole)
                continue
            if len(entry.digests) < len(bag.manifests):
                raise PackageFault(where=hole.name, why="no-manifest-entry")
            most = min(limits.file_bytes, limits.total_bytes - fetched_bytes)
            with get(hole.url, policy) as blocks:
                fetched_bytes += _download_hole(path, hole, blocks, most, dict(entry.digests))
            files += 1
    return FetchResult(files, fetched_bytes, already_present)


def _is_there(bag: Bag, hole: Hole) -> bool:
    with bag.open(hole.name.removeprefix(PAYLOAD + "/")):
        return True


def _download_hole(path: Path, hole: Hole, blocks: Iterator[bytes], most: int, digests: dict[str, str]) -> int:
    hashers = {algorithm: hashlib.new(hash_name(algorithm) or "", usedforsecurity=False) for algorithm in digests}
    place = resolve_inside(path, hole.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with open_atomic(place, replace=False) as file:
        for block in blocks:
            size += len(block)
            if size > most:
                raise TooLarge(where=hole.name, why="size", limit=most)
            if hole.size_bytes is not None and size > hole.size_bytes:
                raise TooLarge(where=hole.name, why="over-length", limit=hole.size_bytes)
            for hasher in hashers.values():
                hasher.update(block)
            file.write(block)
        for algorithm, hasher in hashers.items():
            if hasher.hexdigest() != digests[algorithm]:
                raise PackageFault(where=hole.name, why="hash", algorithm=algorithm)
    return size


def http_download(timeout_s: float) -> Download:
    """Fetches over HTTP, at the address that was judged; the certificate must be the named host's."""

    @contextmanager
    def get(url: str, policy: UrlPolicy) -> Iterator[Iterator[bytes]]:
        # an environment's proxy would ask on our behalf for what was never judged
        with httpx.Client(timeout=timeout_s, trust_env=False) as client:
            for _ in range(_MAX_REDIRECTS):
                checked = check_url(url, policy)
                with _answer(client, checked) as answer:
                    if answer.status_code in _REDIRECT_CODES:
                        url = str(httpx.URL(url).join(answer.headers.get("Location", "")))
                        continue
                    if answer.status_code != 200:
                        raise PackageFault(where=checked.host, why="status", detail=str(answer.status_code))
                    yield _blocks(answer, checked.host)
                    return
        raise PackageFault(where=url.partition("?")[0], why="redirect")

    return get


@contextmanager
def _answer(client: httpx.Client, checked: CheckedUrl) -> Iterator[httpx.Response]:
    url = httpx.URL(checked.url)
    pinned = url.copy_with(host=checked.addresses[0])
    headers = {"Host": url.netloc.decode("ascii"), "Accept-Encoding": "identity"}
    request = client.build_request("GET", pinned, headers=headers, extensions={"sni_hostname": checked.host})
    try:
        answer = client.send(request, stream=True)
    except httpx.HTTPError as error:
        raise PackageFault(where=checked.host, why="no-answer", detail=type(error).__name__) from error
    try:
        yield answer
    finally:
        answer.close()


def _blocks(answer: httpx.Response, host: str) -> Iterator[bytes]:
    try:
        yield from answer.iter_raw(256 * 1024)
    except httpx.HTTPError as error:
        raise PackageFault(where=host, why="half-answer", detail=type(error).__name__) from error
