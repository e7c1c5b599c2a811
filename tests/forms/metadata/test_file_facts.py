"""PREMIS says the same of a file to all who read it, whatever the form of the package."""

from __future__ import annotations

import io

import pytest

from noarkit.forms.metadata.file_facts import checksum_name
from noarkit.forms.metadata.premis import read_history
from noarkit.forms.metadata.premis_entities import DIAS, EVERY_NAMESPACE, PREMIS_2, PREMIS_3, read_entities
from noarkit.forms.metadata.premis_objects import PremisObject, read_objects

DIGEST = "AB" * 32


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
