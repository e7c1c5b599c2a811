"""Packages of any version and maker are read as they lie, and nothing in one leads out of it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from noarkit.errors import HostileInput, NoarkitError, PackageFault, UnsafeMember, UnsafeXml
from noarkit.forms.eark.read.descriptive import DescriptiveField, read_descriptive, resolve_reference
from noarkit.forms.eark.read.hrefs import ResolvedHref, resolve
from noarkit.forms.eark.read.inventory import representation_folder
from noarkit.forms.eark.read.package import open_eark
from noarkit.forms.eark.write.package import EarkFile, Representation, make_eark
from noarkit.forms.metadata.premis_objects import PremisObject, read_objects
from tests.forms.eark.oracles import disagreements

HEAD = (
    '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:csip="https://{host}/XML/METS/CSIPExtensionMETS" xmlns:sip="https://{host}/XML/METS/SIPExtensionMETS"'
    ' OBJID="p" TYPE="Mixed" PROFILE="{profile}" csip:CONTENTINFORMATIONTYPE="MIXED">'
    '<metsHdr CREATEDATE="2020-01-01T00:00:00Z" csip:OAISPACKAGETYPE="SIP"/>'
)
PROFILE = "https://earksip.dilcis.eu/profile/E-ARK-SIP.xml"


def mets(*hrefs: str, pointers: tuple[str, ...] = (), host: str = "DILCIS.eu", profile: str = PROFILE) -> bytes:
    files = "".join(
        f'<file ID="f{number}" MIMETYPE="text/plain" SIZE="1" CHECKSUM="AB" CHECKSUMTYPE="MD5" sip:FILEFORMATNAME="t"'
        f' sip:FILEFORMATREGISTRY="PRONOM" sip:FILEFORMATKEY="x-fmt/111">'
        f'<FLocat LOCTYPE="URL" xlink:type="simple" xlink:href="{href}"/></file>'
        for number, href in enumerate(hrefs)
    )
    section = f'<fileSec><fileGrp USE="Data">{files}</fileGrp></fileSec>' if hrefs else ""
    divs = "".join(f'<div LABEL="x"><mptr LOCTYPE="URL" xlink:href="{one}"/></div>' for one in pointers)
    head = HEAD.format(host=host, profile=profile)
    return f"{head}{section}<structMap><div>{divs}</div></structMap></mets>".encode()


def laid(root: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


@pytest.mark.parametrize(
    ("href", "stored"),
    [
        ("representations/rep 1/data/a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("representations/rep%201/data/a%2Bb.txt", "representations/rep 1/data/a+b.txt"),
        ("representations%2Frep+1%2Fdata%2Fa%2Bb.txt", "representations/rep 1/data/a+b.txt"),
        ("./representations/rep%201/data/a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("file:representations/rep 1/data/a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("file://./representations/rep 1/data/a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("FILE:representations/rep 1/data/a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("representations\\rep 1\\data\\a+b.txt", "representations/rep 1/data/a+b.txt"),
        ("100%.txt", "100%.txt"),
        ("100%25.txt", "100%.txt"),
        ("%C3%A5.txt", "a\u030a.txt"),
        ("å.txt", "a\u030a.txt"),
    ],
)
def test_a_reference_is_read_in_every_dialect(tmp_path: Path, href: str, stored: str) -> None:
    root = laid(tmp_path / "p", **{"METS.xml": mets(href.replace("&", "&amp;")), stored: b"x"})
    with open_eark(root) as package:
        (entry,) = package.files()
        assert (entry.name, entry.why) == (stored, "")
        assert list(package.unlisted()) == []
        with package.open(entry.name) as file:
            assert file.read(9) == b"x"


@pytest.mark.parametrize(
    ("href", "why"),
    [
        ("../outside.txt", "unsafe"),
        ("a/../../outside.txt", "unsafe"),
        ("..%2Foutside.txt", "unsafe"),
        ("..\\outside.txt", "unsafe"),
        ("C:\\outside.txt", "unsafe"),
        ("con", "unsafe"),
        ("/etc/passwd", "outside"),
        ("file:/etc/passwd", "outside"),
        ("file:///etc/passwd", "outside"),
        ("https://example.org/x", "outside"),
        ("gone.txt", "missing"),
        ("", "unsafe"),
    ],
)
def test_what_leads_out_or_nowhere_is_told_as_that(tmp_path: Path, href: str, why: str) -> None:
    (tmp_path / "outside.txt").write_bytes(b"secret")
    root = laid(tmp_path / "p", **{"METS.xml": mets(href)})
    with open_eark(root) as package:
        (entry,) = package.files()
        assert entry.why == why
        with pytest.raises((NoarkitError, OSError)), package.open(entry.name) as file:
            file.read(1)


def test_of_two_names_the_one_that_is_spelt_so_is_meant() -> None:
    held = {"a+b", "a b", "c%20d", "c d"}

    def find(name: str) -> str | None:
        return name if name in held else None

    assert resolve("a+b", "", find) == ResolvedHref("a+b")
    assert resolve("a%20b", "", find) == ResolvedHref("a b")
    assert resolve("c%20d", "", find) == ResolvedHref("c d")
    assert resolve("c%2520d", "", find) == ResolvedHref("c%20d")
    assert resolve("c+d", "", find) == ResolvedHref("c d")


def test_two_files_that_differ_in_composition_alone_are_not_mistaken(tmp_path: Path) -> None:
    root = laid(tmp_path / "p", **{"METS.xml": mets("%C3%85", "A%CC%8A", "%E2%84%AB"), "Å": b"1", "A\u030a": b"2"})
    with open_eark(root) as package:
        assert [(entry.name, entry.why) for entry in package.files()] == [
            ("A\u030a", ""),
            ("Å", ""),
            ("\u212b", "missing"),
        ]


def test_a_representation_may_tell_its_files_from_its_own_folder_or_from_the_root(tmp_path: Path) -> None:
    inner = mets("data/a", "representations/r/data/b")
    root = laid(
        tmp_path / "p",
        **{
            "METS.xml": mets(pointers=("representations/r/METS.xml", "submission/METS.xml", "gone/METS.xml")),
            "representations/r/METS.xml": inner,
            "representations/r/data/a": b"",
            "representations/r/data/b": b"",
            "submission/METS.xml": mets("representations/s/data/c"),
            "submission/representations/s/data/c": b"",
        },
    )
    with open_eark(root) as package:
        assert [entry.name for entry in package.files("r")] == ["representations/r/data/a", "representations/r/data/b"]
        assert [(part.name, part.folder) for part in package.representations] == [
            ("r", "representations/r/"),
            ("submission/s", "submission/representations/s/"),
        ]
        assert list(package.documents) == ["METS.xml", "representations/r/METS.xml", "submission/METS.xml"]
        assert list(package.unlisted()) == []


def test_the_root_may_tell_of_all_files_and_what_they_are(tmp_path: Path) -> None:
    root = mets("representations/r/data/a").replace(
        b'USE="Data"', b'USE="Representations/r/data" csip:CONTENTINFORMATIONTYPE="citssiard_v1_0"'
    )
    with open_eark(laid(tmp_path / "p", **{"METS.xml": root, "representations/r/data/a": b""})) as package:
        (part,) = package.representations
        assert (part.name, part.label, part.heading, part.content_type) == ("r", "r", None, "citssiard_v1_0")
        assert [entry.use for entry in package.files("r")] == ["Representations/r/data"]


def test_a_representation_nobody_points_to_is_read_all_the_same(tmp_path: Path) -> None:
    files = {"METS.xml": mets(), "representations/r/METS.xml": mets("data/a"), "representations/r/data/a": b""}
    with open_eark(laid(tmp_path / "p", **files)) as package:
        assert [entry.name for entry in package.files("r")] == ["representations/r/data/a"]
        assert list(package.unlisted()) == ["representations/r/METS.xml"]
        with pytest.raises(KeyError):
            list(package.files("q"))


def test_a_package_within_the_data_of_a_package_is_data(tmp_path: Path) -> None:
    inner = make_eark([Representation("inner", [EarkFile("a", b"a")])], tmp_path / "inner").path
    files = [EarkFile(path.relative_to(inner).as_posix(), path) for path in sorted(inner.rglob("*")) if path.is_file()]
    outer = make_eark([Representation("outer", files)], tmp_path / "outer.zip").path
    with open_eark(outer) as package:
        assert [part.name for part in package.representations] == ["outer"]
        assert sum(1 for entry in package.files("outer")) == len(files)
        assert disagreements(package) == []


@pytest.mark.parametrize("host", ["DILCIS.eu", "dilcis.eu"])
def test_both_spellings_of_the_extensions_are_read(tmp_path: Path, host: str) -> None:
    root = laid(tmp_path / "p", **{"METS.xml": mets("a", host=host), "a": b"x"})
    with open_eark(root) as package:
        (entry,) = package.files()
        assert (package.kind, package.root.content_type) == ("sip", "MIXED")
        assert (entry.format_name, entry.puid, entry.checksum) == ("t", "x-fmt/111", "ab")


@pytest.mark.parametrize(
    ("profile", "version"),
    [(PROFILE, ""), (PROFILE.replace(".xml", "-v2-2-0.xml"), "2.2.0"), ("http://other", "")],
)
def test_the_version_is_what_the_profile_names(tmp_path: Path, profile: str, version: str) -> None:
    root = laid(tmp_path / "p", **{"METS.xml": mets(profile=profile)})
    with open_eark(root) as package:
        assert package.version == version


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"<html/>", PackageFault),
        (b"<mets/>", PackageFault),
        (b"", PackageFault),
        (b"<mets", PackageFault),
        (b'<!DOCTYPE mets SYSTEM "http://example.org/x"><mets xmlns="http://www.loc.gov/METS/"/>', UnsafeXml),
        (b'<mets xmlns="http://www.loc.gov/METS/">' + b"<div>" * 200, UnsafeXml),
    ],
)
def test_what_is_no_mets_or_tries_something_is_refused(tmp_path: Path, content: bytes, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        open_eark(laid(tmp_path / "p", **{"METS.xml": content}))


def test_a_folder_without_mets_is_no_package_and_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageFault):
        open_eark(laid(tmp_path / "empty", **{"a": b""}))
    with pytest.raises(PackageFault):
        open_eark(tmp_path / "gone.zip")
    root = laid(tmp_path / "p", **{"METS.xml": mets()})
    (root / "link").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeMember):
        open_eark(root)


def test_a_zip_that_climbs_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        archive.writestr("p/METS.xml", mets())
        archive.writestr("p/../../out", b"x")
    with pytest.raises(HostileInput):
        open_eark(tmp_path / "p.zip")


@pytest.mark.parametrize(
    ("sample", "kind", "parts", "files", "unlisted"),
    [
        ("eark-sip/a46ab3d0-c710-4d73-b58d-e93e30b53a82.zip", "", ["rep1", "rep2"], 8, ["schemas/cpf.xsd"]),
        (
            "eark-csip-minimal/minimal_IP_with_schemas.zip",
            "sip",
            ["rep1"],
            4,
            ["metadata/.gitkeep", "representations/rep1/data/.gitkeep"],
        ),
        (
            "eark-aip/urn+uuid+385a3080-b714-4b0f-a975-8fd8e214d752.tar",
            "aip",
            ["submission/mysqlrep", "submission/siardrep"],
            13,
            [],
        ),
        (
            "eark-aip/urn+uuid+7d0d1987-0f1c-47a7-8fd6-cc5c7de4064f.tar",
            "aip",
            ["submission/rep1", "submission/rep2"],
            14,
            [],
        ),
    ],
)
def test_packages_of_other_makers_are_read(
    reference: Path, sample: str, kind: str, parts: list[str], files: int, unlisted: list[str]
) -> None:
    with open_eark(reference.parent / "samples" / "oais" / sample) as package:
        assert package.kind == kind
        assert [part.name for part in package.representations] == parts
        assert sum(1 for entry in package.files() if not entry.why) == files
        assert list(package.unlisted()) == unlisted


def test_premis_of_both_versions_is_read() -> None:
    for space in ("http://www.loc.gov/premis/v3", "info:lc/xmlns/premis-v2"):
        text = f"""<p:premis xmlns:p="{space}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<p:object xsi:type="p:file"><p:objectIdentifier><p:objectIdentifierType>x</p:objectIdentifierType>
<p:objectIdentifierValue>ID1</p:objectIdentifierValue></p:objectIdentifier><p:objectCharacteristics>
<p:fixity><p:messageDigestAlgorithm>SHA256</p:messageDigestAlgorithm><p:messageDigest>AB</p:messageDigest></p:fixity>
<p:size>12</p:size><p:format><p:formatDesignation><p:formatName>PDF</p:formatName></p:formatDesignation>
<p:formatRegistry><p:formatRegistryName>PRONOM</p:formatRegistryName><p:formatRegistryKey>fmt/18</p:formatRegistryKey>
</p:formatRegistry></p:format></p:objectCharacteristics><p:originalName>a.pdf</p:originalName></p:object></p:premis>"""
        assert list(read_objects(io.BytesIO(text.encode()), "premis.xml")) == [
            PremisObject("file", ("ID1",), "a.pdf", "", 12, (("SHA-256", "ab"),), "PDF", "", "fmt/18")
        ]
    with pytest.raises(PackageFault):
        list(read_objects(io.BytesIO(b"<x/>"), "premis.xml"))


def test_descriptions_of_several_kinds_tell_a_title() -> None:
    titles = b"<dc:title>A  b</dc:title><dc:title>c</dc:title>"
    core = b'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">' + titles + b"</metadata>"
    assert list(read_descriptive(io.BytesIO(core), "dc.xml")) == [DescriptiveField("package", "title", "A b")]
    simple = b"<simpledc><creator>Kari</creator></simpledc>"
    assert list(read_descriptive(io.BytesIO(simple), "dc.xml")) == [DescriptiveField("package", "creator", "Kari")]
    other = b"<eac-cpf><description>no</description></eac-cpf>"
    assert list(read_descriptive(io.BytesIO(other), "x.xml")) == []


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("file:../../representations/r/a.txt", "representations/r/a.txt"),
        ("a%20b.txt", "metadata/descriptive/a b.txt"),
        ("../../../../etc/passwd", ""),
        ("/etc/passwd", ""),
        ("http://x/y", ""),
    ],
)
def test_descriptions_lead_within_the_package_alone(href: str, name: str) -> None:
    assert resolve_reference(href, "metadata/descriptive/") == name


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("representations/r/data/a", "representations/r/"),
        ("Representations/R/a", "Representations/R/"),
        ("x/representations/r/data/representations/q/a", "x/representations/r/"),
        ("representations/a.txt", None),
        ("myrepresentations/r/a", None),
    ],
)
def test_the_outermost_representation_holds_a_file(name: str, folder: str | None) -> None:
    assert representation_folder(name) == folder
