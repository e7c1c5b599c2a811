"""What judges our packages from outside: the official schemas, and what is read back by the simplest means."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from lxml import etree

from noarkit.forms.eark.read.package import EarkPackage, open_eark
from noarkit.forms.eark.schemas import schemas

TAILS = ("", ".zip", ".tar", ".tar.gz")


class _Local(etree.Resolver):
    """Every schema is found in its own folder, whatever address it is imported by."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def resolve(self, system_url: str, public_id: str, context: object) -> object:  # type: ignore[override]  # the stubs lack context
        return self.resolve_filename(str(self._folder / Path(system_url).name), context)  # type: ignore[attr-defined]  # the stubs lack it


@cache
def official(path: Path) -> etree.XMLSchema:
    """An official schema, read without the net."""
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(_Local(path.parent))
    return etree.XMLSchema(etree.parse(str(path), parser))


@cache
def mets_schemas(reference: Path) -> tuple[etree.XMLSchema, ...]:
    """METS with its E-ARK extensions."""
    return (official(reference / "xsd/eark/local/mets.sip.local.v2-0.xsd"),)


@cache
def premis_schema(reference: Path) -> etree.XMLSchema:
    """PREMIS 3."""
    return official(reference / "xsd/eark/premis-v3-0.xsd")


def own_schema(folder: Path, name: str) -> etree.XMLSchema:
    """One of ours, as packages bear it."""
    for file, content in schemas().items():
        (folder / file).write_bytes(content)
    return etree.XMLSchema(etree.parse(str(folder / name)))


def faults_of(package: EarkPackage, reference: Path) -> list[str]:
    """What the official schemas say against the METS and PREMIS of a package."""
    told: list[str] = []
    for name, _ in package.present():
        last = name.rpartition("/")[2]
        judges = {"METS.xml": mets_schemas(reference), "premis.xml": (premis_schema(reference),)}.get(last, ())
        for judge in judges if "/data/" not in name else ():
            with package.open(name) as file:
                document = etree.fromstring(file.read(1 << 26))
            if not judge.validate(document):
                told.append(f"{name}: {judge.error_log}")
    return told


def disagreements(package: EarkPackage) -> list[str]:
    """What is listed and not so: missing, of another size or checksum; what is unlisted."""
    told = [f"unlisted {name}" for name in package.unlisted()]
    for entry in (*package.files(), *package.metadata()):
        if entry.why:
            told.append(f"{entry.why} {entry.href}")
            continue
        with package.open(entry.name) as file:
            content = file.read(1 << 26)
        algorithm = entry.checksum_type.replace("-", "").lower()
        if len(content) != entry.size_bytes or hashlib.new(algorithm, content).hexdigest() != entry.checksum:
            told.append(f"differs {entry.name}")
    return told


def held(path: Path, representation: str) -> dict[str, bytes]:
    """The data files of a representation, by their names below `data/`."""
    with open_eark(path) as package:
        found = {}
        for entry in package.files(representation):
            above, _, name = entry.name.partition("/data/")
            assert entry.why == ""
            if name and "/" not in above.removeprefix("representations/"):
                with package.open(entry.name) as file:
                    found[name] = file.read(1 << 26)
        return found
