"""What days and cases are called is known in one place each, which all others ask."""

from __future__ import annotations

import pytest

from noarkit.sources.files.register.columns import meanings
from tests.package_code import MODULES, PACKAGE


@pytest.mark.parametrize(
    ("word", "owner"),
    [("brevdato", "recipes/date_headings.py"), ("saksnr|arkivsak", "sources/files/case_names.py")],
)
def test_a_heading_and_the_look_of_a_case_have_one_owner(word: str, owner: str) -> None:
    assert [path.relative_to(PACKAGE).as_posix() for path in MODULES if word in path.read_text("utf-8")] == [owner]


def test_a_column_is_known_by_such_a_heading() -> None:
    columns = {"tekst": ["Brev", "Svar", "Notat"], "Brevdato": ["2014-03-12", "2014-03-13", "2014-04-01"]}
    assert meanings(columns, ["", "", ""], of_cases=False)["dokumentetsDato"] == "Brevdato"
