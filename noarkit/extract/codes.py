"""The archive's code lists as the writer wants them: names by field and code, authorities of screening codes."""

from __future__ import annotations

from noarkit.archive.administration import Administration
from noarkit.archive.registers import ListedCodes
from noarkit.model import metamodel
from noarkit.model.mapping import mapping
from noarkit.packages.noark5.content import Codes, xml_text


def read_codes(administration: Administration) -> Codes:
    """Asks the archive for its lists; a list it does not tell is as the model knows it."""
    return codes_of(administration.code_lists())


def codes_of(lists: tuple[ListedCodes, ...]) -> Codes:
    """The names of codes by field. Where the archive's name differs from the catalogue's word, that word is written."""
    names: dict[str, dict[str, str]] = {}
    authorities: dict[str, str] = {}
    for one in metamodel().code_lists.values():
        for _, field in one.used_by:
            names.setdefault(field, {}).update({xml_text(code.code): xml_text(code.name) for code in one.codes})
    for listed in lists:
        held = names.setdefault(listed.field, {})
        for value in listed.values:
            held[xml_text(value.code)] = xml_text(value.name)
            if listed.field == "skjerming" and value.authority:
                authorities[xml_text(value.code)] = xml_text(value.authority)
    for synonym in mapping().words.synonyms:
        held = names.get(synonym.code_list, {})
        if held.get(synonym.code) == synonym.name:
            held[synonym.code] = xml_text(synonym.text)
    return Codes(names, authorities)
