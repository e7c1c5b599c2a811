"""Documents of the kinds that case files hold, for what looks into files."""

from __future__ import annotations

from pathlib import Path

from scripts.copies_corpus.kinds import KINDS
from scripts.copies_corpus.letters import letter

_MODELS = 4
_IN_A_HUNDRED = {
    ("tekst", "pdf"): 35,
    ("skannet", "pdf"): 15,
    ("brev", "docx"): 20,
    ("epost", "eml"): 12,
    ("ark", "xlsx"): 6,
    ("foto", "jpg"): 6,
    ("framlegg", "pptx"): 3,
    ("notat", "txt"): 3,
}
"""How many of a hundred documents are of a kind, by its name and suffix."""


def make_documents(root: Path, count: int) -> Path:
    """`count` documents of the kinds that case files hold, a hundred to a folder."""
    models = {
        kind: [kind.write(letter(number)) for number in range(_MODELS)]
        for kind in KINDS
        if (kind.name, kind.suffix) in _IN_A_HUNDRED
    }
    hundred = [kind for kind in models for _ in range(_IN_A_HUNDRED[kind.name, kind.suffix])]
    for number in range(count):
        kind = hundred[number * 37 % len(hundred)]
        folder = root / f"case {number // 100:05}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        content = models[kind][number % len(models[kind])]
        (folder / f"{kind.name} {number:07}.{kind.suffix}").write_bytes(content)
    return root
