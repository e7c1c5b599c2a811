"""An extract that lies in an archive file, or somewhere in another package: where it is, and its XML in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noarkit.errors import UnsafeMember
from noarkit.packages.dias.held import open_held
from noarkit.packages.holding.storage import Below, Storage, open_storage
from noarkit.packages.noark5 import spec
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.paths import inside
from noarkit.safe.unpack import form_of
from noarkit.safe.workplace import own_folder

_MARKS = (f"{spec.DESCRIPTION}.xml", f"{spec.STRUCTURE}.xml")
_DEEPEST = 4


def extract_in(storage: Storage) -> Storage | None:
    """The folder that holds the extract: that nearest to the top which has its structure, else its description.

    A description may lie alone among the metadata of what the extract is packed in.
    """
    found: dict[str, bool] = {}
    for stored in storage.files():
        above, _, name = stored.name.rpartition("/")
        if name in _MARKS and above.count("/") < _DEEPEST:
            found[above] = found.get(above, False) or name == _MARKS[1]
    if not found:
        return None
    best = min(found, key=lambda one: (not found[one], bool(one), one.count("/"), one))
    return Below(storage, best) if best else storage


def open_packed(path: Path) -> Storage:
    """The archive file that an extract lies in; also one whose names older writers spelt with `\\`, or in Latin-1.

    Raises what `open_storage` raises.
    """
    try:
        storage = open_storage(path, top=False)
    except UnsafeMember as fault:
        if fault.data.get("why") != "name-not-utf-8":
            raise
        return open_held(path)
    if extract_in(storage) is not None or form_of(path) == "zip":
        return storage
    storage.close()
    return open_held(path)


def spread(extract: Storage, root: Path) -> None:
    """Writes the files that stand directly in an extract into `root`: the XML and its schemas, no documents."""
    for name, content in extract.contents():
        if "/" in name:
            if name.split("/", 1)[0] in spec.DOCUMENT_FOLDERS:
                (root / name.split("/", 1)[0]).mkdir(exist_ok=True)
            continue
        with inside(root, name).open("xb") as file:
            while block := content.read(BLOCK_BYTES):
                file.write(block)


@contextmanager
def change_log_of(named: Path) -> Iterator[Path | None]:
    """The change log at a path, or in the archive file there; None where there is none any more."""
    if named.name.endswith(f"{spec.CHANGE_LOG}.xml") or not named.is_file():
        yield named if named.is_file() else None
        return
    with closing(open_packed(named)) as storage, own_folder("log") as folder:
        extract = extract_in(storage)
        if extract is not None:
            spread(extract, folder)
        log = folder / f"{spec.CHANGE_LOG}.xml"
        yield log if log.is_file() else None
