"""Every name of Noark 5 that a person may meet is said in plain words, in both languages."""

from __future__ import annotations

import re

import pytest

from noarkit.model import metamodel
from noarkit.model.xml_model import VERSIONS, xml_model
from noarkit.words.texts import LANGUAGES, texts

CODED = re.compile(r"[a-zæøå][A-ZÆØÅ]")


def names() -> set[str]:
    """The types, fields and references of the model, and the elements of every version of the XML."""
    known: set[str] = set()
    for type_name, object_type in metamodel().types.items():
        known |= {type_name, *object_type.fields, *object_type.references}
    for version in VERSIONS:
        for document in xml_model(version).documents.values():
            known |= {document.root, *document.groups}
            known |= {element.name for group in document.groups.values() for element in group.elements}
    return known


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_name_has_a_label_and_no_label_is_without_a_name(lang: str) -> None:
    assert set(texts(lang).tables["fields"]) == names()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_labels_are_words_and_not_the_names_again(lang: str) -> None:
    for name, label in texts(lang).tables["fields"].items():
        assert isinstance(label, str)
        assert label.strip() == label != ""
        assert label[0].isupper() or label.startswith("eInnsyn"), name
        assert not CODED.search(label.replace("eInnsyn", "")), name
