"""METS and PREMIS say the same of a file to all who read them, whatever the form of the package."""

from __future__ import annotations

import io

import pytest

from noarkit.forms.dias.read.mets import MetsReader
from noarkit.forms.eark.read.mets import Heading, read_mets
from noarkit.forms.metadata.file_facts import MOST_KEPT, checksum_name
from noarkit.forms.metadata.premis import read_history
from noarkit.forms.metadata.premis_entities import DIAS, EVERY_NAMESPACE, PREMIS_2, PREMIS_3, read_entities
from noarkit.forms.metadata.premis_objects import PremisObject, read_objects

DIGEST = "AB" * 32


def mets(header: str = "", attributes: str = "") -> bytes:
    """A METS document with one file of these attributes."""
    return f"""<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink" OBJID="p">
<metsHdr>{header}</metsHdr><fileSec><fileGrp USE="a"><file ID="f" {attributes}>
<FLocat LOCTYPE="URL" xlink:href="a.txt"/></file></fileGrp></fileSec></mets>""".encode()


def facts_of(document: bytes) -> list[tuple[int | None, str, str]]:
    """Size, checksum and algorithm of the file, as each form reads them."""
    (by_eark,) = read_mets(io.BytesIO(document), Heading("METS.xml"), "METS.xml")
    (by_dias,) = MetsReader(io.BytesIO(document)).files()
    return [(item.size_bytes, item.checksum, item.checksum_type) for item in (by_eark, by_dias)]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (f'SIZE="12" CHECKSUM="{DIGEST}" CHECKSUMTYPE="SHA-256"', (12, DIGEST.lower(), "SHA-256")),
        (f'SIZE=" 12 " CHECKSUM=" {DIGEST} " CHECKSUMTYPE=" SHA-256 "', (12, DIGEST.lower(), "SHA-256")),
        ('SIZE="٣"', (None, "", "")),
        ('SIZE="1e3"', (None, "", "")),
        (f'SIZE="{"9" * 30}"', (None, "", "")),
    ],
)
def test_a_file_of_mets_has_the_same_facts_in_every_form(
    attributes: str, expected: tuple[int | None, str, str]
) -> None:
    assert facts_of(mets(attributes=attributes)) == [expected, expected]


def test_an_agent_with_two_names_bears_the_first_in_every_form() -> None:
    document = mets('<agent ROLE="CREATOR" TYPE="ORGANIZATION"><name>First</name><name>Second</name></agent>')
    heading = Heading("METS.xml")
    list(read_mets(io.BytesIO(document), heading, "METS.xml"))
    reader = MetsReader(io.BytesIO(document))
    list(reader.files())
    assert [heading.agents[0].name, reader.header.agents[0].name] == ["First", "First"]


def test_agents_without_end_are_not_kept_without_end() -> None:
    heading = Heading("METS.xml")
    agents = "<agent ROLE='CREATOR'><name>a</name></agent>" * (MOST_KEPT + 5)
    list(read_mets(io.BytesIO(mets(agents)), heading, "METS.xml"))
    assert len(heading.agents) == MOST_KEPT


def premis(namespace: str, inside: str) -> bytes:
    """A PREMIS document with one file."""
    return f"""<p:premis xmlns:p="{namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:o="urn:o">
<p:object xsi:type="p:file"><p:objectIdentifier><p:objectIdentifierValue>1</p:objectIdentifierValue>
</p:objectIdentifier>{inside}</p:object></p:premis>""".encode()


def the_object(document: bytes) -> PremisObject:
    """The one object of a document."""
    (found,) = read_objects(io.BytesIO(document), "premis.xml")
    return found


@pytest.mark.parametrize("namespace", EVERY_NAMESPACE)
def test_a_checksum_belongs_to_the_algorithm_in_the_same_fixity(namespace: str) -> None:
    inside = f"""<p:objectCharacteristics>
<p:fixity><p:messageDigest>00</p:messageDigest></p:fixity>
<p:fixity><p:messageDigestAlgorithm>sha256</p:messageDigestAlgorithm><p:messageDigest>{DIGEST}</p:messageDigest>
</p:fixity></p:objectCharacteristics>"""
    assert the_object(premis(namespace, inside)).digests == (("", "00"), ("SHA-256", DIGEST.lower()))


@pytest.mark.parametrize("namespace", EVERY_NAMESPACE)
def test_a_name_that_a_tool_added_in_its_own_namespace_is_no_name_of_the_file(namespace: str) -> None:
    inside = """<p:objectCharacteristics><p:size>3</p:size><p:objectCharacteristicsExtension>
<o:originalName>theirs.pdf</o:originalName><o:size>9</o:size></p:objectCharacteristicsExtension>
</p:objectCharacteristics><p:originalName>ours.pdf</p:originalName>"""
    found = the_object(premis(namespace, inside))
    assert (found.original_name, found.size_bytes) == ("ours.pdf", 3)


@pytest.mark.parametrize("spelt", ["SHA-256", "SHA256", "sha_256", " sha-256 ", "SHA2-256"])
def test_an_algorithm_has_one_name(spelt: str) -> None:
    assert checksum_name(spelt) == "SHA-256"


def test_outcomes_keep_their_notes_and_identifiers_their_types() -> None:
    event = f"""<p:premis xmlns:p="{PREMIS_3}"><p:event><p:eventIdentifier>
<p:eventIdentifierType>UUID</p:eventIdentifierType><p:eventIdentifierValue>e</p:eventIdentifierValue>
</p:eventIdentifier><p:eventType>check</p:eventType><p:eventDateTime>2020</p:eventDateTime>
<p:eventOutcomeInformation><p:eventOutcome>good</p:eventOutcome></p:eventOutcomeInformation>
<p:eventOutcomeInformation><p:eventOutcome/><p:eventOutcomeDetail>
<p:eventOutcomeDetailNote>of one</p:eventOutcomeDetailNote></p:eventOutcomeDetail></p:eventOutcomeInformation>
</p:event></p:premis>"""
    (found,) = read_history(io.BytesIO(event.encode()), "premis.xml", "package").events
    assert found.outcomes == (("good", ""), ("", "of one"))
    assert found.identifier == ("UUID", "e")


def test_the_versions_are_all_read_and_nothing_else() -> None:
    for namespace in (PREMIS_3, PREMIS_2, DIAS):
        assert [entity.kind for entity in read_entities(io.BytesIO(premis(namespace, "")), "x", EVERY_NAMESPACE)] == [
            "object"
        ]
