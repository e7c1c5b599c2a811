"""The documents that an extract leaves out because their archival copies stand for them, fetched beside it for packages
that hold both.

The folder gets `files/`, with each original under the path that it would have in the extract, and `pairs.csv`, which
says what was made of what. Copies to be read, where they are asked for, lie in `access/` and stand in the same list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from noarkit.archive.port import Archive
from noarkit.extraction.derived import ACCESS_FILES, FILES, PAIR_COLUMNS, PAIRS
from noarkit.extraction.store import ExtractStore
from noarkit.model.conversions import parse_details
from noarkit.safe.csv_files import write_csv
from noarkit.safe.digest import sha256_of

_PAIRED = (
    "SELECT a.path, a.data, p.path, p.file, p.done FROM copy_of c JOIN version a ON a.rowid = c.copy"
    " JOIN version p ON p.rowid = c.original WHERE a.done = 1 ORDER BY a.path"
)

_READ = (
    "SELECT a.path, a.data, p.path, a.file, p.done FROM access_copy c JOIN version a ON a.rowid = c.copy"
    " JOIN version p ON p.rowid = c.original WHERE p.done = 1 OR c.original IN"
    " (SELECT o.original FROM copy_of o JOIN version m ON m.rowid = o.copy WHERE m.done = 1) ORDER BY a.path"
)


def fetch_originals(
    archive: Archive, store: ExtractStore, folder: Path, pause: Callable[[], None], *, with_access: bool = False
) -> None:
    """Fetches the original of every copy that the extract holds, and copies to be read of what goes along. Raises
    `ChecksumDiffers` for one that is not what its copy was made of, or is not that copy."""
    folder.mkdir(parents=True, exist_ok=True)

    def rows() -> Iterator[tuple[str, str, int, str]]:
        for copy, data, original, file, done in store.rows(_PAIRED):
            details = str(orjson.loads(str(data))["f"]["formatDetaljer"])
            conversion = parse_details(details)
            assert conversion is not None  # noqa: S101  # only such were paired
            if done != 1:
                _fetch(archive, str(file), folder / FILES / str(original), conversion.source_sha256)
                pause()
            yield str(copy), str(original), int(done == 1), details
        for copy, data, original, file, done in store.rows(_READ) if with_access else ():
            details = str(orjson.loads(str(data))["f"]["formatDetaljer"])
            conversion = parse_details(details)
            assert conversion is not None  # noqa: S101  # only such were paired
            _fetch(archive, str(file), folder / ACCESS_FILES / str(copy), conversion.result_sha256)
            pause()
            yield str(copy), str(original), int(done == 1), details

    write_csv(folder / PAIRS, PAIR_COLUMNS, rows())


def _fetch(archive: Archive, file: str, target: Path, sha256: str) -> None:
    if target.is_file() and sha256_of(target) == sha256:
        return
    target.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    archive.download(file, target, expected_sha256=sha256, durable=False)
