"""Makes the case files of a small system: python make.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

CASES = {
    "2024-17 Kai ved Storgata": ("Søknad", "Uttalelse fra havnevesenet", "Vedtak"),
    "2024-31 Skolevei Nordbygda": ("Henvendelse", "Svar"),
    "2025-02 Vannledning": ("Varsel", "Rapport", "Faktura", "Avslutning"),
}


def main(folder: Path) -> None:
    """A folder a case, a text a document."""
    for case, letters in CASES.items():
        (folder / case).mkdir(parents=True, exist_ok=True)
        for number, letter in enumerate(letters, 1):
            text = f"{letter}\n\nI saken «{case}», dokument {number}.\n"
            (folder / case / f"{number} {letter}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
