"""Which files of a package are copies of which others, as its PREMIS documents say: a copy is read with its original.

Only what is proven counts: both files are listed with their SHA-256, and the copy has that one source. Every other file
is read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.container.contents import PackageContents
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.inventory import Entry, representation_folder
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.forms.eark.source.streams import content_of
from noarkit.forms.metadata.derivations import ACCEPTED
from noarkit.forms.metadata.premis_entities import PremisEntity, read_entities
from noarkit.graph.entity import Content
from noarkit.model.conversions import Conversion, details_text, parse_details
from noarkit.safe.scratch import scratch

_SHA256_LENGTH = 64
_OWN_NAMES = ("software", "name")
_DETAIL = re.compile(
    r"(?P<source>\S+) to (?P<result>\S+), rule (?P<rule>.+), sha256 [0-9a-f]{64} to [0-9a-f]{64}"
    r"(?P<access>, for access)?"
)


class DerivedFiles:
    """The proven copies of a package."""

    def __init__(self) -> None:
        self._db = scratch()
        for table in (
            "object (id TEXT PRIMARY KEY, name TEXT, puid TEXT)",
            "relation (copy TEXT, source_id TEXT, event TEXT, PRIMARY KEY (copy, source_id))",
            "event (id TEXT PRIMARY KEY, at TEXT, detail TEXT, note TEXT, tool TEXT, maker TEXT)",
            "agent (id TEXT PRIMARY KEY, name TEXT)",
            "acceptance (object TEXT PRIMARY KEY, at TEXT, person TEXT)",
            "pair (copy TEXT PRIMARY KEY, source_sha256 TEXT, details TEXT, locator TEXT, size INTEGER,"
            " modified INTEGER, media TEXT)",
        ):
            self._db.execute(f"CREATE TABLE {table}")
        self._db.execute("CREATE INDEX pair_source ON pair (source_sha256)")

    def read(self, package: EarkPackage, contents: PackageContents) -> None:
        """Reads every PREMIS document of a package; one that cannot be read says nothing of copies."""
        for entry in package.metadata():
            if not entry.why and f"{spec.PRESERVATION}/" in entry.name and entry.name.lower().endswith(".xml"):
                self._read_document(package, entry.name)
        self._prove(package, contents)

    def is_copy(self, name: str) -> bool:
        """True for a file that is read with its original."""
        return self._db.execute("SELECT 1 FROM pair WHERE copy = ?", (name,)).fetchone() is not None

    def __bool__(self) -> bool:
        return self._db.execute("SELECT 1 FROM pair LIMIT 1").fetchone() is not None

    def copies_of(self, sha256: str) -> Iterator[tuple[Content, Conversion]]:
        """The copies of a file with this checksum, with what made each."""
        rows = self._db.execute(
            "SELECT copy, details, locator, size, modified, media FROM pair WHERE source_sha256 = ? ORDER BY copy",
            (sha256,),
        ).fetchall()
        for copy, details, locator, size, modified, media in rows:
            conversion = parse_details(details)
            assert conversion is not None  # noqa: S101  # as it was written
            name, puid = copy.rpartition("/")[2], conversion.result_format
            yield Content(locator, name, size, modified, conversion.result_sha256, media, puid or None), conversion

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _read_document(self, package: EarkPackage, name: str) -> None:
        where = f"{package.where}/{name}"
        try:
            with package.open(name) as source:
                for item in read_entities(source, where):
                    if item.kind == "object":
                        self._take_object(package, item, representation_folder(name) or "")
                    elif item.kind == "event":
                        self._take_event(item)
                    elif item.kind == "agent":
                        self._take_agent(item)
        except (PackageFault, HostileInput):
            return

    def _take_object(self, package: EarkPackage, item: PremisEntity, folder: str) -> None:
        location = item.first("contentLocationValue") or item.first("originalName")
        target = package.resolve(location, folder) if location else None
        if target is None or target.why:
            return
        for identifier in item.all("objectIdentifierValue"):
            # an identifier that means two files means none
            self._db.execute(
                "INSERT INTO object VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = '' WHERE name <> ?2",
                (identifier, target.name, item.first("formatRegistryKey")),
            )
        for relation in item.relationships:
            if (relation.type.lower(), relation.subtype.lower()) == ("derivation", "has source"):
                source, event = "".join(relation.objects[-1:]), "".join(relation.events[-1:])
                self._db.execute("INSERT OR REPLACE INTO relation VALUES (?, ?, ?)", (target.name, source, event))

    def _take_event(self, item: PremisEntity) -> None:
        agents = item.all("linkingAgentIdentifierValue") or [""]
        facts = (item.first("eventDateTime"), item.first("eventDetail"), item.first("eventOutcomeDetailNote"))
        values = (item.first("eventIdentifierValue"), *facts, agents[0], agents[-1])
        self._db.execute("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?)", values)
        if facts[1].startswith(ACCEPTED):
            accepted = [(object_id, facts[0], agents[0]) for object_id in item.all("linkingObjectIdentifierValue")]
            self._db.executemany("INSERT OR REPLACE INTO acceptance VALUES (?, ?, ?)", accepted)

    def _take_agent(self, item: PremisEntity) -> None:
        identifier, name = item.first("agentIdentifierValue"), item.first("agentName")
        if item.first("agentIdentifierType") not in _OWN_NAMES:
            name = f"{name} {item.first('agentVersion')}".strip()
        else:
            name = identifier
        self._db.execute("INSERT OR REPLACE INTO agent VALUES (?, ?)", (identifier, name))

    def _prove(self, package: EarkPackage, contents: PackageContents) -> None:
        rows = self._db.execute(
            "SELECT r.copy, s.name, s.puid, (SELECT max(puid) FROM object WHERE name = r.copy), e.at, e.detail, e.note,"
            " (SELECT name FROM agent WHERE id = e.tool), (SELECT name FROM agent WHERE id = e.maker),"
            " (SELECT max(g.name) FROM acceptance a JOIN object c ON c.id = a.object JOIN agent g ON g.id = a.person"
            "  WHERE c.name = r.copy),"
            " (SELECT max(a.at) FROM acceptance a JOIN object c ON c.id = a.object WHERE c.name = r.copy)"
            " FROM relation r JOIN object s ON s.id = r.source_id LEFT JOIN event e ON e.id = r.event"
            " WHERE s.name <> '' AND s.name <> r.copy AND (SELECT count(*) FROM relation o WHERE o.copy = r.copy) = 1"
        )
        for copy, source, source_puid, copy_puid, at, detail, note, tool, maker, person, accepted_at in rows:
            entries = (package.find(source), package.find(copy))
            source_sum, copy_sum = (_sha256_of(entry) for entry in entries)
            size, entry = package.size_of(copy), entries[1]
            if not source_sum or not copy_sum or size is None or entry is None or package.size_of(source) is None:
                continue
            match = _DETAIL.fullmatch(detail or "")
            conversion = Conversion(
                match["source"] if match else source_puid or _suffix_of(source),
                match["result"] if match else copy_puid or _suffix_of(copy),
                at or "",
                maker or "",
                tool or "",
                match["rule"] if match else "",
                source_sum,
                copy_sum,
                tuple((note or "").split(", ")) if note else (),
                person or "",
                accepted_at or "",
                "access" if match and match["access"] else "archive",
            )
            content = content_of(contents, package, entry, size)
            facts = (content.locator, size, content.modified_ns, content.media_type)
            self._db.execute(
                "INSERT INTO pair VALUES (?, ?, ?, ?, ?, ?, ?)", (copy, source_sum, details_text(conversion), *facts)
            )


def _sha256_of(entry: Entry | None) -> str:
    """The SHA-256 of a listed file; empty where it has none, or is not there."""
    if entry is None or entry.why or spec.HASHES.get(entry.checksum_type, "") != "sha256":
        return ""
    return entry.checksum if len(entry.checksum) == _SHA256_LENGTH else ""


def _suffix_of(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
