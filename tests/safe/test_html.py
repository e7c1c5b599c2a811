"""Pages that Python's parser of HTML ends on with an `AssertionError`."""

from __future__ import annotations

import pytest

import noarkit.safe.html as owner
from noarkit.safe.html import HtmlReader
from tests.package_code import MODULES
from tests.test_layers import name_of


class _Texts(HtmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("section", ["<![OCT[ x ]]>", "<![if !mso]>", "<![CDATA[ x ]]>", "<![%x;[>", "<![>"])
def test_a_marked_section_that_nobody_knows_is_a_comment(section: str) -> None:
    reader = _Texts()
    reader.feed(f"<p>before</p>{section}<p>after</p>")
    reader.close()
    assert reader.texts[0] == "before" and "after" in "".join(reader.texts)


def test_nobody_else_reads_html_by_the_parser_itself() -> None:
    assert [name_of(path) for path in MODULES if "html.parser" in path.read_text("utf-8")] == [owner.__name__]
