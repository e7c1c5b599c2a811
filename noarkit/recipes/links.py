"""Which type may hang under which, by which link, read from the metamodel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from noarkit.model import ObjectType, metamodel

LETTERS = {
    "parties": "p",
    "keywords": "k",
    "notes": "n",
    "identifiers": "i",
    "external_ids": "x",
    "sign_offs": "s",
    "flows": "f",
    "participants": "m",
}
_TYPES = {
    "keywords": ("Noekkelord",),
    "notes": ("Merknad",),
    "identifiers": ("Eiendom", "Adresse", "Bygning", "Plan", "Posisjon", "Foedselsnummer", "DNummer"),
    "external_ids": ("EksternId",),
    "sign_offs": ("Avskrivning",),
    "flows": ("Dokumentflyt",),
    "participants": ("Moetedeltaker",),
}


def link_to_parent(kind: ObjectType, above: ObjectType) -> str | None:
    """The name of the link by which a `kind` hangs under an `above`; None if it cannot."""
    model = metamodel()
    for reference in kind.references.values():
        if reference.many or reference.need == "may":
            continue
        if any(above.name in model.concrete(target) for target in reference.targets):
            return reference.name
    return None


@cache
def _links_to_parents(name: str) -> Mapping[str, str]:
    types = metamodel().types
    pairs = ((above, link_to_parent(types[name], types[above])) for above in types)
    return {above: link for above, link in pairs if link}


def links_to_parents(kind: ObjectType) -> Mapping[str, str]:
    """Every type that a `kind` can hang under, with the link."""
    return _links_to_parents(kind.name)


def is_owned(kind: ObjectType) -> bool:
    """True for what is neither folder nor record, and so always hangs under something."""
    return kind.family not in ("AbstraktMappe", "AbstraktRegistrering")


def types_of_section(section: str, owner: ObjectType) -> tuple[str, ...]:
    """The types that a section of the recipe can make under `owner`, the usual one first."""
    if section == "parties":
        return {"AbstraktMappe": ("Sakspart",), "AbstraktRegistrering": ("Korrespondansepart",)}.get(owner.family, ())
    return _TYPES.get(section, ())


def needed_parts(kind: ObjectType) -> tuple[str, ...]:
    """The types of which a `kind` must have at least one under it from the start."""
    return tuple(
        reference.targets[0]
        for reference in kind.references.values()
        if reference.many and reference.need == "must" and len(reference.targets) == 1
    )
