"""What a proposed recipe says of a register that was found: its section, its codes, and the rules that use its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from noarkit.model.own_marks import USUAL_SCREENING
from noarkit.recipes.comments import as_comment, comment, first_names
from noarkit.recipes.recipe_model import RegisterRules
from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.sources.files.register.finder import FoundRegister

_OF_CASES = {
    "saksdato": 'saksdato = "= record.case.row.saksdato | default(none) | date"',
    "avsluttetDato": 'avsluttetDato = "= record.case.row.avsluttetDato | default(none) | date"',
    "saksansvarlig": 'saksansvarlig = "= record.case.row.saksansvarlig | default(none)"',
    "skjerming": "skjerming = \"= record.case.row.skjerming | default(none) | code('skjerming')\"",
}
_PARTY = """
[[map.parents.parties]]
when = "= record.case.row.part | default(none)"
fields = { sakspartNavn = "= record.case.row.part", sakspartRolle = "Part" }
"""
UNKNOWN_TABLE = FoundRegister(
    RegisterRules(
        database=ASK, columns={name: "" for name in ("tittel", "saksdato", "avsluttetDato", "saksansvarlig", "part")}
    ),
    rows=0,
    joined=0,
)
"""A table that somebody names later; the rules of the recipe use what such tables mostly have."""
_SCREENED = "skjerming = \"= record.register.skjerming | default(none) | code('skjerming')\""


def register_section(register: FoundRegister, lang: str, *, asks: bool) -> str:
    """The section `[register]`, with its evidence, and the codes of screening. `asks`: what a person has to decide
    stands as a question, at which a plan stops."""
    return "\n".join(_section(register, lang, asks=asks)) + "\n\n"


def _section(register: FoundRegister, lang: str, *, asks: bool) -> Iterator[str]:
    rules, of_cases = register.rules, register.rules.of_cases
    if rules.database == ASK:
        yield as_comment(comment(lang, "register-ask"))
        yield f'[register]\ndatabase = "{ASK}"'
        return
    counts = {"rows": register.rows, "joined": register.joined}
    left_over = {"rows_left": len(register.rows_left), "places_left": len(register.places_left)}
    yield as_comment(comment(lang, "register-cases" if of_cases else "register-documents", **counts, **left_over))
    if not register.is_whole:
        yield as_comment(comment(lang, "register-part", rows=register.rows))
    yield "[register]"
    yield f"{'database' if rules.database else 'file'} = {basic_string(rules.place)}"
    if rules.sheet:
        yield f"sheet = {basic_string(rules.sheet)}"
    yield f'is_of = "{rules.is_of}"'
    yield f'joins = {{ {basic_string(rules.column)} = "{rules.joins}" }}'
    if of_cases:
        yield as_comment(comment(lang, "register-no-folder", **left_over))
        yield from _first_named(register.rows_left, lang)
        yield f'no_folder = "{"ask" if asks and left_over["rows_left"] else "report"}"'
        yield as_comment(comment(lang, "register-no-row", **left_over))
        yield from _first_named(register.places_left, lang)
        yield f'no_row = "{"ask" if asks and left_over["places_left"] else "report"}"'
    yield "[register.columns]"
    yield from (f"{name} = {basic_string(column)}" for name, column in rules.columns.items())
    if register.codes:
        yield ""
        yield as_comment(comment(lang, "register-screening"))
        yield as_comment(comment(lang, "screening-codes", codes=", ".join(USUAL_SCREENING)))
        yield "[codes.skjerming]"
        yield from (
            f"{'' if code else '# '}{basic_string(word)} = {basic_string(code)}"
            for word, code in register.codes.items()
        )


def _first_named(names: Sequence[str], lang: str) -> Iterator[str]:
    """The first of what is doubtful by name, so that whoever is asked can look at it."""
    if names:
        yield as_comment(comment(lang, "named-first", **first_names(names)))


def folder_lines(register: FoundRegister) -> tuple[str, ...]:
    """The fields of a case file that its row tells."""
    return tuple(line for name, line in _OF_CASES.items() if name in register.rules.columns)


def with_party(text: str, register: FoundRegister) -> str:
    """The rule of case files, at the end of a recipe, with the party that a row names."""
    return f"{text.rstrip()}\n{_PARTY}" if "part" in register.rules.columns else text


def with_case_rule(text: str, lang: str) -> str:
    """The recipe with a rule for cases that have a row and no folder, as the last rule has its case files."""
    rule = text[text.rindex("[[map.parents]]") :]
    lines = [line for line in rule.splitlines() if not line.startswith("key = ")]
    rule = "\n".join(lines).replace("map.parents", "map").replace("[[map]]", '[[map]]\nfor = "case"', 1)
    rule = rule.replace("[map.fields]", '[map.fields]\nopprettetDato = "= record.date"', 1)
    return f"{text.rstrip()}\n\n{as_comment(comment(lang, 'register-case'))}\n{rule}\n"


def with_documents(text: str, register: FoundRegister) -> str:
    """The rule of files with what the row of a document says."""
    names, fields = register.rules.columns, '[map.fields]\ntittel = "= '
    at = text.index(fields, text.index('[[map]]\nfor = ["file", "mail"]'))
    before, rule = text[:at], text[at:]
    if "tittel" in names:
        title, _, other_fields = rule.removeprefix(fields).partition('"\n')
        rule = f'{fields}record.register.tittel | default({title})"\n{other_fields}'
    return before + (
        rule.replace("[map.fields]\n", f"[map.fields]\n{_SCREENED}\n", 1) if "skjerming" in names else rule
    )
