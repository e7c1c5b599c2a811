"""Keeps the rule that only leaf classes hold folders and records, record by record.

With `leaf = "child"` everything goes to a leaf child of the class it names, unless that class is declared and has no
declared children; the order of records then never matters. With `leaf = "fault"` what breaks the rule is set aside.
"""

from __future__ import annotations

from collections.abc import Iterable

from noarkit.graph.entity import Entity, FieldValue
from noarkit.recipes.compiled import ClassPlan, RecipeMismatch, System
from noarkit.recipes.targets import class_entity, idents_of
from noarkit.recipes.values import ValueRefused, to_text

DEEPEST = 32


class Leaves:
    """Which classes hold something, and which have children, so far."""

    def __init__(self, targets: Iterable[Entity]) -> None:
        self._used: set[str] = set()
        self._inner: set[str] = {
            above for entity in targets for link, above in entity.links if link == "refForelderKlasse"
        }

    def chain(self, plan: ClassPlan, ident: object, titles: list[object], title: str | None) -> list[Entity]:
        """The classes down to the one that is used. Raises Unfit where that breaks the rule."""
        system = plan.system
        idents = _idents(ident, system, plan.line)
        names = _titles(idents, titles, title, plan)
        if system.child_of_all and (idents[-1] not in system.declared_classes or idents[-1] in system.inner):
            idents = [*idents, f"{idents[-1]}{system.separator}{system.leaf_ident}"]
            names = [*names, system.leaf_title]
        classes = [self._entity(system, idents[: depth + 1], name, plan.line) for depth, name in enumerate(names)]
        self._check(classes, plan.line)
        return classes

    def use(self, chains: Iterable[tuple[Entity, ...]]) -> None:
        """Remembers that a record was taken into the last class of each of `chains`."""
        for chain in chains:
            self._used.add(chain[-1].key)
            self._inner.update(above.key for above in chain[:-1])

    def _check(self, chain: list[Entity], line: int) -> None:
        if chain[-1].key in self._inner:
            raise RecipeMismatch(line, "class-has-children")
        for above in chain[:-1]:
            if above.key in self._used:
                raise RecipeMismatch(line, "class-in-use")

    def _entity(self, system: System, idents: list[str], name: str, line: int) -> Entity:
        declared_class = system.declared_classes.get(idents[-1])
        if declared_class is not None:
            return declared_class
        fields: dict[str, FieldValue] = {"klasseIdent": idents[-1], "tittel": name}
        default = system.by_default.get(idents[-1])
        if default is not None and name == idents[-1].rsplit(system.separator or None, 1)[-1]:
            fields = dict(default.fields)  # the rule gives no title of its own
        return class_entity(system, idents, fields, line)


def _idents(ident: object, system: System, line: int) -> list[str]:
    """A text such as `1.2.3`, or a list of levels, as the idents on the way to the class."""
    try:
        levels = [to_text(level) for level in ident] if isinstance(ident, list | tuple) else None
        idents = (
            idents_of(to_text(ident), system.separator) if levels is None else _cumulative_idents(levels, system, line)
        )
    except ValueRefused as fault:
        raise RecipeMismatch(line, str(fault)) from fault
    if len(idents) > DEEPEST:
        raise RecipeMismatch(line, "class-too-deep")
    if any(not level for level in (levels or idents[-1].split(system.separator or None))):
        raise RecipeMismatch(line, "class-level-empty")
    return idents


def _cumulative_idents(levels: list[str], system: System, line: int) -> list[str]:
    if not system.separator and len(levels) > 1:
        raise RecipeMismatch(line, "class-without-separator")
    if system.separator and any(system.separator in level for level in levels):
        raise RecipeMismatch(line, "class-level-holds-separator")
    return [system.separator.join(levels[: depth + 1]) for depth in range(len(levels))]


def _titles(idents: list[str], titles: list[object], title: str | None, plan: ClassPlan) -> list[str]:
    """A title for each level: from `titles`, the last from `title`, else what the level adds to the one before."""
    separator = plan.system.separator
    level_titles = []
    for depth, ident in enumerate(idents):
        own = ident.rsplit(separator, 1)[-1] if separator and depth else ident
        try:
            level_titles.append(to_text(titles[depth]) if depth < len(titles) and titles[depth] else own)
        except ValueRefused as fault:
            raise RecipeMismatch(plan.line, str(fault)) from fault
    if title:
        level_titles[-1] = title
    return level_titles
