"""Every fault of a recipe in one reading: what its text, the model, the archive's code lists and sample records say.

Records are only read; a fault that many samples share is told once, with the key of the first and how many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from noarkit.graph.entity import Entity, MappedRecord, SetAside
from noarkit.model import metamodel
from noarkit.recipes.compile import compile_plan
from noarkit.recipes.expressions import Scene
from noarkit.recipes.mapper import MISFIT, Mapper
from noarkit.recipes.recipe_model import MapRule, Recipe, RecipeProblem, Value
from noarkit.records import SourceRecord

CodeLists = Mapping[str, Collection[str]]
_SAME_RECORDS = {"siard": "database", "addml": "database"}
"""A database that was archived, or delivered as files, is planned by the recipe of the live one."""


def check(
    recipe: Recipe,
    samples: Iterable[SourceRecord] = (),
    *,
    code_lists: CodeLists | None = None,
    usual_kinds: Callable[[], Collection[str]] = frozenset,
) -> list[RecipeProblem]:
    """The problems of `recipe`, by line. `code_lists` are the archive's own (name to codes), where it was asked;
    `usual_kinds` says which kinds of records a source may have, though no sample is one."""
    plan, problems = compile_plan(recipe)
    all_problems = [*recipe.problems, *_apply_code_lists(problems, code_lists), *_unreachable(recipe)]
    if not any(not problem.warning for problem in all_problems):
        mapper = Mapper(plan, Scene())
        all_problems.extend(_check_samples(recipe, mapper, samples, code_lists, usual_kinds))
    unique = {(problem.line, problem.key, repr(problem.data)): problem for problem in all_problems}
    return sorted(unique.values(), key=lambda problem: (problem.line, problem.warning, problem.key))


def fits(recipe: Recipe, source_kind: str) -> bool:
    """True if the recipe is for sources of this kind, or of one that holds the same records, or for any."""
    return not recipe.kinds or source_kind in recipe.kinds or _SAME_RECORDS.get(source_kind) in recipe.kinds


def _apply_code_lists(problems: Iterable[RecipeProblem], code_lists: CodeLists | None) -> list[RecipeProblem]:
    """Unknown codes, judged by the archive's lists where they are known: there a fault, or none."""
    remaining = []
    for problem in problems:
        list_codes = (code_lists or {}).get(str(problem.data.get("list")))
        if problem.key != "unknown-code" or not problem.warning or list_codes is None:
            if problem.key == "unknown-code" and problem.warning and not problem.data.get("known"):
                continue  # a list that every archive fills itself, and nobody was asked
            remaining.append(problem)
        elif problem.data.get("code") not in list_codes:
            remaining.append(
                replace(problem, data={**problem.data, "known": ", ".join(sorted(list_codes))}, warning=False)
            )
    return remaining


def _unreachable(recipe: Recipe) -> list[RecipeProblem]:
    """Maps that no record can come to, because an earlier rule without a condition takes all of their kinds."""
    lines_by_kind: dict[str, int] = {}
    all_from = 0
    problems = []
    for skip in recipe.skips:
        if _always(skip.when):
            all_from = all_from or (0 if skip.kinds else skip.line)
            lines_by_kind.update(dict.fromkeys(skip.kinds, skip.line))
    for rule in recipe.maps:
        by = all_from or _shadowing_line(rule, lines_by_kind)
        if by or _never(rule.when):
            problems.append(RecipeProblem(rule.line, "unreachable-map", {"by": by}, warning=True))
        elif _always(rule.when):
            all_from = all_from or (0 if rule.kinds else rule.line)
            lines_by_kind.update(dict.fromkeys(rule.kinds, rule.line))
    return problems


def _shadowing_line(rule: MapRule, lines_by_kind: Mapping[str, int]) -> int:
    if rule.kinds and all(kind in lines_by_kind for kind in rule.kinds):
        return lines_by_kind[rule.kinds[0]]
    return 0


def _always(when: Value | None) -> bool:
    return when is None or (when.expression is None and bool(when.raw))


def _never(when: Value | None) -> bool:
    return when is not None and when.expression is None and not when.raw


def _check_samples(
    recipe: Recipe,
    mapper: Mapper,
    samples: Iterable[SourceRecord],
    code_lists: CodeLists | None,
    usual_kinds: Callable[[], Collection[str]],
) -> list[RecipeProblem]:
    first: dict[tuple[int, str, str], str] = {}
    counts: dict[tuple[int, str, str], int] = {}
    kinds: set[str] = set()
    codes: dict[tuple[int, str, str], RecipeProblem] = {}
    for record in samples:
        kinds.add(record.kind)
        result = mapper.map(record)
        if isinstance(result, SetAside) and result.code == MISFIT:
            line = result.data.get("line")
            place = (line if isinstance(line, int) else 0, str(result.data["why"]), str(result.data["what"]))
            first.setdefault(place, record.key)
            counts[place] = counts.get(place, 0) + 1
        elif isinstance(result, MappedRecord):
            for entity in result.entities:
                _check_codes(entity, record.key, code_lists, codes)
    problems = [
        RecipeProblem(max(line, 1), why, {"name": what, "record": first[line, why, what], "records": count})
        for (line, why, what), count in counts.items()
    ]
    return [*problems, *codes.values(), *(_unknown_kinds(recipe, kinds, usual_kinds) if kinds else ())]


def _check_codes(
    entity: Entity,
    key: str,
    code_lists: CodeLists | None,
    problems: dict[tuple[int, str, str], RecipeProblem],
) -> None:
    model = metamodel()
    for name, value in entity.fields.items():
        field = model.types[entity.type].fields[name]
        if not isinstance(value, str) or not (field.values or field.code_list):
            continue
        archive_codes = (code_lists or {}).get(field.code_list or "")
        known_codes = (
            field.values or archive_codes or [code.code for code in model.code_lists[field.code_list or ""].codes]
        )
        place = (entity.recipe_line, name, value)
        if known_codes and value not in known_codes and place not in problems:
            data = {
                "field": name,
                "code": value,
                "list": field.code_list or "",
                "known": ", ".join(sorted(known_codes)),
                "record": key,
            }
            sure = bool(field.values) or archive_codes is not None
            problems[place] = RecipeProblem(max(entity.recipe_line, 1), "unknown-code", data, warning=not sure)


def kinds_of_rules(recipe: Recipe) -> dict[str, int]:
    """The kinds of records that rules name, each with the line that does so first."""
    named_kinds = [(rule.line, rule.kinds) for rule in recipe.maps] + [(rule.line, rule.kinds) for rule in recipe.skips]
    lines: dict[str, int] = {}
    for line, kinds in named_kinds:
        lines |= {kind: line for kind in kinds if kind not in lines}
    return lines


def _unknown_kinds(recipe: Recipe, kinds: set[str], usual_kinds: Callable[[], Collection[str]]) -> list[RecipeProblem]:
    """Kinds that a rule names, no sample has and the source does not make: a slip of the pen."""
    unseen = {kind: line for kind, line in kinds_of_rules(recipe).items() if kind not in kinds}
    known_kinds = sorted(kinds.union(usual_kinds())) if unseen else []
    problems = []
    for kind, line in unseen.items():
        if kind not in known_kinds:
            near = next(iter(get_close_matches(kind, known_kinds, 1)), "")
            data = {"kind": kind, "near": near, "known": ", ".join(known_kinds)}
            problems.append(RecipeProblem(line, "kind-not-seen", data, warning=True))
    return problems
