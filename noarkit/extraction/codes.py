"""Reads the archive's code lists for the writer: names by field and code, authorities of screening codes."""

from __future__ import annotations

from noarkit.archive.administration import Administration
from noarkit.archive.registers import ListedCodes
from noarkit.forms.noark5.write.content import Codes, xml_text
from noarkit.model import metamodel
from noarkit.model.mapping import mapping


def read_codes(administration: Administration) -> Codes:
    """Asks the archive for its lists; a list it does not tell is as the model knows it."""
    return codes_of(administration.code_lists())


def codes_of(lists: tuple[ListedCodes, ...]) -> Codes:
    """The names of codes by field. Where the archive's name differs from the catalogue's word, that word is written."""
    names: dict[str, dict[str, str]] = {}
    authorities: dict[str, str] = {}
    for code_list in metamodel().code_lists.values():
        for _, field in code_list.used_by:
            names.setdefault(field, {}).update({xml_text(code.code): xml_text(code.name) for code in code_list.codes})
    for listed_codes in lists:
        names_by_code = names.setdefault(listed_codes.field, {})
        for value in listed_codes.values:
            names_by_code[xml_text(value.code)] = xml_text(value.name)
            if listed_codes.field == "skjerming" and value.authority:
                authorities[xml_text(value.code)] = xml_text(value.authority)
    for synonym in mapping().words.synonyms:
        names_by_code = names.get(synonym.code_list, {})
        if names_by_code.get(synonym.code) == synonym.name:
            names_by_code[synonym.code] = xml_text(synonym.text)
    return Codes(names, authorities)
