"""Two sides of an air gap for tests: keys, a source on one side, an archive on the other, and a command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.embedded import EmbeddedArchive
from noarkit.forms.container.building import File
from noarkit.forms.sealed.read import open_sealed
from noarkit.forms.sealed.spec import Kind
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.safe.digest import Readable
from noarkit.safe.signing import Signer, new_key_pair, read_public, read_signer

Items = list[dict[str, object]]
Said = dict[str, object]


@dataclass
class Gap:
    """One test's folder: `a` sends, `b` receives; each has a key pair."""

    home: Path
    archive: EmbeddedArchive | None
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __post_init__(self) -> None:
        for side in ("a", "b"):
            private, public = new_key_pair()
            self.key(side).write_bytes(private)
            self.key(side).chmod(0o600)
            self.public(side).write_bytes(public)

    def key(self, side: str) -> Path:
        return self.home / f"{side}.key"

    def public(self, side: str) -> Path:
        return self.home / f"{side}.key.pub"

    def signer(self, side: str) -> Signer:
        return read_signer(self.key(side).read_bytes(), side)

    def run(self, *words: object) -> int:
        """A command line; what it said is kept."""
        environment = {"HOME": str(self.home)}
        if self.archive is not None:
            environment["NOARKIT_ARCHIVE"] = f"embedded:{self.archive.data_dir}"
        self.capture.readouterr()
        code = main([*map(str, words), "--progress", "none"], environment)
        self.out, self.err = self.capture.readouterr()
        return code

    def pack(self, name: str = "bundle.zip", run: str = "run", *more: object, source: object = "src") -> int:
        return self.run("plan", source, "-o", run, "--pack", name, "--seal-key", self.key("a"), *more)

    def load(self, name: str = "bundle.zip", run: str = "there", *more: object) -> int:
        return self.run("ingest", name, "-o", run, "--trust-key", self.public("a"), "--workers", 0, *more)

    def answer(self, run: str = "there", receipt: str = "receipt.zip", *more: object) -> int:
        return self.run("verify", run, "--receipt-out", receipt, "--seal-key", self.key("b"), *more)

    def close(self, run: str = "run", receipt: str = "receipt.zip", *more: object) -> int:
        return self.run("verify", run, "--receipt", receipt, "--trust-key", self.public("b"), *more)

    def cross(self, name: str = "bundle.zip") -> None:
        """The whole way to a receipt, with a source that is gone once it was packed."""
        assert self.pack(name) == 0, self.err
        shutil.rmtree(self.home / "src")
        assert self.load(name) == 0, self.err
        assert self.answer() == 0, self.err

    def status(self, run: str = "run") -> Mapping[str, object]:
        """What `status --json` says."""
        self.run("status", run, "--json")
        found: Mapping[str, object] = json.loads(self.out.splitlines()[0])
        return found


def files(folder: Path, *names: str, text: str = "") -> Path:
    """A source with these files, and with texts that no other has."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text or folder.absolute()} {name}", encoding="utf-8")
    return folder


def plain_file(name: str, content: bytes) -> File:
    """Bytes as a file of a package."""

    class Bytes:
        def __init__(self) -> None:
            self.left = content

        def read(self, size: int = -1, /) -> bytes:
            block, self.left = (self.left, b"") if size < 0 else (self.left[:size], self.left[size:])
            return block

    @contextmanager
    def opened() -> Iterator[Readable]:
        yield Bytes()

    return name, opened, len(content), ""


def forged(
    receipt: Path, target: Path, gap: Gap, change: Callable[[Items, Said], None], *, kind: Kind = "receipt"
) -> Path:
    """The same receipt with something changed, sealed by the receiving side all the same."""
    key = read_public(gap.public("b").read_bytes(), "b")
    with open_sealed(receipt, (key,), "receipt") as sealed:
        with sealed.open("noarkit-items.jsonl") as content:
            items: Items = [json.loads(line) for line in content.read(10_000_000).splitlines()]
        said, own = json.loads(json.dumps(sealed.seal.statement)), sealed.seal.id
    change(items, said)
    text = "".join(json.dumps(one) + "\n" for one in items).encode()
    order = SealOrder(target, kind, own, "2026-11-22T04:00:00+00:00", gap.signer("b"), {"user": "kari"})
    seal_package(iter([plain_file("noarkit-items.jsonl", text)]), order, lambda listed: said)
    return target
