"""Names and kinds of business-specific metadata come back from the schema that we wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.errors import UnsafeXml
from noarkit.forms.noark5.read.business import BusinessFields
from noarkit.forms.noark5.read.declarations import declared_groups
from noarkit.forms.noark5.schemas import VsmField, VsmGroup, vsm_schema

NAMESPACE = "urn:own"
FIELDS = tuple(
    VsmField(kind, f"Felt <{kind}> & mer", kind) for kind in ("string", "long", "double", "timestamp", "boolean")
)
GROUPS = (VsmGroup("gruppe-a", "Gruppe A", (*FIELDS, VsmField("uri", "Lenke", "uri"))), VsmGroup("tom", "Tom", ()))


def written(place: Path, content: bytes) -> Path:
    """A schema file."""
    path = place / "own.xsd"
    path.write_bytes(content)
    return path


def test_what_was_declared_is_read_back(tmp_path: Path) -> None:
    assert declared_groups(written(tmp_path, vsm_schema(NAMESPACE, GROUPS)), NAMESPACE) == GROUPS


def test_the_same_groups_give_the_same_schema_again(tmp_path: Path) -> None:
    first = vsm_schema(NAMESPACE, GROUPS)
    assert vsm_schema(NAMESPACE, declared_groups(written(tmp_path, first), NAMESPACE)) == first


def test_a_missing_or_foreign_schema_declares_nothing(tmp_path: Path) -> None:
    assert declared_groups(tmp_path / "missing.xsd", NAMESPACE) == ()
    assert declared_groups(written(tmp_path, vsm_schema("urn:foreign", GROUPS)), NAMESPACE) == ()


def test_a_schema_with_a_doctype_is_refused(tmp_path: Path) -> None:
    hostile = b'<!DOCTYPE x [<!ENTITY e "e">]><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'
    with pytest.raises(UnsafeXml):
        declared_groups(written(tmp_path, hostile), NAMESPACE)


def test_declared_fields_keep_their_kind_and_fields_that_are_met_are_text() -> None:
    fields = BusinessFields(GROUPS)
    told = fields.read([{"gruppe-a": [{"long": ["12"], "ny": ["x"]}]}])
    assert told == {"gruppe-a": {"long": {"values": ["12"]}, "ny": {"values": ["x"]}}}
    assert fields.groups["gruppe-a"]["long"] == "long"
    assert fields.groups["gruppe-a"]["ny"] == "string"
    assert fields.groups["tom"] == {}
    assert fields.names["gruppe-a"] == "Gruppe A"
    assert fields.names["gruppe-a/uri"] == "Lenke"
