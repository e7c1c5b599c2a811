"""An archive appears whole or not at all, other tools read it, and the official schemas take it."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from lxml import etree

from noarkit.errors import PackageFault, SourceAway, UsageFault
from noarkit.forms.siard.model import Archive, Column, Schema, Table
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.read.places import ZipPlace
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.schemas import metadata_schema
from noarkit.forms.siard.spec import WRITTEN, Version
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from noarkit.forms.siard.write.zipped import Part, ZipWriter
from noarkit.safe.digest import Readable
from noarkit.safe.unpack import UnpackLimits
from tests.forms.siard.databases import CASES, NOTES, Memory, archive_of, case_row, sample
from tests.validation.siards import good

ROOT = Path(__file__).resolve().parents[3]


def schema_of(content: bytes) -> etree.XMLSchema:
    return etree.XMLSchema(etree.fromstring(content))


@pytest.mark.parametrize("version", WRITTEN)
def test_the_official_schema_takes_our_metadata_and_ours_takes_what_it_takes(version: Version, reference: Path) -> None:
    official = schema_of((reference / "xsd" / "siard" / f"metadata-{version}.xsd").read_bytes())
    files = good(version)
    root = etree.fromstring(files["header/metadata.xml"])
    official.assertValid(root)
    schema_of(metadata_schema(version)).assertValid(root)
    assert files["header/metadata.xsd"] == metadata_schema(version)


MENDINGS = (
    ("<dbname>records</dbname>", ""),
    ("<dbname>records</dbname>", "<dbname></dbname>"),
    ("<archivalDate>2024-05-06<", "<archivalDate>2024<"),
    ("<users>", "<users/><users>"),
    ("<type>INTEGER</type>", "<type>NUMBER</type>"),
    ("<type>INTEGER</type>", "<type>INTEGER</type><typeName>x</typeName>"),
    ("<type>DECIMAL(12,2)</type>", "<type>DECIMAL(0,2)</type>"),
    ("<folder>table1</folder>", "<folder>1table</folder>"),
    ("<folder>table1</folder>", "<folder>t</folder>"),
    ("<rows>2</rows>", "<rows>two</rows>"),
    ("<nullable>false</nullable>", "<nullable>no</nullable>"),
    ("<category>udt</category>", "<category>other</category>"),
    ("<digestType>SHA-256<", "<digestType> SHA-256 <"),
    ("<digestType>SHA-256<", "<digestType>SHA-512<"),
    ("<type>CHARACTER VARYING(100)</type>", "<type>CHARACTER VARYING</type>"),
    ("<type>CHARACTER VARYING(100)</type>", "<type>DATALINK</type>"),
    ("<type>CHARACTER VARYING(100)</type>", "<type>TIMESTAMP WITH TIME ZONE(6)</type>"),
    ("<type>CHARACTER VARYING(100)</type>", "<type>INTERVAL DAY(2) TO SECOND(3)</type>"),
    ("<type>CHARACTER VARYING(100)</type>", "<type>NCLOB(2 G)</type>"),
    ("<candidateKeys>", "<candidateKeys/><candidateKeys>"),
    ("<name>one_day</name>", ""),
)


@pytest.mark.parametrize("version", WRITTEN)
def test_our_schema_judges_as_the_official_one(version: Version, reference: Path) -> None:
    official = schema_of((reference / "xsd" / "siard" / f"metadata-{version}.xsd").read_bytes())
    ours = schema_of(metadata_schema(version))
    text = good(version)["header/metadata.xml"].decode()
    for old, new in MENDINGS:
        assert old in text, old
        root = etree.fromstring(text.replace(old, new, 1).encode())
        assert ours.validate(root) == official.validate(root), (old, new)


@pytest.mark.parametrize("version", WRITTEN)
def test_each_table_keeps_to_the_schema_beside_it(version: Version) -> None:
    files = good(version)
    tables = [name for name in files if name.endswith(".xml") and name.startswith("content")]
    assert len(tables) == 3
    for name in tables:
        schema_of(files[name.replace(".xml", ".xsd")]).assertValid(etree.fromstring(files[name]))


@pytest.mark.parametrize("level", [0, 6])
def test_other_tools_read_the_zip(level: int, tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    write_siard(sample(), target, SiardOrder(level=level))
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} <= {0, 8}
        assert not any(info.flag_bits & 0x8 for info in archive.infolist())  # sizes stand before the bytes
    if shutil.which("unzip"):
        assert subprocess.run(["unzip", "-tqq", str(target)], check=False).returncode == 0


def test_what_is_beyond_four_gigabytes_or_many_thousands_has_zip64_fields(tmp_path: Path) -> None:
    zipped = ZipWriter(tmp_path / "x.zip", tmp_path / "directory")
    for number in range(66_000):
        zipped.add(f"f{number}", b"")
    zipped.at += 2**32  # as if a large member stood here: only offsets are judged
    part = Part(tmp_path, 0)
    part.write(b"abc")
    part.finish()
    zipped.add_part("far", part)
    zipped.at -= 2**32
    zipped.finish()
    part.close()
    zipped.close()
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        infos = archive.infolist()
        assert len(infos) == 66_001
        assert infos[-1].header_offset > 2**32 and infos[-1].file_size == 3


class Zeros:
    """Five gigabytes of nothing, packed; nobody computes their checksum."""

    method = 8
    crc = 0
    times = 320
    size_bytes = times * 16 * 1024 * 1024

    def __init__(self) -> None:
        packing = zlib.compressobj(1, zlib.DEFLATED, -15)
        once = packing.compress(bytes(16 * 1024 * 1024)) + packing.flush(zlib.Z_FULL_FLUSH)
        self._packed = once * self.times + b"\x03\x00"
        self.packed_bytes = len(self._packed)

    def blocks(self) -> Readable:
        """The packed bytes."""
        return io.BytesIO(self._packed)


def test_a_member_beyond_four_gigabytes_is_read_by_others(tmp_path: Path) -> None:
    zipped = ZipWriter(tmp_path / "x.zip", tmp_path / "directory")
    zipped.add_part("large", Zeros())
    zipped.add("small", b"after it")
    zipped.finish()
    zipped.close()
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.getinfo("large").file_size == Zeros.size_bytes > 2**32
        assert archive.read("small") == b"after it"
        with archive.open("large") as file:
            assert file.read(10) == bytes(10)
    place = ZipPlace(tmp_path / "x.zip", UnpackLimits(ratio=2_000))
    assert place.size_of("large") == Zeros.size_bytes
    place.close()


def test_the_message_digest_is_over_everything_before_the_header(tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    write_siard(sample(), target, SiardOrder())
    with zipfile.ZipFile(target) as archive:
        end = archive.getinfo("header/").header_offset
        assert all(info.header_offset < end for info in archive.infolist() if info.filename.startswith("content"))
    with open_siard(target) as siard:
        (digest,) = siard.archive.digests
    assert digest.digest == hashlib.sha256(target.read_bytes()[:end]).hexdigest()


class Failing:
    """A database that goes away in the middle of its second table, some times."""

    def __init__(self, times: int, stamp: str) -> None:
        self.archive: Archive = archive_of(CASES, NOTES)
        self.stamp = stamp
        self.asked: list[str] = []
        self._times = times

    def rows(self, schema: Schema, table: Table) -> Iterator[Sequence[object]]:
        """Rows, until it fails."""
        self.asked.append(table.name)
        for number in range(1, 4):
            if table.name == "notes" and number == 2 and self._times:
                self._times -= 1
                raise SourceAway(where="db", why="gone")
            yield case_row(number, scan=bytes(6_000)) if table.name == "cases" else (number, "x")


@pytest.mark.parametrize("lobs", ["inside", "outside"])
def test_a_build_that_broke_off_goes_on_after_the_last_table(lobs: str, tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    order = SiardOrder(lobs=lobs)  # type: ignore[arg-type]  # one of the two
    source = Failing(1, "the same")
    with pytest.raises(SourceAway):
        write_siard(source, target, order)
    assert not target.exists() and len(list(tmp_path.iterdir())) == 1
    made = write_siard(source, target, order)
    assert made.resumed and source.asked == ["cases", "notes", "notes"]
    assert validate_siard(target).codes == set()
    whole = tmp_path / "y.siard"
    write_siard(Failing(0, ""), whole, order)
    if lobs == "inside":
        assert whole.read_bytes() == target.read_bytes()
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(".")) == []


def test_where_nobody_can_say_that_the_rows_are_the_same_it_starts_over(tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    source = Failing(1, "")
    with pytest.raises(SourceAway):
        write_siard(source, target, SiardOrder())
    assert list(tmp_path.iterdir()) == []
    assert not write_siard(source, target, SiardOrder()).resumed
    assert source.asked == ["cases", "notes", "cases", "notes"]


def test_another_order_does_not_go_on_with_what_was_begun(tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    source = Failing(1, "the same")
    with pytest.raises(SourceAway):
        write_siard(source, target, SiardOrder("2.1"))
    assert not write_siard(source, target, SiardOrder("2.2")).resumed
    assert validate_siard(target).codes == set()


def test_nothing_that_is_there_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    target.write_bytes(b"mine")
    with pytest.raises(UsageFault):
        write_siard(sample(), target, SiardOrder())
    assert target.read_bytes() == b"mine" and len(list(tmp_path.iterdir())) == 1
    (tmp_path / "y_lobs").mkdir()
    with pytest.raises(UsageFault):
        write_siard(sample(), tmp_path / "y.siard", SiardOrder(lobs="outside"))
    assert not (tmp_path / "y.siard").exists()


def test_a_version_that_is_not_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageFault):
        write_siard(sample(), tmp_path / "x.siard", SiardOrder("1.0"))  # type: ignore[arg-type]  # that is the test


UNFIT: list[tuple[str, object]] = [
    ("INTEGER", "one"),
    ("INTEGER", 1.5),
    ("INTEGER", ""),
    ("DATE", "0044-03-15 BC"),
    ("DATE", datetime(2020, 1, 1, 12)),
    ("TIMESTAMP", "infinityZ"),
    ("DECIMAL(5)", Decimal("NaN")),
    ("BOOLEAN", 7),
    ("BINARY VARYING(5)", "xyz"),
    ("BINARY LARGE OBJECT", 5),
    ("TIME", "noon"),
    ("INTERVAL DAY TO SECOND", "P1Y-2M"),
]


@pytest.mark.parametrize(("kind", "value"), UNFIT)
def test_a_value_that_its_column_cannot_hold_is_a_fault_and_no_archive(
    kind: str, value: object, tmp_path: Path
) -> None:
    table = Table("t", columns=(Column("x", type=kind),))
    with pytest.raises(PackageFault) as caught:
        write_siard(Memory(archive_of(table), {"t": [(None,), (value,)]}), tmp_path / "x.siard", SiardOrder())
    assert (caught.value.data["why"], caught.value.data["where"]) == ("value-unfit", "public.t.x")
    assert list(tmp_path.iterdir()) == []


def test_a_row_of_another_width_is_a_fault(tmp_path: Path) -> None:
    table = Table("t", columns=(Column("x", type="INTEGER"),))
    for rows in ([(1, 2)], [(1,), (1, 2)]):
        with pytest.raises(PackageFault) as caught:
            write_siard(Memory(archive_of(table), {"t": rows}), tmp_path / "x.siard", SiardOrder())
        assert caught.value.data["why"] == "row-width"


def test_types_without_length_fit_into_2_1(tmp_path: Path) -> None:
    table = Table(
        "t", columns=(Column("a", type="VARCHAR"), Column("b", type="VARBINARY"), Column("c", type="DATALINK"))
    )
    target = tmp_path / "x.siard"
    write_siard(Memory(archive_of(table), {"t": [("x", b"y", b"z")]}), target, SiardOrder("2.1"))
    assert validate_siard(target).codes == set()


def test_a_null_in_a_column_that_says_it_has_none_is_told_in_the_metadata(tmp_path: Path) -> None:
    table = Table("t", columns=(Column("a", type="INTEGER", nullable=False),))
    target = tmp_path / "x.siard"
    write_siard(Memory(archive_of(table), {"t": [(1,), (None,)]}), target, SiardOrder())
    assert validate_siard(target).codes == set()
    with open_siard(target) as siard:
        assert siard.archive.tables()[0][1].columns[0].nullable is True


def test_values_of_every_kind_stand_in_the_form_of_xml(tmp_path: Path) -> None:
    kinds = ("TIMESTAMP", "DATE", "DECIMAL(5,2)", "DOUBLE PRECISION", "BOOLEAN")
    table = Table("t", columns=tuple(Column(f"c{n}", type=kind) for n, kind in enumerate(kinds)))
    rows = [
        (datetime(2020, 1, 2, 3, 4, 5, 600), date(2020, 1, 2), Decimal("1E+2"), float("inf"), True),
        (datetime(2020, 1, 2, 3, 4, 5), date(1, 1, 1), Decimal("-0.50"), float("nan"), False),
    ]
    target = tmp_path / "x.siard"
    write_siard(Memory(archive_of(table), {"t": rows}), target, SiardOrder())
    with zipfile.ZipFile(target) as archive:
        root = etree.parse(io.BytesIO(archive.read("content/schema0/table0/table0.xml"))).getroot()
    assert [[cell.text for cell in row] for row in root] == [
        ["2020-01-02T03:04:05.000600Z", "2020-01-02Z", "100", "INF", "true"],
        ["2020-01-02T03:04:05Z", "0001-01-01Z", "-0.50", "NaN", "false"],
    ]


SLOW = """
import sys, time
from pathlib import Path
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from tests.forms.siard.test_write import Failing

class Slow(Failing):
    def rows(self, schema, table):
        for row in super().rows(schema, table):
            yield row
        if table.name == "notes":
            print("there", flush=True)
            time.sleep(60)

write_siard(Slow(0, sys.argv[2]), Path(sys.argv[1]), SiardOrder())
"""


@pytest.mark.parametrize("stamp", ["the same", ""])
def test_a_kill_leaves_nothing_under_the_name_and_the_next_build_ends_whole(stamp: str, tmp_path: Path) -> None:
    target = tmp_path / "x.siard"
    command = [sys.executable, "-c", SLOW, str(target), stamp]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as child:
        assert child.stdout is not None and child.stdout.readline() == b"there\n"
        child.kill()
    assert not target.exists()
    source = Failing(0, stamp)
    made = write_siard(source, target, SiardOrder())
    assert made.resumed == bool(stamp)
    assert source.asked == (["notes"] if stamp else ["cases", "notes"])
    assert validate_siard(target).codes == set()
    assert [one.name for one in tmp_path.iterdir()] == ["x.siard"]
