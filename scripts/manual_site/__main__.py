"""scripts/manual OUT: writes the chapters of the manual, in both languages, as a searchable site below OUT."""

from __future__ import annotations

import sys
from pathlib import Path

from noarkit.cli.help import code_lists
from noarkit.words.texts import LANGUAGES, texts
from scripts.manual_site.pages import site_pages


def main(arguments: list[str]) -> int:
    """Writes the site; 2 where no folder is named."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("scripts/manual OUT", file=sys.stderr)
        return 2
    out = Path(arguments[0])
    write_site(out)
    print(out / "index.html")
    return 0


def write_site(out: Path) -> None:
    """Writes every file of the site below `out`; what is there already under other names is left alone."""
    for name, text in site_pages({lang: code_lists(texts(lang)) for lang in LANGUAGES}):
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
