"""An extract in a zip or tar as a source: its XML goes into a folder of our own, its documents are read where they
lie."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from noarkit.errors import ItemVanished, PackageFault, SourceGone, UnsafePath
from noarkit.forms.container.locators import MemberReader, MemberStream, locator_of
from noarkit.forms.container.storage import Storage, SubfolderStorage
from noarkit.forms.noark5.read.entities import Untakable
from noarkit.forms.noark5.read.nested_extract import copy_top_files, find_extract_root, open_packed
from noarkit.forms.noark5.source.files import ALGORITHMS, is_damaged
from noarkit.forms.noark5.spec import DOCUMENT_FOLDERS
from noarkit.graph.entity import Content
from noarkit.records import ContentStream
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_EXTRACT, Fixity, checked
from noarkit.safe.paths import checked_parts
from noarkit.safe.workplace import folder_for_owner


class PackedFiles:
    """The files of an extract in an archive file. Nothing is read before it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._located = MemberReader(path)
        self._storage: Storage | None = None
        self._extract: Storage | None = None
        self._root: Path | None = None
        self._modified_ns: int | None = None

    @property
    def root(self) -> Path:
        """A folder with the XML of the extract, there as long as this is."""
        if self._root is None:
            root = folder_for_owner(self, "extract")
            copy_top_files(self._extract_storage(), root)
            self._root = root
        return self._root

    def _extract_storage(self) -> Storage:
        if self._extract is None:
            if not self.path.is_file():
                raise SourceGone(where=str(self.path), why="ENOENT")
            self._modified_ns = self._located.modified_ns()
            self._storage = open_packed(self.path)
            weakref.finalize(self, self._storage.close)
            self._extract = find_extract_root(self._storage)
            if self._extract is None:
                raise PackageFault(where=str(self.path), why="no-package")
        return self._extract

    def content(self, path: str, sha256: str | None, algorithm: str, checksum: str) -> Content:
        """The file that the XML names; `\\` is taken for `/`, and a name may lack its folder. Raises Untakable."""
        extract = self._extract_storage()
        try:
            parts = checked_parts(path.replace("\\", "/").removeprefix("./"))
        except UnsafePath as fault:
            raise Untakable(fault.code, **fault.data) from None
        for folder in ("", *DOCUMENT_FOLDERS):
            member = extract.member("/".join((folder, *parts) if folder else parts))
            if member is not None:
                old = ALGORITHMS.get(algorithm) if sha256 is None and checksum else None
                proof = f"{old}:{checksum}" if old else ":"
                return Content(f"{proof}:{locator_of(member)}", parts[-1], member.size_bytes, self._modified_ns, sha256)
        raise Untakable(ItemVanished.code, key=path)

    def around(self) -> Iterator[str]:
        """The files of the package that the extract lies in, which are none of its own."""
        extract = self._extract_storage()
        if self._storage is not None and isinstance(extract, SubfolderStorage):
            yield from (file.name for file in self._storage.files() if not file.name.startswith(extract.above))

    def is_damaged(self, content: Content) -> bool:
        """True if its bytes cannot be read, or are not what its checksum says."""
        return is_damaged(self.open, content)

    def file(self, name: str) -> AbstractContextManager[Readable]:
        """A file by its name."""
        member = self._extract_storage().member("/".join(checked_parts(name)))
        if member is None:
            raise FileNotFoundError(name)
        return self._located.open(locator_of(member))

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a content by its locator. Raises ItemVanished, ItemUnreadable, ItemChanged."""
        algorithm, checksum, locator = content.locator.split(":", 2)
        with self._located.open(locator) as source:
            stream = MemberStream(source, self._located, content.modified_ns)
            yield checked(stream, Fixity(algorithm, checksum, by=BY_EXTRACT))
