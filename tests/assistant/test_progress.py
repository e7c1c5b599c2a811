"""A call that takes long tells an assistant how far it is, while it works."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from mcp import Client

from noarkit.assistant.server import ToolProgress, server
from noarkit.assistant.toolset import ToolAnswer, Tools
from noarkit.config import Sources, load
from noarkit.errors import UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.settings import Settings
from noarkit.words.texts import texts
from tests.roundtrip.circle import archive_in, extract_to
from tests.roundtrip.worlds import build
from tests.waiting import PATIENCE_S

Told = tuple[float, float | None, str | None]


@dataclass(frozen=True, slots=True)
class SlowTools(Tools):
    """Tools that go on once what they told was heard."""

    heard: threading.Event = field(default_factory=threading.Event)

    def scan(self, source: str, listener: Listener = ignore_event) -> ToolAnswer:
        """Counts, and waits to be heard."""
        listener(Event("source_read", {"items": 10_000}))
        assert self.heard.wait(PATIENCE_S), "nothing was told while it worked"
        listener(Event("source_read", {"items": 20_000}))
        return {"records": 20_000}

    def validate(self, package: str, listener: Listener = ignore_event) -> ToolAnswer:
        """Fails after it told something."""
        listener(Event("judged", {"objects": 5, "of": 9}))
        raise UsageFault(what="bad-value", where=package)


def settings() -> Settings:
    """Settings of somebody who has configured nothing."""
    return Settings(load(Sources(environment={})), {})


def test_progress_is_told_while_a_tool_works_and_rises() -> None:
    told, tools = list[Told](), SlowTools([Path("/")], settings())

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        if progress == 10_000:
            tools.heard.set()

    async def session() -> None:
        async with Client(server(tools)) as client:
            result = await client.call_tool("scan", {"source": "x"}, progress_callback=on_progress)
            assert result.structured_content == {"records": 20_000}
            failed = await client.call_tool("validate", {"package": "x"}, progress_callback=on_progress)
            assert failed.is_error and "F101" in str(failed.content)
            assert (await client.call_tool("scan", {"source": "x"})).structured_content, "nobody need ask for it"

    asyncio.run(session())
    done = [progress for progress, _, _ in told]
    assert done[:1] == [0] and 10_000 in done and 20_000 in done
    assert any(message and "10" in message for _, _, message in told), "in words too"


def test_what_each_step_counts_is_added_up_and_never_falls() -> None:
    told = list[Told]()

    async def report(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def steps() -> None:
        progress = ToolProgress(texts("en"))
        await progress.tell(report)
        for event in (
            Event("source_read", {"items": 7}),
            Event("source_read", {"items": 7}),
            Event("judged", {"objects": 2, "of": 10}),
            Event("remark", {"stream": "", "why": "mark-lags"}),
            Event("judged", {"objects": 10, "of": 10}),
        ):
            progress.on_event(event)
            await progress.tell(report)

    asyncio.run(steps())
    assert [(progress, total) for progress, total, _ in told] == [(0, None), (7, None), (9, 17), (17, 17)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records and an extract."""
    place = tmp_path_factory.mktemp("open")
    (place / "records").mkdir()
    (place / "records" / "a.txt").write_text("a")
    with archive_in(place / "archive") as archive:
        build(random.Random(8), archive)
        extract_to(archive, place / "package")
    return place


@pytest.mark.parametrize("words", [("scan", "records"), ("plan", "records", "run"), ("validate", "package")])
def test_every_tool_that_may_take_long_hands_its_events_on(words: tuple[str, ...], place: Path) -> None:
    heard = list[Event]()
    tool, *arguments = words
    getattr(Tools([place], settings()), tool)(*arguments, listener=heard.append)
    assert heard
