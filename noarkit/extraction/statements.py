"""What a source says of itself, whatever its form: its metadata, the documents that say it, and facts of its files.

A document is kept as it is. What tells of the package's own files (METS, PREMIS) goes into the next one below a folder
that is named after the source, for it describes that one; descriptions and documentation keep their places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

from noarkit.errors import HostileInput, NoarkitError, PackageFault, TooLarge
from noarkit.extraction.package_files import DescriptionFile, DocumentKind, Facts, FileFactsStore, files_in, no_facts
from noarkit.forms.bagit.read import open_bag
from noarkit.forms.container.storage import Storage
from noarkit.forms.dias import spec as dias
from noarkit.forms.dias.read.package import read_description
from noarkit.forms.eark import spec as eark
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.forms.eark.schemas import schemas
from noarkit.forms.eark.write.package import folder_name
from noarkit.forms.metadata.bag import metadata_of_bag
from noarkit.forms.metadata.dias import metadata_of_dias
from noarkit.forms.metadata.eark import metadata_of_eark
from noarkit.forms.metadata.mets_facts import MetsReader
from noarkit.forms.metadata.model import FileFacts, History, PackageMetadata, PartFacts
from noarkit.forms.metadata.premis import read_history
from noarkit.forms.metadata.premis_objects import PremisObject, read_objects
from noarkit.forms.metadata.records import with_records
from noarkit.forms.package_form import FormName
from noarkit.forms.registry import known_forms, resolve
from noarkit.safe.digest import hash_of, sha256_of_stream

MOST_DOCUMENTS = 100_000
SOURCE_SUFFIX = ".source"
"""How the name of a source's own METS or PREMIS ends in another package: no reader shall take it for that one's."""
_PREMIS_TAG = "premis.xml"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layer:
    """A package on the way to the files: its form, its storage, and the description beside it, where there is one."""

    form: FormName
    storage: Storage
    description: Path | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What one layer, or all of them, says. `facts` are those of files, by name from the root of the last layer.
    `outer` are the documents of the outermost alone; `unread` those that should say something and cannot be read."""

    metadata: PackageMetadata = field(default_factory=PackageMetadata)
    identifiers: tuple[str, ...] = ()
    documents: tuple[DescriptionFile, ...] = ()
    facts: Facts = no_facts
    unread: tuple[str, ...] = ()
    outer: tuple[DescriptionFile, ...] = ()


def statement_of(layers: list[Layer], stack: ExitStack) -> Statement:
    """What all layers say: the innermost counts before those around it. The stack closes what was opened."""
    statement = Statement()
    for layer in layers:
        layer_statement = _read_layer(layer, stack)
        own = layer_statement.metadata.identifier
        statement = Statement(
            layer_statement.metadata.fill_from(statement.metadata),
            (*statement.identifiers, *((own,) if own and own not in statement.identifiers else ())),
            tuple(_distinct((*statement.documents, *layer_statement.documents))),
            layer_statement.facts,
            (*statement.unread, *layer_statement.unread),
            statement.outer if statement.documents or statement.outer else layer_statement.documents,
        )
    return statement


def _read_layer(layer: Layer, stack: ExitStack) -> Statement:
    """What one layer says, as far as its form says anything."""
    form = known_forms().find(layer.form)
    if form is None or form.statement_reader is None:
        return Statement()
    read = cast("Callable[[Layer, ExitStack], Statement]", resolve(form.statement_reader))
    return read(layer, stack)


def _distinct(documents: Iterable[DescriptionFile]) -> Iterator[DescriptionFile]:
    """Each document once: what lies in two layers is one where its bytes are, and else stands beside the other."""
    by_key: dict[tuple[str, str, str], DescriptionFile] = {}
    for document in documents:
        name = document.file[0]
        while (before := by_key.get((document.kind, document.part, name))) is not None and not _has_same_bytes(
            before, document
        ):
            above, _, last = name.rpartition("/")
            name = f"{above}/again/{last}".lstrip("/")
        if before is None:
            by_key[document.kind, document.part, name] = document
            yield replace(document, file=(name, *document.file[1:]))


def _has_same_bytes(first: DescriptionFile, second: DescriptionFile) -> bool:
    return first.file[2] == second.file[2] and _digest(first) == _digest(second)


def _digest(document: DescriptionFile) -> str:
    source = document.file[1]
    if isinstance(source, (str, Path)):
        return hash_of(Path(source), "sha256")
    with source() as content:
        return sha256_of_stream(content)


def read_eark(layer: Layer, stack: ExitStack) -> Statement:
    """What an E-ARK package says."""
    storage = layer.storage
    try:
        package = EarkPackage(storage)
    except (PackageFault, HostileInput):
        return Statement(documents=tuple(_documents(layer, "unread", {})), unread=(eark.METS_FILE,))
    stack.callback(package.forget)
    facts, types, histories = FileFactsStore(), dict[str, str](), list[History]()
    stack.callback(facts.close)
    for entry in package.files():
        values = (entry.media_type, entry.puid, entry.format_name, entry.format_version, entry.original_name)
        facts.add(entry.name, FileFacts(entry.created, *values))
    unread = []
    for entry in package.metadata():
        types[entry.name] = entry.md_type
        if entry.md_type.startswith("PREMIS") and not entry.why:
            object_id = package.root.object_id
            part = next(
                (candidate for candidate in package.representations if entry.name.startswith(candidate.folder)), None
            )
            try:
                with storage.open(entry.name) as source:
                    histories.append(
                        read_history(source, entry.name, f"{object_id}/{part.name}" if part else object_id)
                    )
                _premis_facts(package, entry.name, part.folder if part else "", facts)
            except (PackageFault, HostileInput):
                unread.append(entry.name)
    parts = (
        PartFacts(
            part.name,
            part.heading.label if part.heading else "",
            part.heading.type if part.heading else "",
            part.content_type,
            part.other_content_type,
            part.heading.kind if part.heading else "",
        )
        for part in package.representations
    )
    metadata = replace(metadata_of_eark(package.root, parts), history=_join_histories(histories))
    return Statement(metadata, (), tuple(_documents(layer, metadata.identifier, types)), facts.of, tuple(unread))


def _join_histories(histories: list[History]) -> History:
    history = History()
    for later in histories:
        history = history.merge(later)
    return history


def _premis_facts(package: EarkPackage, name: str, folder: str, facts: FileFactsStore) -> None:
    """Formats and original names that PREMIS knows and METS does not."""
    for premis_object in package.premis(name):
        if premis_object.kind == "file" and (
            premis_object.puid
            or "/" not in premis_object.format_name
            or premis_object.original_name != premis_object.location
        ):
            match = package.resolve(premis_object.location or premis_object.original_name, folder)
            if not match.why:
                facts.add(match.name, _format_of(premis_object))


def _format_of(premis_object: PremisObject) -> FileFacts:
    format_name = premis_object.format_name if "/" not in premis_object.format_name or premis_object.puid else ""
    original = premis_object.original_name if premis_object.original_name not in ("", premis_object.location) else ""
    return FileFacts(
        "", "", premis_object.puid, format_name, premis_object.format_version if format_name else "", original
    )


def read_dias(layer: Layer, stack: ExitStack) -> Statement:
    """What a DIAS package says."""
    storage, facts = layer.storage, FileFactsStore()
    stack.callback(facts.close)
    try:
        with storage.open(dias.METS) as source:
            mets = MetsReader(source, dias.METS)
            for mets_file in mets.files():
                path = next(dias.paths_of(mets_file.href), "")
                facts.add(path, FileFacts(mets_file.created))
        metadata = metadata_of_dias(mets.header)
    except (NoarkitError, FileNotFoundError):
        return Statement(documents=tuple(_documents(layer, "unread", {})), unread=(dias.METS,))
    unread: list[str] = []
    if layer.description is not None:
        try:
            beside = with_records(PackageMetadata(), read_description(layer.description)[0].records)
            metadata = metadata.fill_from(replace(beside, description=""))
        except NoarkitError:
            unread.append(layer.description.name)
    for name in (dias.PREMIS, dias.LOG):
        try:
            with storage.open(name) as source:
                history = read_history(source, name, metadata.identifier)
            metadata = replace(metadata, history=metadata.history.merge(history))
            with storage.open(name) as source:
                for premis_object in read_objects(source, name):
                    if premis_object.kind == "file" and premis_object.location:
                        facts.add(
                            next(dias.paths_of(premis_object.location), ""),
                            _format_of(_drop_derived_names(premis_object)),
                        )
        except FileNotFoundError:
            continue
        except NoarkitError:
            unread.append(name)
    documents = [*_documents(layer, metadata.identifier, {}), *_description(layer, metadata.identifier)]
    return Statement(metadata, (), tuple(documents), facts.of, tuple(unread))


def _drop_derived_names(premis_object: PremisObject) -> PremisObject:
    """A format that is only called after the ending of the name says nothing."""
    plain = (
        premis_object.format_name.lower() == dias.extension_of(premis_object.original_name or premis_object.location)
        and not premis_object.puid
    )
    located = premis_object.original_name == next(dias.paths_of(premis_object.location), "")
    format_name = "" if plain or premis_object.format_name == "unknown" else premis_object.format_name
    return replace(premis_object, format_name=format_name, original_name="" if located else premis_object.original_name)


def _description(layer: Layer, identifier: str) -> Iterator[DescriptionFile]:
    """The submission description that lies beside the tar."""
    if layer.description is not None:
        size = layer.description.stat().st_size
        name = f"{source_folder(identifier)}/{layer.description.name}{SOURCE_SUFFIX}"
        yield DescriptionFile("other", "", (name, str(layer.description), size, ""), "OTHER")


def read_bag(layer: Layer, stack: ExitStack) -> Statement:
    """What a bag says."""
    try:
        bag = open_bag(Path(layer.storage.where), storage=_Unclosed(layer.storage))
    except NoarkitError:
        return Statement(unread=("bag-info.txt",))
    stack.callback(bag.close)
    metadata, unread = metadata_of_bag(bag.info), []
    try:
        with layer.storage.open(_PREMIS_TAG) as source:
            metadata = replace(metadata, history=read_history(source, _PREMIS_TAG, metadata.identifier))
    except FileNotFoundError:
        pass  # few bags have one
    except NoarkitError:
        unread.append(_PREMIS_TAG)
    documents = _documents(layer, metadata.identifier, {})
    return Statement(metadata, (), tuple(documents), no_facts, tuple(unread))


class _Unclosed:
    """A storage that stays open when the package that was made of it is closed."""

    def __init__(self, storage: Storage) -> None:
        self.where, self.folder, self.stamp = storage.where, storage.folder, storage.stamp
        self.files, self.files_in_order, self.open = storage.files, storage.files_in_order, storage.open
        self.member, self.contents = storage.member, storage.contents

    def close(self) -> None:
        """Nothing: it belongs to another."""


def source_folder(identifier: str) -> str:
    """The folder of what describes a source: called after its UUID, or its identifier as far as a folder can be."""
    match = _UUID.search(identifier)
    return f"source-{match.group().lower() if match else folder_name(identifier)[:80]}"


def _documents(layer: Layer, identifier: str, types: Mapping[str, str]) -> Iterator[DescriptionFile]:
    """Everything in a package that describes it or its content, by the place it has there."""
    own_schemas = frozenset(schemas())
    count = 0
    for file in files_in(layer.storage, partial(describes, layer.form)):
        match, kind = _match_document(layer.form, file[0])
        if match is None or (kind == "schema" and match["name"] in own_schemas):
            continue
        count += 1
        if count > MOST_DOCUMENTS:  # none is ever left out in silence
            raise TooLarge(where=layer.storage.where, why="members", limit=MOST_DOCUMENTS)
        groups = match.groupdict()
        part, own_name = groups.get("part") or "", groups.get("kept")
        if own_name:
            below = f"representation-{part}/{own_name}" if part else own_name
            yield DescriptionFile(
                "other", "", (f"{source_folder(identifier)}/{below}{SOURCE_SUFFIX}", *file[1:]), "OTHER"
            )
        else:
            yield DescriptionFile(kind, part, (match["name"], *file[1:]), types.get(file[0], ""))


def describes(form: FormName, name: str) -> bool:
    """True for a file of a package that says something of it, and goes along as a document."""
    return _match_document(form, name)[0] is not None


def _match_document(name_of_form: FormName, name: str) -> tuple[re.Match[str] | None, DocumentKind]:
    form = known_forms().find(name_of_form)
    for pattern, kind in form.documents if form is not None else ():
        match = pattern.fullmatch(name)
        if match is not None:
            return match, cast("DocumentKind", kind)
    return None, "other"
