"""What noarkit leaves in archives keeps its name, and is spelt in one place."""

from __future__ import annotations

import ast

from noarkit.model import own_marks
from tests.package_code import modules_with, nodes_of

# as it stands in archives: nothing of it may ever be another
WRITTEN = {
    "OWN_SYSTEMS": "noarkit:",
    "CHUNK_ANCHORS": "noarkit:chunk",
    "COPIES": "noarkit:copies",
    "DERIVED_FROM": "noarkit:derived-from",
    "ACCESS_COPY_OF": "noarkit:access-copy-of",
    "MARKER_TITLE": "noarkit: run guards (not part of any series)",
    "PROBE_TITLE": "noarkit: probe (not part of any series)",
    "ESTIMATE_CLASS": "noarkit: estimate",
    "USUAL_UNIT": "ADM",
}


def test_marks_are_what_they_were() -> None:
    marks = {name: value for name, value in vars(own_marks).items() if name.isupper() and isinstance(value, str)}
    assert marks == WRITTEN
    assert own_marks.uuid_of_mark("plan/1") == "db88eac2-ecf2-5c9d-a1ef-edcb7a4c3601"


def test_nobody_else_spells_a_mark() -> None:
    marks = {value for name, value in WRITTEN.items() if name != "OWN_SYSTEMS"}
    spelt = [
        f"{path.name}: {node.value!r}"
        for path in modules_with("noarkit:")
        if path.name != "own_marks.py"
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value in marks
    ]
    assert spelt == []
