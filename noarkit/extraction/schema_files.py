"""The schemas that go into a package: the official set from a folder, known by its sha256s, else our equivalents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import ConfigFault, NotDepositable
from noarkit.forms.noark5.schemas import schemas
from noarkit.forms.noark5.spec import ADDML, WRITTEN_VERSION, addml_version, identify, schema_files

_EDITIONS = ("2023", "2019")


@dataclass(frozen=True, slots=True)
class SchemaSet:
    """The content of each schema file by name, and whether they are the official ones."""

    content: Mapping[str, bytes]
    official: bool

    def sha256(self, name: str) -> str:
        """The sha256 of one."""
        return hashlib.sha256(self.content[name]).hexdigest()


def schema_set(folder: Path | None) -> SchemaSet:
    """The schemas of a package. Raises `NotDepositable` where the folder does not hold the official set.

    The maintenance of 2023 goes before the first edition of 5.0, and the folder may hold both, also in folders of its
    own; what is in it beside is left alone.
    """
    file_names = schema_files(WRITTEN_VERSION)
    if folder is None:
        return SchemaSet({name: schemas(WRITTEN_VERSION)[name] for name in file_names}, official=False)
    official_files = _official(folder)
    editions = sorted({edition for edition, _ in official_files if edition}, reverse=True)
    for edition in editions:
        content = {name: official_files.get((edition, name)) or official_files.get((None, name)) for name in file_names}
        if all(file_content is not None for file_content in content.values()):
            return SchemaSet(
                {name: file_content for name, file_content in content.items() if file_content is not None},
                official=True,
            )
    official_names = {name for _, name in official_files}
    missing = [name for name in file_names if name not in official_names] or list(file_names)
    raise NotDepositable(why="schemas-not-official", where=f"{folder}: {', '.join(missing)}")


def _official(folder: Path) -> dict[tuple[str | None, str], bytes]:
    """The official files of the version in a folder, by edition and name."""
    files: dict[tuple[str | None, str], bytes] = {}
    try:
        paths = sorted(folder.rglob("*.xsd"))
        for path in paths:
            content = path.read_bytes()
            identified = identify(hashlib.sha256(content).hexdigest())
            if identified is None:
                continue
            fits = addml_version(WRITTEN_VERSION) if identified.file == f"{ADDML}.xsd" else WRITTEN_VERSION
            if identified.version == fits:
                files.setdefault((identified.edition, identified.file), content)
    except OSError as error:
        raise ConfigFault(where=str(folder), why=error.strerror or "unreadable") from error
    if not folder.is_dir():
        raise ConfigFault(where=str(folder), why="not-there")
    return files
