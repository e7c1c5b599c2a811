"""The site's own check sees every byte before an upload, and what it refuses never leaves."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.errors import ItemRefused, ItemVanished, UsageFault
from noarkit.graph.entity import Content
from noarkit.loading.gate import CommandGate, command_gate


class Still(io.BytesIO):
    """Bytes that do not change while they are read."""

    def still_the_same(self) -> bool:
        return True


@contextmanager
def holding(content: bytes) -> Iterator[Still]:
    yield Still(content)


def check(gate: CommandGate, content: bytes) -> None:
    gate(Content("case/a.txt", "a.txt", len(content)), lambda _: holding(content))


def test_a_command_lets_pass_what_it_is_content_with_and_nothing_else() -> None:
    gate = command_gate("sh -c 'grep -q clean'")
    check(gate, b"clean")
    with pytest.raises(ItemRefused):
        check(gate, b"dirty")


def test_every_byte_reaches_the_command(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    check(command_gate(f"sh -c 'cat > {tmp_path}/seen'"), content)
    assert (tmp_path / "seen").read_bytes() == content


def test_a_command_that_is_not_content_sets_the_item_aside_with_its_exit_code() -> None:
    with pytest.raises(ItemRefused) as told:
        check(command_gate("sh -c 'cat >/dev/null; exit 3'"), b"bad")
    assert told.value.data == {"key": "case/a.txt", "why": "check-command", "exit": 3}


def test_a_command_that_stops_reading_early_may_still_be_content() -> None:
    check(command_gate("true"), b"x" * 10_000_000)
    with pytest.raises(ItemRefused):
        check(command_gate("false"), b"x" * 10_000_000)


def test_a_command_that_never_ends_is_ended_and_refuses() -> None:
    with pytest.raises(ItemRefused):
        check(CommandGate(("sleep", "60"), patience_s=0.2), b"x" * 10_000_000)


def test_a_file_that_cannot_be_read_is_a_fault_of_the_source() -> None:
    @contextmanager
    def gone(_: Content) -> Iterator[Still]:
        raise ItemVanished(key="case/a.txt")
        yield

    with pytest.raises(ItemVanished):
        command_gate("cat")(Content("case/a.txt", "a.txt", 1), gone)


@pytest.mark.parametrize("line", ["", "no-such-program-anywhere -x", "sh -c 'unclosed"])
def test_a_command_that_cannot_run_is_told_before_anything_is_read(line: str) -> None:
    with pytest.raises(UsageFault):
        command_gate(line)
