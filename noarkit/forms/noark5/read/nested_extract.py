"""An extract that lies in an archive file, or somewhere in another package: where it is, and its XML in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noarkit.errors import UnsafeMember
from noarkit.forms.container.storage import Storage, SubfolderStorage, open_storage
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.noark5 import spec
from noarkit.safe.digest import BLOCK_BYTES
from noarkit.safe.paths import resolve_inside
from noarkit.safe.unpack import form_of
from noarkit.safe.workplace import temporary_folder

_MARKER_FILES = (f"{spec.DESCRIPTION}.xml", f"{spec.STRUCTURE}.xml")
_DEEPEST = 4


def find_extract_root(storage: Storage) -> Storage | None:
    """The folder that holds the extract: that nearest to the top which has its structure, else its description.

    A description may lie alone among the metadata of what the extract is packed in.
    """
    has_structure: dict[str, bool] = {}
    for file in storage.files():
        above, _, name = file.name.rpartition("/")
        if name in _MARKER_FILES and above.count("/") < _DEEPEST:
            has_structure[above] = has_structure.get(above, False) or name == _MARKER_FILES[1]
    if not has_structure:
        return None
    best = min(has_structure, key=lambda one: (not has_structure[one], bool(one), one.count("/"), one))
    return SubfolderStorage(storage, best) if best else storage


def open_packed(path: Path) -> Storage:
    """The archive file that an extract lies in; also one whose names older writers spelt with `\\`, or in Latin-1.

    Raises what `open_storage` raises.
    """
    try:
        storage = open_storage(path, top=False)
    except UnsafeMember as fault:
        if fault.data.get("why") != "name-not-utf-8":
            raise
        return open_tar_storage(path)
    if find_extract_root(storage) is not None or form_of(path) == "zip":
        return storage
    storage.close()
    return open_tar_storage(path)


def copy_top_files(extract: Storage, root: Path) -> None:
    """Writes the files that stand directly in an extract into `root`: the XML and its schemas, no documents."""
    for name, content in extract.contents():
        if "/" in name:
            if name.split("/", 1)[0] in spec.DOCUMENT_FOLDERS:
                (root / name.split("/", 1)[0]).mkdir(exist_ok=True)
            continue
        with resolve_inside(root, name).open("xb") as file:
            while block := content.read(BLOCK_BYTES):
                file.write(block)


@contextmanager
def open_change_log(path: Path) -> Iterator[Path | None]:
    """The change log at a path, or in the archive file there; None if there is none any more."""
    if path.name.endswith(f"{spec.CHANGE_LOG}.xml") or not path.is_file():
        yield path if path.is_file() else None
        return
    with closing(open_packed(path)) as storage, temporary_folder("log") as folder:
        extract = find_extract_root(storage)
        if extract is not None:
            copy_top_files(extract, folder)
        log = folder / f"{spec.CHANGE_LOG}.xml"
        yield log if log.is_file() else None
