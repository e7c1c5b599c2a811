"""The road of the share of samples/deposit, command by command, each in a process of its own: what its tests share."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from lxml import etree

KNR = "1413"
ANSWERS = {
    "recipe.toml": (
        ('no_folder = "ask"', 'no_folder = "make"'),
        ('no_row = "ask"', 'no_row = "report"'),
        ('knr = "ask"', f'knr = "{KNR}"'),
        ('identity_numbers = "report"', 'identity_numbers = "screen"\nscreening = "UO13"'),
    ),
    "deposit.toml": (
        ('schemas = "ask"', 'schemas = ""'),
        ('name = "ask"', 'name = "Sætre kommune"'),
        ('identification = "ask"', 'identification = "987654321"'),
        ('name = "ask"', 'name = "Filserver"'),
        ('type = "ask"', 'type = "Filområde"'),
    ),
}
"""What a person answers: the questions, in the order of the files, and what to do with an identity number."""

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OURS = "{urn:noarkit:ikkeIFormen}"
_FOLDER = re.compile(r"^dokumenter/..(?=/)")
"""The folder of a document is named after its id."""


def run(words: list[str], cwd: Path) -> tuple[list[str], int, str]:
    """One command, to its end."""
    command = [sys.executable, "-m", "noarkit", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return words, done.returncode, done.stdout + done.stderr


def printed(text: str, pattern: str) -> list[str]:
    """The command that a text advises: the last of those."""
    return shlex.split(re.findall(rf"noarkit ({pattern})", text)[-1])


def new_project(
    place: Path, project: str = "project", share: str = "share", *options: str
) -> tuple[list[str], int, str]:
    """Makes a project of a share and answers its questions."""
    made = run(["deposit", "new", share, "-o", project, *options], place)
    for name, answers in ANSWERS.items():
        text = (place / project / name).read_text("utf-8")
        for question, answer in answers:
            text = text.replace(question, answer, 1)
        (place / project / name).write_text(text, "utf-8")
    return made


def json_of(words: list[str], cwd: Path) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of a command, and its lines of JSON."""
    _, code, told = run([*words, "--json"], cwd)
    return code, [json.loads(line) for line in told.splitlines() if line.startswith("{")]


def stops_in(lines: list[dict[str, Any]]) -> set[str]:
    """The reasons that stop a package, as lines of JSON tell them: none of those that a person accepted."""
    reasons = [reason for line in lines for reason in line.get("reasons", ())]
    return {reason["code"] for reason in reasons if reason["grade"] == "stops" and reason["accepted"] is None}


def lines_of(file: Path) -> list[str]:
    """An XML file element by element: the name and the text of each, ids apart. What stands in business-specific
    metadata in the order of ids is put in that of its texts."""
    root = etree.parse(file).getroot()
    for block in root.iter(f"{_OURS}ikkeIFormen"):
        block[:] = sorted(block, key=_texts)
    return _texts(root)


def _texts(element: etree._Element) -> list[str]:
    return [
        f"{etree.QName(each).localname} {_ID.sub('', _FOLDER.sub('', (each.text or '').strip()))}"
        for each in element.iter(etree.Element)
    ]
