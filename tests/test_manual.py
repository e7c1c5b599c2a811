"""The chapters of the manual speak of what there is, say the same in both languages, and their examples run."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from lxml import etree

from noarkit.cli.help import chapter_help, code_lists, fault_kinds
from noarkit.cli.main import COMMANDS, PROGRAM, main
from noarkit.cli.noark_help import noark_names
from noarkit.cli.options import global_options
from noarkit.config import SETTINGS
from noarkit.copies.policy import read_policy
from noarkit.errors import GRAVITY
from noarkit.manual.chapters import CHAPTERS, POINTERS, chapter_source, find_chapter, read_chapter
from noarkit.manual.markdown import Code, Heading, Items, Listing, Paragraph, anchor, parse, plain_text
from noarkit.recipes import check, read_recipe
from noarkit.recipes.filters import filters_and_tests
from noarkit.recipes.recipe_model import Recipe
from noarkit.recipes.values import Formats
from noarkit.service_names import BUILT_IN
from noarkit.services.commands import OWN_VERBS
from noarkit.services.registry import find_kind
from noarkit.services.settings import LINE_KEYS
from noarkit.sources.files.policy import FilePolicy
from noarkit.words.texts import LANGUAGES, texts
from scripts.manual_site.__main__ import write_site
from scripts.manual_site.html import html_text
from scripts.manual_site.pages import index_script
from tests.manual_walk import follow
from tests.test_documentation import ENVIRONMENT, ROOT, all_commands, all_options, options_in, options_of_scripts

SERVICES = {name: find_kind(name).setting_keys for name in BUILT_IN}
MANUAL = ROOT / "noarkit" / "manual"
BOTH = [pytest.param(name, lang, id=f"{lang}-{name}") for name in CHAPTERS for lang in LANGUAGES]
RUNNABLE = [name for name in CHAPTERS if "```sh\n" in chapter_source(name, "en")]
MOST_WORDS = 40
STUMBLED = {
    "en": r"\b(?:depots? takes?|goes? on where|where you stand|also (?:while|if|where|after)|[Ee]mbedded archive|"
    r"stand-in|journal posts?|is named|are named|told|bears?|hangs below|no PDF/A)\b",
    "nb": r"\b(?:der du står|dommer|betrodd|opsjon|innsynslogg|arkivversjon|bagger|sluttkode|legges til side|"
    r"stedfortreder\w*|porsjon\w*|bunker?|innebygde? arkiv|hver dybde|felter|sjekkes?)\b",
}
"""Calques and words with another meaning, that readers of the first manual asked about."""
HEAD = """
[source]
kind = "{kind}"
[target]
external_system = "x"
model = 3
arkivskaper = {{ fields = {{ arkivskaperIdent = "1", arkivskaperNavn = "A" }} }}
arkiv = {{ fields = {{ tittel = "A" }} }}
arkivdel = {{ fields = {{ tittel = "A" }} }}
classification = {{ name = "k", fields = {{ tittel = "K" }}, default_class = {{ ident = "0", title = "0" }} }}
"""
PARENTS = '[[map.parents]]\nkey = "x"\ntype = "Saksmappe"\nfields = { tittel = "x", administrativEnhet = "x" }\n'


def code(name: str, lang: str, language: str | None = None) -> list[Code]:
    """The code blocks of a chapter."""
    blocks = [block for block in parse(chapter_source(name, lang)) if isinstance(block, Code)]
    return [block for block in blocks if language is None or block.language == language]


def commands_of(block: Code) -> list[list[str]]:
    """The words of each line, without comments."""
    lines = "\n".join(block.lines).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def named_commands(name: str, lang: str) -> Iterator[str]:
    """Every `noarkit WORD` in the code of a chapter, in blocks and in lines of text."""
    blocks = "\n".join(line for block in code(name, lang) for line in block.lines)
    for begin, text in ((r"^|&& |bin/", blocks), ("`", chapter_source(name, lang))):
        for found in re.finditer(rf"(?:{begin}){PROGRAM} (?:--[a-z-]+ \S+ )*([a-z][a-z-]*)", text, re.M):
            yield found[1]


def test_every_chapter_is_there_in_both_languages_and_no_other() -> None:
    for lang in LANGUAGES:
        assert sorted(path.stem for path in (MANUAL / lang).iterdir()) == sorted(CHAPTERS)
    assert not {*CHAPTERS, *POINTERS} & {*COMMANDS} - {"commands"}, "a chapter must not hide behind a command"
    assert not set(CHAPTERS) & set(POINTERS)


def test_the_topics_of_earlier_versions_still_answer() -> None:
    earlier = {"settings", "secrets", "exit-codes", "faults", "rehearsal", "clients", "scheduling", "json"}
    for topic in earlier | {"recipes", "verification"}:
        assert find_chapter(topic) in CHAPTERS
        assert main(["help", topic], ENVIRONMENT) == 0


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_a_chapter_names_only_what_exists(name: str, lang: str) -> None:
    text = chapter_source(name, lang)
    # the options of a queue system and of pip are their own
    lines_of_ours = "\n".join(line for line in text.splitlines() if not re.search("sbatch|^pip ", line.lower()))
    assert options_in(lines_of_ours) <= all_options() | options_of_scripts()
    assert set(named_commands(name, lang)) <= set(COMMANDS)
    assert set(re.findall(r"\bF\d{3}\b", text)) <= set(fault_kinds())
    assert set(re.findall(r"\b[WV]\d{3}\b", text)) <= set(texts(lang).tables["codes"])
    exits = re.findall(r"(?:exit code|sluttkode)n? (?:is |er )?(\d+)", text)
    assert {int(number) for number in exits} <= set(GRAVITY)
    for script in re.findall(r"scripts/[a-z-]+", text):
        assert (ROOT / script).is_file(), script
    for sample in re.findall(r"samples/[a-z-]+", text):
        assert (ROOT / sample).is_dir(), sample
    for page in re.findall(rf"`{PROGRAM} help ([A-Za-z0-9-]+)`", text):
        known = {*COMMANDS, *CHAPTERS, *fault_kinds(), *texts(lang).tables["codes"], "COMMAND", "CHAPTER", "F"}
        known |= {*noark_names(), "FIELD", "FELT", "TYPE"}
        assert page in known


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_each_option_of_a_command_line_belongs_to_that_command(name: str, lang: str) -> None:
    known = all_commands()
    everywhere = {name for option in global_options() for name in option.opts}
    for block in code(name, lang):
        for words in commands_of(block) if block.language in ("", "sh") else []:
            if words[0] == PROGRAM and len(words) > 1:
                command = next(word for word in words[1:] if word in COMMANDS)
                own = {option for param in known[command].params for option in param.opts}
                used = {word for word in words if re.match(r"--[a-z]", word)}
                assert used <= own | everywhere, words


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_a_chapter_asks_of_a_service_is_known_to_its_code(name: str) -> None:
    for block in code(name, "en", ""):
        for words in commands_of(block):
            if words[:2] != [PROGRAM, "connect"] or ":" not in words[2]:
                continue
            service = words[2].partition(":")[0]
            assert service in SERVICES
            commands = find_kind(service).commands
            verbs = list(takewhile(lambda word: not word.startswith("-"), words[3:]))
            if verbs and verbs[0] not in OWN_VERBS:
                assert commands is not None
                commands.find(verbs, {})  # or it says which there are


@pytest.mark.parametrize("name", CHAPTERS)
def test_both_languages_have_the_same_parts(name: str) -> None:
    english, norwegian = (parse(chapter_source(name, lang)) for lang in LANGUAGES)
    assert [type(block) for block in english] == [type(block) for block in norwegian]
    levels = [[block.level for block in blocks if isinstance(block, Heading)] for blocks in (english, norwegian)]
    assert levels[0] == levels[1] and levels[0].count(1) == 1
    lists = [[block.name for block in blocks if isinstance(block, Listing)] for blocks in (english, norwegian)]
    assert lists[0] == lists[1]


@pytest.mark.parametrize("name", CHAPTERS)
def test_both_languages_have_the_same_code(name: str) -> None:
    for english, norwegian in zip(code(name, "en"), code(name, "nb"), strict=True):
        assert english.language == norwegian.language
        if english.language == "toml":
            assert _without_texts(english.lines) == _without_texts(norwegian.lines)
        elif english.language in ("", "sh", "text"):
            assert [_without_values(words) for words in commands_of(english)] == [
                _without_values(words) for words in commands_of(norwegian)
            ]
        else:
            assert _without_remarks(english.lines) == _without_remarks(norwegian.lines)


def _without_texts(lines: tuple[str, ...]) -> dict[str, object]:
    """A table of TOML without what only people read, which is in the language of the chapter."""
    return tomllib.loads("\n".join(line for line in lines if not re.match(r"(reason|secret) = ", line)))


def _without_values(words: list[str]) -> list[str]:
    """A command without what a person writes for people, which is in the language of the chapter."""
    told = {at + 1 for at, word in enumerate(words) if word in ("--note", "--because", "--set", "echo")}
    return [word for at, word in enumerate(words) if at not in told]


def _without_remarks(lines: tuple[str, ...]) -> list[str]:
    """Lines of a program without the remarks at their ends."""
    return [line.partition("  # ")[0] for line in lines]


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_links_lead_to_chapters_and_headings_that_are_there(name: str, lang: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", chapter_source(name, lang), flags=re.S)):
        page, _, place = target.partition("#")
        assert page.removesuffix(".md") in CHAPTERS, target
        headings = [
            block for block in parse(chapter_source(page.removesuffix(".md"), lang)) if isinstance(block, Heading)
        ]
        assert not place or place in [anchor(plain_text(heading.text)) for heading in headings]


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_a_terminal_shows_no_marks_of_markdown(name: str, lang: str) -> None:
    told = texts(lang)
    shown = chapter_help(name, told)
    prose = "\n".join(line for line in shown.splitlines() if not line.startswith(" " * 6))
    assert not re.search(r"`|\*\*\w|\]\(|^#|\|---|<!--", prose, re.M)
    assert max(len(line) for line in shown.splitlines() if not line.startswith(" " * 6)) <= 100
    assert not [block for block in read_chapter(name, lang, code_lists(told)) if isinstance(block, Listing)]


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_a_chapter_begins_with_what_it_is_about(name: str, lang: str) -> None:
    """In one or two short sentences, which name the subject and not the reader's progress."""
    first = parse(chapter_source(name, lang))[1]
    assert isinstance(first, Paragraph)
    text = plain_text(first.text)
    assert not text.startswith(("After this chapter", "Etter dette kapitlet"))
    assert len(text.split()) <= 50, text


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_no_sentence_of_a_chapter_must_be_read_twice(name: str, lang: str) -> None:
    """A long sentence is two; the chapters for developers may have one, and none has many."""
    long = [sentence for sentence in _sentences(name, lang) if len(sentence.split()) > MOST_WORDS]
    assert long == []


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_a_chapter_has_none_of_the_words_that_readers_stumbled_over(name: str, lang: str) -> None:
    text = " ".join(_sentences(name, lang))
    assert re.findall(STUMBLED[lang], text) == []


def _sentences(name: str, lang: str) -> Iterator[str]:
    """The sentences of the paragraphs and lists of a chapter; a colon before a list in code ends one, too."""
    for block in parse(chapter_source(name, lang)):
        for text in [block.text] if isinstance(block, Paragraph) else block.items if isinstance(block, Items) else []:
            yield from re.split(r"(?<=[.!?:;]) +(?=[A-ZÆØÅ`«\"(a-zæøå])", plain_text(text))


@pytest.mark.usefixtures("one_archive")
@pytest.mark.parametrize("name", RUNNABLE)
def test_the_examples_of_a_chapter_run_as_they_stand(name: str, tmp_path: Path) -> None:
    blocks = code(name, "en", "sh")
    assert blocks
    for block in blocks:
        follow("\n".join(block.lines), tmp_path)


@pytest.mark.parametrize(("name", "lang"), BOTH)
def test_what_a_chapter_writes_in_toml_is_understood(name: str, lang: str, tmp_path: Path) -> None:
    for block in code(name, lang, "toml"):
        text = "\n".join(block.lines)
        data = tomllib.loads(text)
        if {"source", "map", "formats", "dates", "register"} & data.keys():
            assert [problem for problem in _recipe(data, text).problems if not problem.warning] == []
        elif {"archive", "connections", "operations"} & data.keys():
            _judge_config(data)
        elif "policy" in data:
            (tmp_path / "policy.toml").write_text(text, "utf-8")
            assert read_policy(tmp_path / "policy.toml").name == data["policy"]["name"]
        else:
            assert data.keys() <= {"clients", "project"}, text


def _recipe(data: dict[str, object], text: str) -> Recipe:
    """A whole recipe as it stands; a part of one with what it lacks."""
    source = data.get("source")
    kind = source["kind"] if isinstance(source, dict) else "files"
    if "target" not in data:
        text = (
            HEAD.format(kind=kind).replace(
                f'[source]\nkind = "{kind}"\n', "" if source else '[source]\nkind = "files"\n'
            )
            + text
        )
        text += "\n" + PARENTS if "map" in data else f'\n[[map]]\ntype = "Basisregistrering"\n{PARENTS}'
    recipe = read_recipe(text)
    assert check(recipe) == []
    return recipe


def _judge_config(data: dict[str, object]) -> None:
    known = {setting.key for setting in SETTINGS}
    connections = data.pop("connections", {})
    profiles = data.pop("profiles", {})
    assert isinstance(connections, dict) and isinstance(profiles, dict)
    for values in (data, *profiles.values()):
        assert set(_leaves(values)) <= known
    for service, named in connections.items():
        if service in SERVICES:
            for values in named.values():
                assert values.keys() <= SERVICES[service] | LINE_KEYS
        else:
            assert named.keys() <= {"url", "password"}


def _leaves(table: dict[str, object], above: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict) and above + name not in {setting.key for setting in SETTINGS}:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield above + name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_recipe_reference_names_every_key_filter_and_test(lang: str) -> None:
    prose = re.sub(r"```.*?```", "", chapter_source("recipes", lang), flags=re.S)
    words = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", prose))))
    filters, tests = filters_and_tests(Formats(), {})
    assert filters.keys() <= words
    assert tests.keys() <= words
    reader = (ROOT / "noarkit" / "recipes" / "read.py").read_text("utf-8")
    keys = {
        word
        for call in re.findall(r"\.check_keys\((.*?)\)\n", reader, re.S)
        for word in re.findall(r'"([a-z_]+)"', call)
    }
    assert len(keys) > 50
    assert keys <= words | {"name"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_names_every_way_to_read_files(lang: str) -> None:
    text = chapter_source("files", lang) + chapter_source("mail", lang)
    of_dates = {f"dates_{name}" for name in ("from", "period", "copied")}  # a section of their own
    names = [name for name in FilePolicy.__dataclass_fields__ if name not in of_dates]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_the_site_holds_every_chapter_escapes_all_and_refers_to_nothing_outside(tmp_path: Path) -> None:
    write_site(tmp_path)
    pages = sorted(path for path in tmp_path.rglob("*.html"))
    assert len(pages) == 1 + len(LANGUAGES) * len(CHAPTERS)
    for page in pages:
        text = page.read_text("utf-8")
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            target, _, place = address.partition("#")
            found = (page.parent / target) if target else page
            assert found.is_file(), f"{page}: {address}"
            assert not place or f'id="{place}"' in found.read_text("utf-8"), f"{page}: {address}"
        etree.fromstring(text.replace("<!DOCTYPE html>", ""), etree.HTMLParser(recover=False))
    assert "https:" not in (tmp_path / "manual.css").read_text("utf-8") + (tmp_path / "search.js").read_text("utf-8")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_index_of_the_site_finds_every_heading(lang: str, tmp_path: Path) -> None:
    write_site(tmp_path)
    script = (tmp_path / lang / "index.js").read_text("utf-8")
    entries = json.loads(script.removeprefix("window.manualIndex = ").rstrip(";\n"))
    headings = [
        f"{name}.html#{anchor(plain_text(block.text))}"
        for name in CHAPTERS
        for block in parse(chapter_source(name, lang))
        if isinstance(block, Heading)
    ]
    assert [entry["page"] for entry in entries] == headings
    assert any("F301" in entry["text"] for entry in entries)


def test_the_index_cannot_end_its_script_early() -> None:
    script = index_script([{"text": "</script><b>"}])
    assert "</" not in script
    assert json.loads(script.removeprefix("window.manualIndex = ").rstrip(";\n")) == [{"text": "</script><b>"}]


def test_the_html_writer_escapes_whatever_a_text_holds() -> None:
    text = '# <b>\n\n<script>alert("x")</script> & `<i>` **<u>** [<s>](a.md#"x") [out](https://e.example/?"<)\n\n'
    text += "```\n</pre><script>\n```\n\n- <li>\n\n| <td> |\n| --- |\n| <x> |\n"
    made = html_text(parse(text))
    assert re.findall(r"<(\w+)", made) == [
        *["h1", "p", "code", "strong", "a", "pre", "code", "ul", "li", "div", "table", "thead", "tr", "th"],
        *["tbody", "tr", "td"],
    ]
    assert 'href="https' not in made and '"x"' not in made
