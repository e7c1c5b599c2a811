"""scripts/make-copies-corpus FOLDER [--each N] [--seed N]: FOLDER/documents, with FOLDER/expected.json beside."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.copies_corpus.kinds import KINDS, Kind
from scripts.copies_corpus.letters import letter

_MODIFIED_S = 1_767_344_400  # 2 January 2026, 10:00 in Oslo
_MOST_S = 300


@dataclass(frozen=True, slots=True)
class Expected:
    """What becomes of a document where every tool is there, and what makes its copy."""

    kind: str
    state: str
    reason: str | None
    converter: str | None


def write_corpus(
    folder: Path, *, most: int = 1_000, seed: int = 0, kinds: tuple[Kind, ...] = KINDS
) -> dict[str, Expected]:
    """Writes up to `most` documents of each kind; what becomes of each, by its path. Old formats need LibreOffice."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(_MODIFIED_S))
    documents = folder / "documents"
    expected: dict[str, Expected] = {}
    for kind in kinds:
        target = documents / kind.suffix
        target.mkdir(parents=True, exist_ok=True)
        names = [f"{kind.name}-{number}.{kind.suffix}" for number in range(1, min(most, kind.count) + 1)]
        contents = [kind.write(letter(seed + number)) for number in range(1, len(names) + 1)]
        if kind.old and not _write_old(target, names, contents, kind.old):
            continue
        for name, content in zip(names, contents, strict=True):
            if not kind.old:
                (target / name).write_bytes(content)
            os.utime(target / name, (_MODIFIED_S, _MODIFIED_S))
            place = f"{kind.suffix}/{name}"
            title = f"{kind.name}.{kind.suffix}"
            expected[place] = Expected(title, kind.state, kind.reason or None, kind.converter or None)
    rows = {place: asdict(each) for place, each in expected.items()}
    (folder / "expected.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False, sort_keys=True), "utf-8")
    return expected


def _write_old(target: Path, names: list[str], contents: list[bytes], wanted: str) -> bool:
    """Writes documents in a format before 2007 by way of their newer form; False where LibreOffice is not there."""
    program = shutil.which("soffice")
    if program is None:
        return False
    suffix = {"doc": "docx", "xls": "xlsx", "ppt": "pptx"}[wanted.partition(":")[0]]
    with tempfile.TemporaryDirectory(prefix="noarkit-corpus-") as place:
        files = [Path(place) / f"{Path(name).stem}.{suffix}" for name in names]
        for file, content in zip(files, contents, strict=True):
            file.write_bytes(content)
        command = [program, f"-env:UserInstallation=file://{place}/profile", "--headless", "--convert-to", wanted]
        subprocess.run([*command, "--outdir", str(target), *files], check=True, capture_output=True, timeout=_MOST_S)
    return all((target / name).is_file() for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/make-copies-corpus")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", type=int, default=1_000, help="at most so many documents of each kind")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    expected = write_corpus(arguments.folder, most=arguments.each, seed=arguments.seed)
    print(f"{len(expected)} documents of {len(KINDS)} kinds in {arguments.folder}")


if __name__ == "__main__":
    main()
