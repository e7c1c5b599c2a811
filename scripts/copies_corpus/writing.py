"""Writes a corpus: its documents by their kinds, and what must become of each beside them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from noarkit.copies.converters.office import Office
from noarkit.copies.converters.registry import converters
from noarkit.copies.settings import CopySettings
from scripts.copies_corpus.kind import EQUATIONS, NO_FONT, Kind
from scripts.copies_corpus.letters import letter

DOCUMENTS, PAGES = "documents", "as-pages"
"""The folder of documents, and that of those of which a policy asks for pages."""
_MODIFIED_S = 1_767_344_400  # 2 January 2026, 10:00 in Oslo
_MOST_S = 600
_NEWER = {"doc": "docx", "xls": "xlsx", "ppt": "pptx"}


@dataclass(frozen=True, slots=True)
class Expected:
    """What becomes of a document where every tool is there, and what makes its copy."""

    kind: str
    state: str
    reason: str | None
    converter: str | None
    held: tuple[str, ...] = ()


def write_corpus(folder: Path, kinds: Iterable[Kind], *, most: int = 1_000, seed: int = 0) -> dict[str, Expected]:
    """Writes up to `most` documents of each kind; what becomes of each, by its path. Old formats need LibreOffice, some
    others a module."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(_MODIFIED_S))
    (folder / DOCUMENTS).mkdir(parents=True, exist_ok=True)
    expected: dict[str, Expected] = {}
    for kind in kinds:
        if not _has(kind.needs):
            continue
        target = folder / (PAGES if kind.as_pages else DOCUMENTS) / kind.suffix
        target.mkdir(parents=True, exist_ok=True)
        names = [f"{kind.name}-{number}.{kind.suffix}" for number in range(1, min(most, kind.count) + 1)]
        contents = [kind.write(letter(seed + number)) for number in range(1, len(names) + 1)]
        if kind.old and not _write_old(target, names, contents, kind):
            continue
        for name, content in zip(names, contents, strict=True):
            if not kind.old:
                (target / name).write_bytes(content)
            os.utime(target / name, (_MODIFIED_S, _MODIFIED_S))
            expected[f"{kind.suffix}/{name}"] = Expected(
                kind.title, kind.state, kind.reason or None, kind.converter or None, kind.held
            )
    rows = {place: asdict(each) for place, each in expected.items()}
    (folder / "expected.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False, sort_keys=True), "utf-8")
    return expected


def _has(needs: str) -> bool:
    if needs == EQUATIONS:
        office = converters(CopySettings()).get("office")
        return isinstance(office, Office) and office.draws_equations
    if needs.startswith(NO_FONT):
        command = ["fc-list", f":charset={needs.removeprefix(NO_FONT)}"]
        return not subprocess.run(command, capture_output=True, check=False).stdout
    return not needs or importlib.util.find_spec(needs) is not None


def _write_old(target: Path, names: list[str], contents: list[bytes], kind: Kind) -> bool:
    """Writes documents by way of a form that is written here; False where LibreOffice is not there."""
    program = shutil.which("soffice")
    if program is None:
        return False
    suffix = kind.written_as or _NEWER[kind.suffix]
    with tempfile.TemporaryDirectory(prefix="noarkit-corpus-") as place:
        files = [Path(place) / f"{Path(name).stem}.{suffix}" for name in names]
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        command = [program, f"-env:UserInstallation=file://{place}/profile", "--headless", "--convert-to", kind.old]
        subprocess.run([*command, "--outdir", str(target), *files], check=True, capture_output=True, timeout=_MOST_S)
    written = [target / name for name in names]
    for path in written if kind.spoil else ():
        path.write_bytes(kind.spoil(path.read_bytes()) if kind.spoil else b"")
    return all(path.is_file() for path in written)
