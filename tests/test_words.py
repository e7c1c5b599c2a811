"""Every fault, reason and sentence stands in both languages, with the same fields, and is shown safely."""

from __future__ import annotations

import ast
import errno
import re
from collections.abc import Iterator

import pytest

from noarkit import errors
from noarkit.errors import ArchiveRefused, ConfigFault, NoarkitError, Paused, RecipeFault, UnsafePath
from noarkit.loading.numbers import RecordOutcome
from noarkit.recipes import RecipeProblem
from noarkit.reports.lists import reason_of
from noarkit.words.texts import LANGUAGES, PARTS, Texts, explain, fields, plain, render, texts
from tests.package_code import MODULES, PACKAGE, nodes_of


def fault_classes() -> list[type[NoarkitError]]:
    """The whole tree."""
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NoarkitError)]


def leaves(table: object, above: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every sentence of a language by its whole key."""
    if isinstance(table, str):
        yield above, (table,)
    elif isinstance(table, list):
        yield above, tuple(str(form) for form in table)
    else:
        for name, entry in dict(table).items():  # type: ignore[call-overload]  # a table of tables
            yield from leaves(entry, f"{above}.{name}")


def test_the_tree_is_drawn_as_it_is_coded() -> None:
    drawn = errors.__doc__ or ""
    for kind in fault_classes():
        assert f"{kind.__name__} " in drawn, kind
        assert f" {kind.code} " in drawn, kind
    assert len({kind.code for kind in fault_classes()}) == len(fault_classes())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", fault_classes())
def test_every_fault_says_what_where_so_what_and_what_to_do(kind: type[NoarkitError], lang: str) -> None:
    lines = render(kind(), lang)
    assert len(lines) == 4
    assert lines[0].startswith(f"{kind.code}  ")
    assert all(line.strip() and "…" not in line and "{" not in line for line in lines)
    assert explain(kind.code, lang) == [lines[0].removeprefix(f"{kind.code}  "), *lines[1:]]


def test_nothing_is_written_for_a_fault_there_is_not() -> None:
    codes = {kind.code for kind in fault_classes()}
    for lang in LANGUAGES:
        assert set(texts(lang).tables["faults"]) == codes
    assert explain("F999", "en") is None


def test_both_languages_have_the_same_sentences_with_the_same_fields() -> None:
    english = dict(leaves(texts("en").tables))
    norwegian = dict(leaves(texts("nb").tables))
    assert english.keys() == norwegian.keys()
    for key, forms in english.items():
        if not key.startswith((".commands", ".topics", ".options")):
            assert [fields(form) for form in forms] == [fields(form) for form in norwegian[key]], key


def test_no_sentence_is_left_in_the_other_language() -> None:
    english = dict(leaves(texts("en").tables))
    same = [
        key
        for key, forms in leaves(texts("nb").tables)
        if forms == english[key] and len(forms[0].split()) > 5 and not key.endswith(".examples")
    ]
    assert same == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_last_form_of_each_part_of_a_fault_needs_nothing(lang: str) -> None:
    told = texts(lang)
    assert len(told.tables["faults"]) > 70
    for code in told.tables["faults"]:
        for part in PARTS:
            assert fields(told.forms("faults", code, part)[-1]) == set(), (code, part)


def words_given_as_reasons() -> set[str]:
    """Every literal `why="…"` of the package that looks like a word of the reasons, not like prose of its own."""
    found = set()
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                given = [keyword.value for keyword in node.keywords if keyword.arg in ("why", "what")]
                if isinstance(node.func, ast.Name) and node.func.id in ("Broken", "strange"):
                    given += node.args[1:2]
                found |= {str(each.value) for each in given if isinstance(each, ast.Constant)}
    return {word for word in found if word and " " not in word and word.islower()}


def test_every_reason_the_code_gives_has_its_words() -> None:
    given = words_given_as_reasons()
    assert len(given) > 40
    assert given - texts("en").tables["reasons"].keys() == set()


def reasons_to_skip() -> set[str]:
    """Every reason for which something of a source is skipped: constants `SKIPPED_…`, and the rules of our recipes."""
    found = set()
    for path in MODULES:
        for node in nodes_of(path):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and node.targets[0].id.startswith("SKIPPED_")
            ):
                found.add(ast.literal_eval(node.value))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Skipped":
                found |= {str(each.value) for each in node.args[1:] if isinstance(each, ast.Constant)}
    for path in PACKAGE.rglob("*recipe.toml"):
        found |= set(re.findall(r'^reason = "(.+)"$', path.read_text("utf-8"), re.M))
    return found


def test_every_reason_to_skip_is_told_in_both_languages() -> None:
    reasons = reasons_to_skip()
    assert len(reasons) > 15
    for lang in LANGUAGES:
        assert reasons - texts(lang).tables["reasons"].keys() == set(), lang
    assert [reason for reason in reasons if texts("nb").reason(reason) == texts("en").reason(reason)] == []


def test_a_fault_is_told_with_its_data() -> None:
    fault = ArchiveRefused(
        call="transaction", host="a.example.org", status=400, description="no tittel", field="tittel"
    )
    assert render(fault, "en")[:2] == [
        "F310  The archive refused it: no tittel (field tittel).",
        "transaction at a.example.org",
    ]
    assert render(fault, "nb")[1] == "transaction hos a.example.org"


def test_a_reason_is_told_in_the_language() -> None:
    fault = ConfigFault(where="noarkit.toml:3", why="unknown-key", key="zoen", proposal="zone")
    assert render(fault, "nb") == [
        "F110  Innstillingene kan ikke brukes: innstillingen finnes ikke.",
        "noarkit.toml:3 (zoen)",
        "Ingenting ble gjort.",
        "Mente du zone? Deretter: noarkit config check",
    ]


def test_a_reason_nobody_wrote_is_told_as_it_is() -> None:
    assert "half past nine" in render(ConfigFault(where="x", why="half past nine"), "en")[0]


def test_a_paused_run_names_its_signal() -> None:
    assert render(Paused(signal="SIGTERM"), "en")[0] == "F407  Paused: SIGTERM."


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb", "a\\u000ab"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("bl\udce5", "bl%E5"),
        ("exe\u202efdp.", "exe\\u202efdp."),
        ("blåbær – «ja»", "blåbær – «ja»"),
    ],
)
def test_what_comes_from_outside_cannot_command_a_terminal(value: str, shown: str) -> None:
    assert plain(value) == shown
    assert shown in render(UnsafePath(where=value, why="climbs"), "en")[1]


def test_braces_in_data_are_data() -> None:
    assert render(UnsafePath(where="{why} {0.__class__}"), "en")[1] == "{why} {0.__class__}"


def test_large_numbers_are_grouped_and_small_ones_are_not() -> None:
    told = Texts("en", {"say": {"n": "{count}"}, "reasons": {}})
    assert [told.say("n", count=n) for n in (400, 1204331)] == ["400", "1\u00a0204\u00a0331"]


def test_a_sentence_nobody_wrote_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError, match=r"words/en\*\.toml, which has no say\.no such key"):
        texts("en").say("no such key")
    with pytest.raises(KeyError):
        texts("sv")


_PLURALS = {
    "en": "files records documents items copies columns values objects requests changes rows days parts chunks errors"
    " runs flaws hits times",
    "nb": "filer poster dokumenter enheter kopier kolonner verdier objekter endringer rader dager deler bunker"
    " kjøringer ganger",
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_number_stands_before_a_bare_plural(lang: str) -> None:
    """One is no plural: the word is chosen by the number, as in `{count} {count:file|files}`, or has two sentences."""
    say = {
        key: forms for key, forms in leaves(texts(lang).tables) if key.startswith((".say", ".viewers_notes", ".faults"))
    }
    bare = re.compile(
        r"\{(?!minutes|hours|archive_size)\w+\} (?:more |local |lokale )?(?:"
        + _PLURALS[lang].replace(" ", "|")
        + r")\b"
    )
    found = {
        key: form
        for key, forms in say.items()
        for form in forms
        if not key.endswith((".many", "more-than")) and bare.search(form)
    }
    assert found == {}


def test_a_word_is_chosen_by_its_number_however_that_is_written() -> None:
    say = texts("en").say
    assert say("end.records", count=1) == "1 record"
    assert [say("end.records", count=count).split()[-1] for count in (0, 2, 21, 10_000)] == ["records"] * 4
    assert say("cluster.worker", scheduler="s", slots=1).startswith("At the scheduler s, ready for 1 part at")
    assert say("derive.state.made", count=1) == "has a copy that passed every check"
    assert texts("nb").say("scan.table", table="t", count="1") == "t: 1 rad"


def test_a_recipe_fault_takes_its_reason_from_the_sentences_of_recipes() -> None:
    fault = RecipeFault(key="a.txt", why="no-map", what="file", line=0)
    assert "No map in the recipe fits a record of the kind file." in render(fault, "en")[0]
    outcome = RecordOutcome("a.txt", "set_aside", "F220", {"why": "no-map", "what": "file"}, None, None)
    assert reason_of(outcome, texts("en")) == "No map in the recipe fits a record of the kind file"
    wrong = RecipeProblem(3, "unknown-field", {"type": "Mappe", "field": "titel", "near": "tittel"})
    assert texts("en").problem(wrong.key, wrong.data) == (
        "Mappe has no field titel. Did you mean tittel? See noarkit help tittel."
    )


def _strings_of_the_house() -> tuple[set[str], list[re.Pattern[str]]]:
    """Every text that stands in code, templates and tables, and patterns of those that are put together."""
    literals: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
                literals.update(re.findall(r"[\w.-]+", node.value) if " " in node.value else ())
            elif isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else None for part in node.values]
                if any(part is not None and len(part.strip(".")) > 1 for part in parts):
                    pattern = "".join(".+" if part is None else re.escape(part) for part in parts)
                    patterns.append(re.compile(pattern))
    for path in [*PACKAGE.rglob("*.html"), *PACKAGE.rglob("*.js"), *PACKAGE.rglob("*.jinja")]:
        text = path.read_text("utf-8")
        literals.update(re.findall(r"[\w.-]+", text))
        patterns += [re.compile(re.escape(head) + ".+") for head in re.findall(r"[\"']([\w.-]+[.-])[\"'] ?[~+]", text)]
    for path in PACKAGE.rglob("*.toml"):
        if "words" not in path.parts:
            text = path.read_text("utf-8")
            literals.update(re.findall(r"[\w.-]+", text), re.findall(r"^reason = \"(.+)\"$", text, re.MULTILINE))
    return literals, patterns


def test_every_sentence_is_used_somewhere() -> None:
    literals, patterns = _strings_of_the_house()
    literals = {*literals, *reasons_to_skip()}  # recipes that ship with the house have reasons of their own
    # the reading room says `chain.once` and means `browse.chain.once`: a page names what is behind its own first word
    unused = [
        f"{table}.{key}"
        for table in ("say", "reasons", "recipe")
        for key in texts("en").tables[table]
        if not any(
            name in literals or any(pattern.fullmatch(name) for pattern in patterns)
            for name in (key, *(key.split(".", cut)[-1] for cut in range(1, key.count(".") + 1)))
        )
        and not hasattr(errno, key)
    ]
    assert unused == []


def test_every_sentence_that_code_says_is_written() -> None:
    missing = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.args[0].value}"
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and "standin" not in path.parts
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("say", "notify")
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        and not any(f"{above}{node.args[0].value}" in texts("en").tables["say"] for above in ("", "browse."))
    ]
    assert missing == []
