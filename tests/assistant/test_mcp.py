"""`noarkit mcp`, spoken to as an assistant would: over the pipes of a real process, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

from noarkit.archive.paging import objects
from noarkit.archive.query import select
from noarkit.archive.values import Page, Query, SavedObject
from noarkit.assistant import search as searching
from noarkit.cli.main import main
from noarkit.forms.validation import validate
from noarkit.server.service import Service
from tests.cli.elsewhere import PROGRAM, environment
from tests.roundtrip.circle import WholeArchive, archive_in, extract_to
from tests.roundtrip.worlds import build
from tests.waiting import PATIENCE_S

T = TypeVar("T")
CANARY = "canary-5fd1c1b2"
KINDS = ("Saksmappe", "Journalpost", "Mappe", "Basisregistrering")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records, an extract and an archive; beside it a folder that is nobody's business."""
    place = tmp_path_factory.mktemp("assistant")
    records = place / "open" / "records"
    records.mkdir(parents=True)
    for number in range(3):
        (records / f"letter {number}.txt").write_text(f"letter {number}\n")
    (place / "closed").mkdir()
    (place / "closed" / "secret.txt").write_text(CANARY)
    (place / "open" / "way-out").symlink_to(place / "closed")
    with archive_in(place / "archive") as archive:
        build(random.Random(8), archive)
        extract_to(archive, place / "open" / "package")
    shutil.make_archive(str(place / "open" / "package"), "zip", place / "open" / "package")
    secret = place / "client.secret"
    secret.write_text(CANARY)
    secret.chmod(0o600)
    (place / "noarkit.toml").write_text(
        f'[archive]\nurl = "embedded:{place / "archive"}"\nclient_id = "me"\nclient_secret = {{ file = "{secret}" }}\n'
    )
    return place


def asked(place: Path, ask: Callable[[Client], Awaitable[T]], *more: str) -> T:
    """What an assistant hears over the pipes of a process of its own."""
    line = [*PROGRAM[1:], "mcp", "--root", str(place / "open"), "--config", str(place / "noarkit.toml"), *more]
    there = StdioServerParameters(command=PROGRAM[0], args=line, env=environment(place), cwd=str(place))

    async def session() -> T:
        async with Client(stdio_client(there), read_timeout_seconds=60) as client:
            return await ask(client)

    return asyncio.run(session())


def text_of(result: CallToolResult) -> str:
    """What a tool said in words."""
    return " ".join(part.text for part in result.content if isinstance(part, TextContent))


def value_of(result: CallToolResult) -> dict[str, object]:
    """The structured answer of a tool that went well."""
    assert not result.is_error, text_of(result)
    found = result.structured_content
    assert isinstance(found, dict)
    return found


def test_an_assistant_scans_validates_and_compares_below_a_root_and_is_shown_nothing_else(place: Path) -> None:
    async def ask(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"scan", "status", "validate", "compare", "search"}
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
        scanned = value_of(await client.call_tool("scan", {"source": "records"}))
        assert scanned["records"] == 3
        found = value_of(await client.call_tool("validate", {"package": str(place / "open" / "package")}))
        assert found["form"] == "noark5"
        itself = validate(place / "open" / "package")
        assert (found["valid"], found["errors"]) == (itself.valid, itself.number("error"))
        same = value_of(await client.call_tool("compare", {"left": "package", "right": "package"}))
        assert same["equal"] is True
        there = value_of(await client.call_tool("compare", {"left": "package", "right": "archive"}))
        assert isinstance(there["left"], dict)
        assert there["left"]
        packed = value_of(await client.call_tool("compare", {"left": "package.zip", "right": "package"}))
        assert packed["equal"] is True
        for tool, given in (("validate", {"package": "records"}), ("compare", {"left": "package", "right": "records"})):
            refused = await client.call_tool(tool, given)
            assert "F500" in text_of(refused)
            assert "noarkit scan" in text_of(refused)
        for outside in (
            "../closed",
            str(place / "closed"),
            "way-out",
            "way-out/secret.txt",
            "crm:main",
            "/",
            "",
            "a" * 100_000,
        ):
            for tool, name in (("scan", "source"), ("status", "run"), ("validate", "package")):
                refused = await client.call_tool(tool, {name: outside})
                assert refused.is_error, (tool, outside)
                assert CANARY not in text_of(refused)
                assert len(text_of(refused)) < 2_000
        refused = await client.call_tool("scan", {"source": "sqlite:///" + str(place / "open" / "x.db")})
        assert "F101" in text_of(refused)
        assert (await client.call_tool("plan", {"source": "records", "run": "run"})).is_error

    asked(place, ask)
    assert not (place / "open" / "run").exists()


def test_a_plan_is_made_only_where_that_was_allowed_and_its_run_can_be_looked_at(place: Path) -> None:
    async def ask(client: Client) -> None:
        outside = await client.call_tool("plan", {"source": "records", "run": str(place / "closed" / "run")})
        assert outside.is_error
        planned = value_of(await client.call_tool("plan", {"source": "records", "run": "planned"}))
        assert isinstance(planned["records"], dict)
        assert planned["records"]["mapped"] == 3
        run = value_of(await client.call_tool("status", {"run": "planned"}))
        assert run["state"] == "planned"
        assert isinstance(run["numbers"], dict)
        assert run["numbers"]["read"] == 3
        again = await client.call_tool("plan", {"source": "records", "run": "planned"})
        assert again.is_error

    asked(place, ask, "--allow-plan")
    assert (place / "open" / "planned" / "plan.json").is_file()
    assert not (place / "closed" / "run").exists()


def test_no_title_of_what_is_screened_is_told_or_finds_anything(place: Path) -> None:
    with archive_in(place / "archive") as archive:
        for found in (archive, Deaf(archive.service)):
            told = 0
            for one, (kind, title, hidden) in titles_in(archive).items():
                by_id = searching.search(found, searching.SearchRequest(kind, id=one))["hits"]
                by_title = searching.search(found, searching.SearchRequest(kind, title=title, limit=50))["hits"]
                assert isinstance(by_id, list)
                assert isinstance(by_title, list)
                assert [hit.get("title") for hit in by_id] == [None if hidden else title]
                assert by_id[0]["screened"] is hidden
                assert (one in {hit["id"] for hit in by_title}) is not hidden
                told += not hidden
            assert told


@pytest.mark.parametrize(
    ("above", "screened"), [("open", False), ("empty", False), ("closed", True), ("graded", True), ("gone", True)]
)
def test_what_hangs_below_something_screened_or_unseen_is_screened_though_it_does_not_say_so(
    place: Path, above: Above, screened: bool
) -> None:
    with archive_in(place / "archive") as archive:
        titles = titles_in(archive)
        assert titles
        for one, (kind, _, _) in titles.items():
            hits = searching.search(Deaf(archive.service, above), searching.SearchRequest(kind, id=one))["hits"]
            assert isinstance(hits, list)
            assert [(hit["screened"], "title" in hit) for hit in hits] == [(screened, not screened)]


def test_an_assistant_searches_the_configured_archive(place: Path) -> None:
    with archive_in(place / "archive") as archive:
        held = titles_in(archive)
    hidden = {one: title for one, (kind, title, closed) in held.items() if closed and kind == "Saksmappe"}
    shown = {one: title for one, (kind, title, closed) in held.items() if not closed and kind == "Saksmappe"}
    assert hidden
    assert shown

    async def ask(client: Client) -> str:
        schema = {tool.name: tool for tool in (await client.list_tools()).tools}["search"].input_schema
        assert all("must be given" in schema["properties"][name]["description"] for name in ("title", "ident", "id"))
        heard = []
        for one in (next(iter(hidden)), next(iter(shown))):
            heard.append(value_of(await client.call_tool("search", {"type": "Saksmappe", "id": one})))
        for wrong in ({"type": "Dokument", "title": "x"}, {"type": "Saksmappe"}, {"type": "Arkiv", "ident": "1"}):
            refused = await client.call_tool("search", wrong)
            assert "F101" in text_of(refused)
        return json.dumps(heard, ensure_ascii=False)

    heard = asked(place, ask)
    assert json.dumps(next(iter(shown.values())), ensure_ascii=False) in heard
    assert json.dumps(next(iter(hidden.values())), ensure_ascii=False) not in heard
    assert CANARY not in heard


Above = Literal["", "open", "empty", "closed", "graded", "gone"]
SCREENINGS: dict[Above, dict[str, object]] = {
    "empty": {"skjerming": ""},
    "closed": {"skjerming": "P13"},
    "graded": {"gradering": "F"},
}


class Deaf(WholeArchive):
    """An archive that knows nothing of public use. Where its series is `above`, that alone says what is screened."""

    def __init__(self, service: Service, above: Above = "") -> None:
        super().__init__(service)
        self._above = above

    def query(self, query: Query) -> Page:
        page = super().query(replace(query, public_use=False))
        if not self._above:
            return page
        gone = self._above == "gone" and query.type == "Arkivdel"
        return replace(page, objects=() if gone else tuple(self._seen(one) for one in page.objects))

    def _seen(self, one: SavedObject) -> SavedObject:
        fields = {name: value for name, value in one.fields.items() if name != "skjerming"}
        of_series = SCREENINGS.get(self._above, {}) if one.type == "Arkivdel" else {}
        return replace(one, fields={**fields, **of_series})


def titles_in(archive: WholeArchive) -> dict[str, tuple[str, str, bool]]:
    """Type, title and whether it is screened, by id."""
    found = {}
    for kind in KINDS:
        shown = {one.id for one in objects(archive, public(kind)) if "tittel" in one.fields}
        for one in objects(archive, select(kind)):
            found[one.id] = (kind, str(one.fields["tittel"]), one.id not in shown)
    return found


def public(kind: str) -> Query:
    """All of a type, as the public may see them."""
    return replace(select(kind), public_use=True)


def test_over_http_a_token_is_demanded_where_one_is_set_and_other_names_are_not_answered(place: Path) -> None:
    token = place / "token.secret"
    token.write_text(CANARY)
    token.chmod(0o600)
    line = [*PROGRAM, "mcp", "--root", str(place / "open"), "--config", str(place / "noarkit.toml"), "--port", "0"]
    with subprocess.Popen(  # our own program
        [*line, "--json", "--token-file", str(token)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(place),
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert httpx.post(url, json=body, trust_env=False).status_code == 401
            wrong = {"Authorization": "Bearer wrong"}
            assert httpx.post(url, json=body, headers=wrong, trust_env=False).status_code == 401
            right = {"Authorization": f"Bearer {CANARY}", "Accept": "application/json, text/event-stream"}
            assert httpx.post(url, json=body, headers=right, trust_env=False).status_code < 401
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


def test_over_http_without_a_token_only_this_machine_is_answered(place: Path) -> None:
    line = [*PROGRAM, "mcp", "--root", str(place / "open"), "--config", str(place / "noarkit.toml"), "--port", "0"]
    with subprocess.Popen(  # our own program
        [*line, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(place), text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            foreign = httpx.post(url, json={}, headers={"Host": "elsewhere.example"}, trust_env=False)
            assert foreign.status_code in (403, 421)

            async def session() -> dict[str, object]:
                async with Client(url, read_timeout_seconds=30) as client:
                    return value_of(await client.call_tool("scan", {"source": "records"}))

            assert asyncio.run(session())["records"] == 3
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


@pytest.mark.parametrize("more", [["--port", "0", "--host", "0.0.0.0"], ["--json"]])  # noqa: S104  # it is refused
def test_what_would_be_open_to_others_or_mix_with_the_protocol_is_refused(
    place: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "--root", str(place / "open"), *more], {"HOME": str(place)}) == 2
    assert "F101" in "".join(capsys.readouterr())
