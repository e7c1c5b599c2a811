"""SIARD archives of the kinds that other programs export, made by hand: each has the oddities of its own, and rows."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OLD = "http://www.bar.admin.ch/xmlns/siard/1.0/metadata.xsd"
NEW = "http://www.bar.admin.ch/xmlns/siard/2/metadata.xsd"
Cell = str | tuple[str, bytes, str] | None
"""A text, NULL, or a file: what the cell says it is called, its bytes, and where it stands (empty: nowhere)."""


@dataclass(frozen=True, slots=True)
class Export:
    """One archive of one table. `columns` are names and types, `folder` is where the rows stand if not as is said."""

    version: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    folders: tuple[str, str] = ("schema0", "table0")
    real: tuple[str, str] | None = None
    key: str = ""
    said_rows: int | None = None
    digest: str = ""
    digests: bool = False
    """Whether cells tell the digests of their files; those of `WRONG` tell another."""
    stray: str = ""
    length: str = "bytes"
    more: str = ""
    gaps: frozenset[tuple[str, int, str]] = frozenset()
    """What is told: why, row and column."""
    read: Sequence[Sequence[object]] = ()
    """The rows as they are read."""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def written(self, path: Path) -> Path:
        """The archive as a file."""
        schema, table = self.real or self.folders
        held = dict(self.files)
        rows = "".join(f"<row>{self._cells(row, held)}</row>" for row in self.rows)
        name = self.folders[1]
        held[f"content/{schema}/{table}/{name}.xml"] = f'<table xmlns="urn:x">{rows}</table>'.encode()
        held["header/metadata.xml"] = self._metadata().encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in held.items():
                archive.writestr(member, content)
        return path

    def _cells(self, row: Sequence[Cell], held: dict[str, bytes]) -> str:
        told = []
        for number, cell in enumerate(row, start=1):
            if isinstance(cell, str):
                told.append(f"<c{number}>{cell}</c{number}>")
            elif cell is not None:
                name, content, place = cell
                if place:
                    held[place] = content
                shown = hashlib.md5(content if content != WRONG else b"", usedforsecurity=False).hexdigest()
                digest = f' digestType="MD5" digest="{shown}"' if self.digests else ""
                told.append(f'<c{number} file="{name}" length="{len(content)}"{digest}/>')
        return "".join(told) + self.stray

    def _metadata(self) -> str:
        columns = "".join(
            f"<column><name>{name}</name><type>{kind}</type><typeOriginal>{kind}</typeOriginal></column>"
            for name, kind in self.columns
        )
        key = f"<primaryKey><name>pk</name><column>{self.key}</column></primaryKey>" if self.key else ""
        digest = self.digest
        if digest and self.version != "1.0":
            digest = f"<digestType>MD5</digestType><digest>{digest}</digest>"
        digest = f"<messageDigest>{digest}</messageDigest>" if digest else ""
        count = len(self.rows) if self.said_rows is None else self.said_rows
        schema, table = self.folders
        return (
            f'<siardArchive xmlns="{OLD if self.version == "1.0" else NEW}" version="{self.version}">'
            f"<dbname>records</dbname><dataOwner>o</dataOwner><dataOriginTimespan>t</dataOriginTimespan>"
            f"<archivalDate>2012-01-01</archivalDate>{digest}<schemas><schema><name>dbo</name>"
            f"<folder>{schema}</folder><tables><table><name>papers</name><folder>{table}</folder>"
            f"<columns>{columns}</columns>{key}<rows>{count}</rows></table></tables>{self.more}</schema></schemas>"
            "<users><user><name>u</name></user></users></siardArchive>"
        )


WRONG = b"not what was archived"
BARE_VIEWS = (
    "<views><view><name>v</name></view><view><name>w</name><columns/></view></views>"
    "<routines><routine><name>r</name></routine><routine><specificName>s</specificName><name>s</name>"
    "<parameters/></routine></routines>"
)
HOME = "content/schema0/table0"

EXPORTS: dict[str, Export] = {
    "version-1.0-with-blobs": Export(
        "1.0",
        [("id", "INTEGER"), ("scan", "BLOB"), ("words", "CLOB")],
        [
            ("1", (f"{HOME}/lob2/record0.bin", b"\x01\x02", f"{HOME}/lob2/record0.bin"), "short"),
            ("2", "CAFE", (f"{HOME}/lob3/record1.txt", b"long", f"{HOME}/lob3/record1.txt")),
        ],
        more=BARE_VIEWS,
        key="id",
        read=[(1, b"\x01\x02", "short"), (2, b"\xca\xfe", "long")],
    ),
    "mysql-with-underscores-and-a-wrong-digest": Export(
        "2.1",
        [("id", "MEDIUMINT(8) UNSIGNED"), ("scan", "MEDIUMBLOB"), ("state", "ENUM('a','b')")],
        [("1", ("t_0_c_2_r_0.bin", b"abc", "content/schema_0/table_0/lob_2/t_0_c_2_r_0.bin"), "a")],
        folders=("schema_0", "table_0"),
        digest="00" * 16,
        gaps=frozenset(
            {
                ("unknown-sql-type", 0, "id"),
                ("unknown-sql-type", 0, "scan"),
                ("unknown-sql-type", 0, "state"),
                ("message-digest", 0, ""),
            }
        ),
        read=[(1, b"abc", "a")],
    ),
    "sql-server-2008-with-folder-suffixes-and-a-missing-file": Export(
        "2.0",
        [("id", "UNIQUEIDENTIFIER"), ("price", "MONEY"), ("scan", "VARBINARY(MAX)")],
        [
            ("A0", "12.5000", ("lob3/record0.bin", b"one", "content/schema0_dbo/table0_papers/lob3_scan/record0.bin")),
            ("A1", "-1.0000", ("lob3/record1.bin", b"two", "")),
            ("A2", "0.0001", None),
        ],
        real=("schema0_dbo", "table0_papers"),
        gaps=frozenset(
            {
                ("unknown-sql-type", 0, "id"),
                ("unknown-sql-type", 0, "price"),
                ("unknown-sql-type", 0, "scan"),
                ("lob-not-there", 2, "scan"),
            }
        ),
        read=[("A0", "12.5000", b"one"), ("A1", "-1.0000", None), ("A2", "0.0001", None)],
    ),
    "oracle-with-a-changed-file": Export(
        "2.1",
        [("no", "NUMBER"), ("rate", "NUMERIC(0,-127)"), ("scan", "BLOB"), ("words", "CLOB")],
        [
            ("123456789012345678901", "0.1", ("seg_0/record0.bin", WRONG, f"{HOME}/lob3/seg_0/record0.bin"), "a"),
            ("2", "3", None, ("seg_0/record1.txt", "ø".encode(), f"{HOME}/lob4/seg_0/record1.txt")),
        ],
        digests=True,
        gaps=frozenset({("unknown-sql-type", 0, "no"), ("unknown-sql-type", 0, "rate"), ("lob-digest", 1, "scan")}),
        read=[("123456789012345678901", "0.1", WRONG, "a"), ("2", "3", None, "ø")],
    ),
    "db2-with-files-in-capitals-a-doubled-key-and-rows-that-are-not-there": Export(
        "2.1",
        [("id", "INTEGER"), ("mark", "CHAR(2) FOR BIT DATA"), ("sum", "DECFLOAT(34)"), ("scan", "BLOB")],
        [
            ("1", "FFFE", "1.50", ("record0.bin", b"big", "content/LOBS/RECORD0.BIN")),
            ("1", "0001", "2.50", ("gone.bin", b"x", "")),
        ],
        key="id",
        said_rows=3,
        stray="<c9>more</c9>",
        gaps=frozenset(
            {
                ("unknown-sql-type", 0, "mark"),
                ("unknown-sql-type", 0, "sum"),
                ("lob-not-there", 2, "scan"),
                ("stray-element", 0, ""),
                ("key-broken", 0, ""),
                ("rows-differ", 0, ""),
            }
        ),
        read=[(1, b"\xff\xfe", "1.50", b"big"), (1, b"\x00\x01", "2.50", None)],
    ),
}
"""By what is odd in each."""
