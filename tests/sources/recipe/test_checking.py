"""Every fault of a recipe is told at once, each with its line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from noarkit.recipes import check, fits, read_recipe
from noarkit.words.texts import fields, texts
from tests.package_code import PACKAGE, nodes_of
from tests.sources.recipe.recipes import HEAD, problems, record, told

MAP = HEAD + "[[map]]\n"


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        ("", (1, "missing-key")),
        (HEAD + 'zone = "Europe/Olso"\n', (3, "unknown-zone")),
        (HEAD + "model = 5\n", (3, "unknown-choice")),
        (HEAD + "close = 1\n", (3, "wrong-kind")),
        (HEAD + "modle = 1\n", (3, "unknown-key")),
        (HEAD + '[target.arkiv]\nmode = "fnd"\n', (4, "unknown-choice")),
        (HEAD + '[target.arkiv]\nfields = { titel = "x" }\n', (4, "unknown-field")),
        (HEAD + '[target.arkiv]\nfields = { tittel = "= key" }\n', (4, "constant-wanted")),
        (HEAD + '[target.arkiv]\nfields = { tittel = "x", arkivstatus = "Q" }\n', (4, "unknown-code")),
        (HEAD + "[[target.arkivdel]]\n[[target.arkivdel]]\n", (4, "duplicate-target")),
        (HEAD + "[[target.classification]]\n[[target.classification]]\n", (4, "duplicate-target")),
        (HEAD + '[target.classification]\nname = "e"\nmode = "find"\nclasses = [{}]\n', (6, "missing-key")),
        (
            HEAD + '[target.classification]\nname = "emne"\n[[map]]\nclass = { in = "emner", ident = "1" }\n',
            (6, "unknown-classification"),
        ),
        (
            HEAD + '[[target.classification]]\nname = "a"\narkivdel = "q"\nfields = { tittel = "A" }\n',
            (3, "unknown-arkivdel"),
        ),
        (
            HEAD + '[[target.classification]]\nname = "a"\n[[target.classification]]\nname = "b"\nrole = "primary"\n',
            (5, "second-primary-classification"),
        ),
        (HEAD + '[personal_data]\nidentity_numbers = "screen"\n', (4, "missing-key")),
        (HEAD + '[personal_data]\nidentity_numbers = "hide"\n', (4, "unknown-choice")),
        (HEAD + '[formats]\ndates = ["%d", "%Q"]\n', (4, "date-form")),
        (HEAD + '[formats]\nlocale = "de"\n', (4, "unknown-choice")),
        (HEAD + "[formats]\nlongest = 0\n", (4, "wrong-kind")),
        (HEAD + "[[skip]]\nwhen = true\n", (3, "missing-key")),
        (HEAD + '[[skip]]\nwhen = "record.x"\nreason = "r"\n', (4, "condition-not-expression")),
        (HEAD + '[defaults.Saksmape]\na = "b"\n', (4, "unknown-type")),
        (HEAD + "map = 1\n[mapp]\n", (4, "unknown-key")),
        ("map = 1\n" + HEAD, (1, "wrong-kind")),
        ("map = [1]\n" + HEAD, (1, "wrong-kind")),
        (MAP + 'type = "Journalpst"\n', (3, "unknown-type")),
        (MAP + 'type = "AbstraktMappe"\n', (3, "unknown-type")),
        (MAP + 'type = "Sakspart"\n', (3, "needs-parent")),
        (MAP + 'tittel = "x"\n', (4, "field-outside-fields")),
        (MAP + "for = 1\n", (4, "wrong-kind")),
        (MAP + 'arkivdel = "other"\n', (4, "unknown-arkivdel")),
        (MAP + 'class = "1"\n', (4, "no-classification")),
        (MAP + 'secondary_classes = [{ ident = "1" }]\n', (4, "no-classification")),
        (MAP + "secondary_classes = [{}]\n", (4, "missing-key")),
        (MAP + 'parent = "= record.p"\n', (4, "parent-type-unclear")),
        (MAP + 'parent = "= record.p"\nparents = [{ key = "k" }]\n', (4, "parent-and-parents")),
        (MAP + "parents = [{}]\n", (4, "missing-key")),
        (MAP + 'parents = [{ key = "k", type = "Journalpost" }]\n', (4, "not-a-folder")),
        (
            MAP + 'parents = [{ key = "k", type = "Moetemappe" }, { key = "l", type = "Mappe" }]\n',
            (4, "cannot-hang-under"),
        ),
        (MAP + 'type = "Moeteregistrering"\nparents = [{ key = "k" }]\n', (3, "cannot-hang-under")),
        (MAP + 'type = "Mappe"\ndocuments = [{}]\n', (5, "cannot-hang-under")),
        (MAP + 'type = "Saksmappe"\n', (3, "mandatory-without-value")),
        (MAP + 'type = "Saksmappe"\n', (3, "mandatory-class")),
        (MAP + 'type = "Moetemappe"\n', (3, "mandatory-part")),
        (MAP + 'fields = { titel = "x" }\n', (4, "unknown-field")),
        (MAP + 'fields = { title = "x" }\n', (4, "unknown-field")),
        (MAP + 'fields = { refMappe = "x" }\n', (4, "link-as-field")),
        (MAP + 'fields = { id = "1" }\n', (4, "field-not-writable")),
        (MAP + 'fields = { dokumentetsDato = "soon" }\n', (4, "constant-wrong-kind")),
        (MAP + "fields = { tittel = [1] }\n", (4, "constant-wrong-kind")),
        (MAP + 'fields = { bevaringstid = "ten" }\n', (4, "constant-wrong-kind")),
        (MAP + 'fields = { publiseringsstatus = "x" }\n', (4, "unknown-code")),
        (MAP + 'fields = { dokumentmedium = "X" }\n', (4, "unknown-code")),
        (MAP + 'fields = { tittel = "a\\u0001" }\n', (4, "forbidden-sign")),
        (MAP + 'fields = { tittel = "record.title" }\n', (4, "looks-like-expression")),
        (MAP + 'fields = { tittel = "=record.title" }\n', (4, "looks-like-expression")),
        (MAP + 'fields = { tittel = "= record.title |" }\n', (4, "expression-syntax")),
        (MAP + 'fields = { tittel = "= titel" }\n', (4, "unknown-name")),
        (MAP + 'fields = { tittel = "= item" }\n', (4, "unknown-name")),
        (MAP + "fields = { tittel = \"= record.a | code('x')\" }\n", (4, "unknown-code-table")),
        (MAP + 'fields = { tittel = "= record.a | code" }\n', (4, "code-table-unnamed")),
        (MAP + "fields = { tittel = \"= record.a | date('%Q')\" }\n", (4, "date-form")),
        (MAP + "fields = { tittel = \"= record.a | match('(a+)+')\" }\n", (4, "pattern-repeats-what-varies")),
        (MAP + 'parties = [{ type = "Sakspart" }]\n', (4, "cannot-hang-under")),
        (MAP + 'parties = [{ fields = { korrespondansepartNavn = "x" } }]\n', (4, "mandatory-without-value")),
        (MAP + 'participants = [{ fields = { navn = "x" } }]\n', (4, "cannot-hang-under")),
        (MAP + "identifiers = [{}]\n", (4, "missing-key")),
        (MAP + 'identifiers = [{ type = "Eindom" }]\n', (4, "unknown-type")),
        (MAP + 'sign_offs = [{ fields = { avskrivningsmaate = "BE" } }]\n', (4, "cannot-hang-under")),
        (MAP + "cross_references = [{}]\n", (4, "missing-key")),
        (MAP + 'cross_references = [{ to = "Arkiv", key = "k" }]\n', (4, "unknown-choice")),
        (MAP + 'documents = [{ class = "1" }]\n', (4, "unknown-key")),
        (MAP + 'when = "yes"\n', (4, "condition-not-expression")),
        (MAP + "[[map]]\n", (4, "unreachable-map")),
        (MAP + 'for = "a"\n[[map]]\nfor = "a"\nwhen = "= true"\n', (5, "unreachable-map")),
        (MAP + "when = false\n", (3, "unreachable-map")),
        (HEAD + '[[skip]]\nreason = "all"\n[[map]]\n', (5, "unreachable-map")),
    ],
)
def test_a_fault_is_told_with_its_line(recipe: str, problem: tuple[int, str]) -> None:
    assert problem in problems(recipe)


def test_a_recipe_without_faults_has_no_problems() -> None:
    assert problems(HEAD) == []
    assert problems(HEAD + "model = 2\n", record(top="a")) == []


def test_all_faults_are_told_at_once_by_line() -> None:
    recipe = MAP + 'type = "Jornalpost"\nfields = { titel = "= recrd.x" }\n[[map]]\nclas = "1"\n'
    assert problems(recipe) == [(3, "unknown-type"), (5, "unknown-field"), (6, "unreachable-map"), (7, "unknown-key")]


def test_near_misses_are_proposed() -> None:
    found = told(MAP + 'keyy = "x"\nfields = { titel = "x", forfater = "y" }\n')
    assert [(one.data["near"]) for one in found] == ["key", "tittel", "forfatter"]
    (english,) = told(MAP + 'fields = { title = "x" }\n')
    assert english.data["near"] == "tittel"


def test_samples_show_faults_of_the_data_once_with_the_first_record() -> None:
    recipe = MAP + 'for = "thing"\nfields = { tittel = "= record.t" }\n'
    found = told(recipe, record("a", t="x"), record("b"), record("c"))
    assert [(one.line, one.key, one.data) for one in found] == [
        (5, "missing-name", {"name": "t", "record": "b", "records": 2})
    ]
    (kind,) = told(recipe.replace('"thing"', '["thing", "thin"]'), record("a", t="x"))
    assert (kind.key, kind.data["near"], kind.warning) == ("kind-not-seen", "thing", True)


def test_codes_are_judged_by_the_archives_own_lists_where_they_are_known() -> None:
    recipe = read_recipe(MAP + 'screening = "= record.s"\nfields = { dokumentmedium = "F" }\n', "r")
    sample = [record(s="UO")]
    by_model = check(recipe, sample)
    assert [(one.line, one.key, one.warning) for one in by_model] == [
        (3, "unknown-code", True),
        (5, "unknown-code", True),
    ]
    assert check(recipe, sample, code_lists={"dokumentmedium": ["E", "F"], "skjerming": ["UO"]}) == []
    (fault,) = check(recipe, sample, code_lists={"dokumentmedium": ["E", "F"], "skjerming": ["13"]})
    assert (fault.key, fault.warning, fault.data["code"]) == ("unknown-code", False, "UO")


def test_a_recipe_says_which_sources_it_fits() -> None:
    assert fits(read_recipe(HEAD, "r"), "files")
    assert not fits(read_recipe(HEAD + '[source]\nkind = "crm"\n', "r"), "files")


def words() -> Iterator[str]:
    """Every stable word that the package can give as the reason of a fault."""
    for path in (PACKAGE / "recipes").glob("*.py"):
        for node in nodes_of(path):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = {"problem": None, "RecipeProblem": 1, "RecipeMismatch": 1}.get(
                name, 0 if name.endswith("Refused") else -1
            )
            for index, argument in enumerate(node.args):
                for part in ast.walk(argument):
                    word = part.value if isinstance(part, ast.Constant) else None
                    if isinstance(word, str) and (place == index or (place is None and "-" in word)):
                        yield word


def test_every_fault_has_its_sentence_in_both_languages() -> None:
    given = set(words())
    assert len(given) > 60
    for lang in ("en", "nb"):
        tables = texts(lang).tables
        assert given - tables["recipe"].keys() == set()
        assert given - tables["reasons"].keys() == set()


def test_a_sentence_asks_only_for_what_the_problem_gives() -> None:
    found = told(MAP + 'type = "Jornalpost"\nfields = { titel = "= recrd.x", dokumentetsDato = "x" }\nclas = 1\n')
    assert len(found) > 3
    for problem in found:
        forms = texts("en").forms("recipe", problem.key)
        assert any(fields(form) <= problem.data.keys() for form in forms), problem
        assert "…" not in texts("nb").fill(texts("nb").forms("recipe", problem.key), problem.data)
