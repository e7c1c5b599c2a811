"""Validates one E-ARK package: folder, zip, tar or tar.gz, in constant memory, nothing unpacked to disk.

    report = validate_eark(Path("delivery.zip"))

A hostile archive file (links, twins, bombs) is refused by the fault of its kind; everything else becomes a finding.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from lxml import etree

from noarkit.errors import NoarkitError, PackageFault, UnsafePath, UnsafeXml
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.container.storage import Storage, open_storage
from noarkit.forms.eark import spec
from noarkit.forms.eark.marks import names_eark
from noarkit.forms.eark.rules.codes import XSD, rules_for
from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.fixity import FixityChecker
from noarkit.forms.eark.rules.folders import judge_folders, representation_documents
from noarkit.forms.eark.rules.inventory import Entry, Inventory
from noarkit.forms.eark.rules.judge import Judge, same_name
from noarkit.forms.eark.rules.places import Document
from noarkit.forms.eark.rules.premis import Preservation, file_finder
from noarkit.forms.eark.rules.schemas import load_schemas
from noarkit.forms.findings import Rule, Tally, ValidateResult
from noarkit.forms.form_markers import head_of
from noarkit.forms.metadata.copy_chain import ChainCodes, CopyChain, PackageFiles
from noarkit.forms.metadata.mets import read_mets
from noarkit.forms.metadata.premis_entities import PremisEntity, read_entities
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.judge import judge_stream
from noarkit.safe.tree import walk_tree
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of

FORM = "eark"
_COPIES = ChainCodes("EARK-COPY-SOURCE", "EARK-COPY-CHECKSUM", "EARK-COPY-EVENT", "EARK-COPY-FORMAT")
_MOST_SHOWN = 200
_MOST_LOOKED_AT = 10
_LISTED_BY = (
    (spec.DESCRIPTIVE, "CSIP17"),
    (spec.PRESERVATION, "CSIP32"),
    (spec.DOCUMENTATION, "CSIP60"),
    (spec.SCHEMAS, "CSIP113"),
)
_PARTS = frozenset((spec.REPRESENTATIONS, spec.METADATA, spec.SCHEMAS, spec.DOCUMENTATION))
_MOST_ERRORS = 10_000
_BUFFER_BYTES = 16 * 1024 * 1024
OpenDocument = Callable[[], AbstractContextManager[Readable]]
"""Opens a document from its beginning."""


@dataclass(frozen=True, slots=True)
class EarkValidateOptions:
    """The options of an E-ARK validation. `version` sets the version of the specification, whatever the package says.

    `schemas` is a folder of schemas that judge instead of ours; `width` is how many files are hashed at once. No
    package was changed after `now`, which is the moment of the validation where none is given.
    """

    schemas: Path | None = None
    version: str = ""
    limits: UnpackLimits = LIMITS
    width: int | None = None
    listener: Listener = ignore_event
    now: datetime | None = None


def looks_like_eark(path: Path) -> bool:
    """True for a folder with a METS document, or an archive file with one in its top folder."""
    if path.is_dir():
        return any((path / name).is_file() for name in _spellings())
    try:
        with closing(open_storage(path)) as storage:
            return any(storage.member(name) is not None for name in _spellings())
    except NoarkitError:
        return False


def has_misnamed_mets(folder: Path) -> bool:
    """True for a folder, or the only one in it, whose METS document of an E-ARK profile has another name."""
    inner = _only_folder(folder)
    return _has_misnamed_mets(folder) or (inner is not None and _has_misnamed_mets(inner))


def validate_eark(package: Path, options: EarkValidateOptions | None = None) -> ValidateResult:
    """All that can be said of a package. Raises what `safe` refuses, `PackageFault` for what is no package."""
    began = time.perf_counter()
    options = options or EarkValidateOptions()
    rules: dict[str, Rule] = dict(rules_for(options.version or spec.DEFAULT_VERSION))
    tally = Tally(rules)
    version, summary = _judge(_root(package), options, tally)
    rules.update(rules_for(version))
    seconds = round(time.perf_counter() - began, 3)
    return ValidateResult(str(package), FORM, version, summary, tuple(rules.values()), tally.outcomes({}), (), seconds)


def _spellings() -> tuple[str, ...]:
    return (spec.METS_FILE, spec.METS_FILE.lower(), spec.METS_FILE.capitalize())


def _root(package: Path) -> Path:
    """The package itself, or the only folder in it where that is the one with the METS document."""
    if package.is_dir() and not looks_like_eark(package) and not _resembles(package):
        inner = _only_folder(package)
        if inner is not None and (looks_like_eark(inner) or _resembles(inner)):
            return inner
    return package


def _only_folder(above: Path) -> Path | None:
    inner = [entry for entry in above.iterdir() if entry.is_dir() and not entry.is_symlink()]
    return inner[0] if len(inner) == 1 else None


def _resembles(folder: Path) -> bool:
    folders = {entry.name.lower() for entry in folder.iterdir() if entry.is_dir()}
    return (spec.REPRESENTATIONS in folders and len(folders & _PARTS) > 1) or _has_misnamed_mets(folder)


def _has_misnamed_mets(folder: Path) -> bool:
    entries = folder.iterdir()
    files = [entry for entry in entries if "mets" in entry.name.lower() and entry.suffix.lower() == ".xml"]
    return any(names_eark(head_of(entry)) for entry in files[:_MOST_LOOKED_AT] if entry.is_file())


def _judge(path: Path, options: EarkValidateOptions, tally: Tally) -> tuple[str, dict[str, tuple[str, ...]]]:
    try:
        storage = open_storage(path, options.limits, emit=options.listener)
    except PackageFault as error:
        if error.data.get("why") != "no-single-top-folder":
            raise
        FindingSink(tally, "").hit("CSIPSTR1")
        return options.version or spec.DEFAULT_VERSION, {}
    with closing(storage), Inventory(lambda name: _size(storage, name)) as inventory:
        return _Check(path, storage, inventory, tally, options).run()


class _Check:
    """The validation of one package."""

    def __init__(
        self, path: Path, storage: Storage, inventory: Inventory, tally: Tally, options: EarkValidateOptions
    ) -> None:
        self._path = path
        self._storage = storage
        self._inventory = inventory
        self._tally = tally
        self._options = options
        self._schemas = load_schemas(options.schemas)
        self._package = FindingSink(tally, "")
        self._in_order = path.is_file() and _form(path) not in ("zip", "tar")
        self._fixities = FixityChecker(storage, inventory, tally, options.width, in_order=self._in_order)
        self._root: Judge | None = None
        now = options.now if options.now is not None else datetime.now(tz=UTC)
        self._latest = (now + timedelta(days=1)).date().isoformat()

    def run(self) -> tuple[str, dict[str, tuple[str, ...]]]:
        """Every rule, in an order in which each has what it needs."""
        if self._schemas.mets is None:
            self._package.hit("EARK-XSD-NONE")
        self._inventory.take_present(self._present())
        name = self._root_document()
        if name is None:
            return self._options.version or spec.DEFAULT_VERSION, self._summary()
        self._fixities.run(self._documents(name))
        self._inventory.index()
        self._preservation()
        self._fixities.compare_waiting()
        self._completeness()
        root = self._root
        object_id = root.object_id if root is not None else ""
        judge_folders(self._inventory, self._package, self._has_folder, object_id=object_id, top=self._top(name))
        self._container(object_id)
        version = root.version if root is not None else self._options.version or spec.DEFAULT_VERSION
        return version, self._summary()

    def _present(self) -> Iterator[tuple[str, int]]:
        """Names and sizes; in a folder sizes are asked for later, and mostly met while files are read."""
        folder = self._storage.folder
        for name, size, odd in _storage_files(self._storage) if folder is None else _walk_folder(folder):
            if not name.isascii():
                try:
                    name.encode()
                except UnicodeEncodeError:
                    self._package.hit("EARK-NAME", name=name)
                    continue
            if odd:
                self._package.hit("EARK-ODD", name=name, kind=odd)
            else:
                yield name, size

    def _root_document(self) -> str | None:
        spellings = [name for name in _spellings() if self._inventory.size_of(name) is not None]
        if not spellings or spellings[0] != spec.METS_FILE:
            alike = (name for name in self._inventory.files_in("") if "mets" in name.lower())
            self._package.hit("CSIPSTR4", name=spellings[0] if spellings else next(alike, None))
        return spellings[0] if spellings else None

    def _documents(self, root: str) -> Iterator[Entry]:
        """The entries of all METS documents, one document after the other."""
        representation_count = sum(1 for _ in representation_documents(self._inventory))
        yield from self._document(Document(root, "", "package"), representation_count)
        for name in representation_documents(self._inventory):
            yield from self._document(Document(name, _folder(name), "representation"))
        self._fixities.flush()
        while names := self._inventory.documents_to_read():
            for name in names:
                yield from self._document(Document(name, _folder(name), "nested"))
            self._fixities.flush()

    def _document(self, document: Document, representation_count: int = 0) -> Iterator[Entry]:
        name = document.name
        if not self._inventory.set_read(name):
            return
        sink = FindingSink(self._tally, name)
        judge = Judge(
            document,
            self._inventory,
            sink,
            requested_version=self._options.version,
            latest=self._latest,
            in_passing=self._fixities.is_in_passing,
        )
        try:
            with self._opener(name) as open_document:
                with open_document() as source:
                    for _ in read_mets(source, name, judge):
                        yield from self._fixities.keep(judge.take())
                judge.finish(documents=representation_count)
                yield from self._fixities.keep(judge.take())
                if document.level == "package":
                    self._root = judge
                if document.level != "nested" and self._schemas.mets is not None:
                    check_schema(sink, open_document, self._schemas.mets)
        except (PackageFault, UnsafeXml, OSError) as fault:
            add_unreadable(sink, fault)
        self._options.listener(Event("validating", {"file": name, "bytes": self._inventory.size_of(name) or 0}))

    @contextmanager
    def _opener(self, name: str) -> Iterator[OpenDocument]:
        """How to open a document, from its beginning each time; one in a packed tar is unpacked only once."""
        if not self._in_order:
            yield lambda: self._storage.open(name)
            return
        with tempfile.SpooledTemporaryFile(max_size=_BUFFER_BYTES) as buffer:
            with self._storage.open(name) as source:
                while block := source.read(BLOCK_BYTES):
                    buffer.write(block)
            yield lambda: _rewound(buffer)

    def _preservation(self) -> None:
        aip = self._root is not None and self._root.kind == "AIP"
        files = PackageFiles(
            self._storage, file_finder(self._inventory), lambda name: self._inventory.checksum_of(name, "SHA-256")
        )
        chain = CopyChain(_COPIES, files)
        names = [name for name in self._inventory.referred("PREMIS") if name.lower().endswith(".xml")]
        for name in names:
            sink = FindingSink(self._tally, name)
            judge = Preservation(name, self._inventory, sink, self._fixities.keep_one, chain.observe, aip=aip)
            try:
                with self._opener(name) as open_document:
                    with open_document() as source:
                        judge.judge(read_entities(source, name))
                    if judge.namespace == spec.PREMIS and self._schemas.premis is not None:
                        check_schema(sink, open_document, self._schemas.premis)
            except (PackageFault, UnsafeXml, OSError) as fault:
                add_unreadable(sink, fault)
        with closing(chain):
            chain.judge(lambda: self._premis_entities(names), lambda name: FindingSink(self._tally, name))
        self._fixities.flush()

    def _premis_entities(self, names: Iterable[str]) -> Iterator[tuple[str, PremisEntity]]:
        """Every entity of PREMIS documents; what cannot be read was told before."""
        for name in names:
            with (
                suppress(PackageFault, UnsafeXml, OSError),
                self._opener(name) as open_document,
                open_document() as source,
            ):
                for entity in read_entities(source, name):
                    yield name, entity

    def _completeness(self) -> None:
        if self._root is not None:
            names = {self._root.document.name}
            for name in self._inventory.unlisted():
                if name not in names:
                    self._package.hit("EARK-UNLISTED", name=name)
                    self._unlisted(name)
        for origin in ("file",):
            for document, name, line in self._inventory.listed_twice(origin):
                FindingSink(self._tally, document).hit("EARK-TWICE", line, name=name)
        for document, element_id in self._inventory.ids_twice():
            FindingSink(self._tally, document).hit("EARK-ID-TWICE", name=element_id)
        for name, twin in self._inventory.twins():
            self._package.hit("EARK-TWIN", name=name, other=twin)

    def _unlisted(self, name: str) -> None:
        """What a rule of the specification says of a file that nobody lists."""
        for folder, code in _LISTED_BY:
            if name.startswith(f"{folder}/"):
                self._package.hit(code, name=name)
        parts = name.split("/")
        if len(parts) == 3 and parts[0] == spec.REPRESENTATIONS and parts[2] == spec.METS_FILE:
            self._package.hit("CSIP114", name=name)

    def _has_folder(self, name: str) -> bool:
        if self._inventory.has_below(f"{name}/"):
            return True
        folder = self._storage.folder
        return folder is not None and (folder / name).is_dir() and not (folder / name).is_symlink()

    def _top(self, root: str) -> str:
        """What the top folder in an archive file is called; empty for a folder on a disk, whose name belongs to the
        place where it lies: it gets that of the package when it is packed."""
        member = self._storage.member(root)
        return member.parts[0] if member is not None else ""

    def _container(self, object_id: str) -> None:
        if not self._path.is_file():
            return
        form = _form(self._path)
        if form not in ("zip", "tar"):
            self._package.hit("CSIPSTR3", value=form)
        if self._root is not None and self._root.kind == "AIP":
            if form.startswith("tar."):
                self._package.hit("AIP28", value=form)
            name = self._path.name[: len(object_id)]
            if object_id and not same_name(object_id, name):
                self._package.hit("AIP20", name=self._path.name, value=object_id)

    def _summary(self) -> dict[str, tuple[str, ...]]:
        kind = self._root.kind or "CSIP" if self._root is not None else ""
        names = (_folder(name).rstrip("/").rpartition("/")[2] for name in representation_documents(self._inventory))
        shown_names = [name for _, name in zip(range(_MOST_SHOWN), names, strict=False)]
        summary = {
            "kind": (kind,),
            "version": (self._root.version if self._root is not None else "",),
            "representations": tuple(shown_names),
            "files": (str(self._inventory.count()),),
            "bytes": (str(self._inventory.size_bytes()),),
        }
        return {name: tuple(word for word in words if word) for name, words in summary.items()}


def _form(path: Path) -> str:
    return form_of(path) or "" if path.is_file() else ""


def _storage_files(storage: Storage) -> Iterator[tuple[str, int, str]]:
    for file in storage.files():
        yield file.name, file.size_bytes, file.odd


def _walk_folder(folder: Path) -> Iterator[tuple[str, int, str]]:
    for file in walk_tree(folder):
        if file.kind == "file":
            yield file.name, -1, ""
        elif file.kind != "folder":
            yield file.name, 0, "link" if file.kind == "link" else "device"


def _size(storage: Storage, name: str) -> int:
    """How large a file of a folder is; one that is gone meanwhile has no bytes."""
    try:
        with storage.open(name) as file:
            return os.fstat(file.fileno()).st_size if isinstance(file, io.BufferedReader) else 0
    except (OSError, UnsafePath):
        return 0


@contextmanager
def _rewound(buffer: IO[bytes]) -> Iterator[Readable]:
    buffer.seek(0)
    yield buffer


def check_schema(sink: FindingSink, open_document: OpenDocument, schema: etree.XMLSchema) -> None:
    """Validates a document against a schema and adds its errors as findings."""
    for error in judge_stream(open_document, sink.file, schema, most=_MOST_ERRORS):
        sink.hit(XSD, error.line, element=error.element, detail=error.message)


def add_unreadable(sink: FindingSink, fault: PackageFault | UnsafeXml | OSError) -> None:
    """Adds the finding for a document that cannot be read, or that is hostile."""
    if isinstance(fault, OSError):
        sink.hit("EARK-UNREADABLE", name=sink.file, why="unreadable")
        return
    line = fault.data.get("line")
    code = "EARK-XML-HOSTILE" if isinstance(fault, UnsafeXml) else "EARK-XML"
    sink.hit(code, line if isinstance(line, int) else None, why=fault.data.get("why"), fault=fault.code)


def _folder(name: str) -> str:
    """The folder of a document, with its slash."""
    above, slash, _ = name.rpartition("/")
    return above + slash
