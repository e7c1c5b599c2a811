"""What package.toml says of a delivery is what a DIAS package says; what it cannot say is told with its line."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault
from noarkit.forms.dias.write.order import NOT_STATED, DiasOrder
from noarkit.forms.metadata.dias import read_order
from noarkit.forms.metadata.model import Party, Person, System

WHOLE = """
[agreement]
number = "2026/1042"
delivery_type = "avlevering"
record_status = "TEST"
project = "P"
package_number = "1"
reference_code = "R"
[delivery]
label = "L"
description = "D"
[[creator]]
name = "Vik"
identification = "999"
[[creator]]
name = "Nord"
[submitter]
name = "IKA"
[recipient]
name = "Arkivet"
[[contacts]]
role = "creator"
name = "Kari"
address = "Vei 1"
phone = "12"
email = "k@vik.example"
[[contacts]]
role = "submitter"
name = "Ola"
[period]
start = 2017-01-01
end = "2019-12-31"
[system]
name = "Sak"
version = "2"
type = "Noark 5"
type_version = "5.0"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "package.toml"
    path.write_text(text)
    return path


def test_everything_it_says_is_taken(tmp_path: Path) -> None:
    order = read_order(written(tmp_path, WHOLE), type="AIP")
    assert order == DiasOrder(
        "AIP",
        "L",
        "D",
        "TEST",
        "2026/1042",
        "avlevering",
        "P",
        "1",
        "R",
        (Party("Vik", "999", (Person("Kari", "Vei 1", "12", "k@vik.example"),)), Party("Nord")),
        submitter=Party("IKA", "", (Person("Ola"),)),
        recipient=Party("Arkivet"),
        system=System("Sak", "2", "Noark 5", "5.0"),
        start=date(2017, 1, 1),
        end=date(2019, 12, 31),
    )


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_template_as_it_is_written_says_nothing(lang: str, tmp_path: Path) -> None:
    text = files("noarkit.words").joinpath("templates", f"package.{lang}.toml").read_text("utf-8")
    order = read_order(written(tmp_path, text))
    assert order.archive_creators == (Party(NOT_STATED),)
    assert (order.record_status, order.agreement, order.start) == ("NEW", "", None)
    assert read_order(None) == DiasOrder()


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('[agreement]\nrecord_status = "OLD"', 2, "not-a-record-status"),
        ("[agreement]\nnumber = 7", 2, "not-text"),
        ('[period]\n\nstart = "soon"', 3, "not-a-day"),
        ('[[contacts]]\nname = "Kari"\nrole = "boss"', 3, "not-a-role"),
        ('[period]\nincoming = "half"', 2, "not-a-cut"),
        ('system = "Sak"', 1, "not-a-table"),
        ("[submitter]\nname = []", 2, "not-text"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(text: str, line: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigFault) as fault:
        read_order(written(tmp_path, text))
    assert fault.value.data["why"] == why
    assert str(fault.value.data["where"]).endswith(f":{line}")
