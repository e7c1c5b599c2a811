"""What descriptive metadata calls a package, its representations and its files. Titles of files lie in a temporary
database."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.errors import PackageFault
from noarkit.forms.eark.read.descriptive import read_descriptive, resolve_reference
from noarkit.forms.eark.read.inventory import representation_folder
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.safe.scratch import scratch

_PACKAGE = "package"


class Titles:
    """What is told, by file and by folder (empty for the package)."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE file_title (name TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID")
        self._folders: dict[str, dict[str, str]] = {}
        self._any = False

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def read(self, package: EarkPackage) -> None:
        """Reads all descriptive metadata of a package. What is no XML describes nothing here."""
        for entry in package.metadata():
            if entry.why or entry.use != "dmdSec" or not entry.name.lower().endswith(".xml"):
                continue
            above = entry.name[: entry.name.rfind("/") + 1]
            owner = representation_folder(entry.name) or ""
            try:
                self._read_one(package, entry.name, above, owner)
            except PackageFault:
                continue  # malformed metadata is the validator's to tell; the files are taken without it

    def _read_one(self, package: EarkPackage, name: str, above: str, owner: str) -> None:
        with package.open(name) as source:
            for titled in read_descriptive(source, f"{package.where}/{name}"):
                if titled.of == _PACKAGE:
                    self._folders.setdefault(owner, {}).setdefault(titled.field, titled.text)
                    continue
                for folder in (above, owner, _outer(above)):
                    file = resolve_reference(titled.of, folder)
                    if file and package.size_of(file) is not None:
                        self._db.execute("INSERT OR IGNORE INTO file_title VALUES (?, ?)", (file, titled.text))
                        self._any = True
                        break

    def of(self, folder: str) -> Mapping[str, str]:
        """What is told of a representation by its folder, or of the package."""
        return self._folders.get(folder, {})

    def file(self, name: str) -> str:
        """The title of a file; empty if none is told."""
        if not self._any:
            return ""
        row = self._db.execute("SELECT title FROM file_title WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""


def _outer(above: str) -> str:
    """The folder in which `metadata/` lies."""
    return above[: above.rfind("metadata/")] if "metadata/" in above else ""
