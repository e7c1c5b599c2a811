"""AIPs are gathered in an AIC that seals each of them, and says nothing that they do not."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from noarkit.errors import PackageFault, UsageFault
from noarkit.forms.dias.read.collection import aic_id_of, make_aic, read_aic
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.rules.run import validate_dias
from noarkit.forms.dias.write.order import DiasOrder
from noarkit.forms.dias.write.package import make_dias
from tests.forms.dias.official import Official
from tests.forms.dias.trees import laid

AIC = UUID(int=77)


def made(place: Path, order: DiasOrder, *names: str) -> list[Path]:
    files = laid(place / "source", {"a.pdf": b"a"})
    (place / "aips").mkdir()
    return [make_dias(files, place / "aips" / name, order).path for name in names]


def test_an_aic_seals_its_aips_wherever_they_lie_below_it(tmp_path: Path, reference: Path) -> None:
    aips = made(tmp_path, DiasOrder("AIP", aic=AIC), "one", "two")
    path = make_aic(aips, tmp_path / "aips", DiasOrder(label="Vik"))
    assert path == tmp_path / "aips" / f"{AIC}.xml"
    assert Official(reference / "xsd" / "dias").errors("mets", path.read_bytes()) == []
    found = read_aic(path)
    assert (found.header.type, found.header.label, found.header.document_id) == ("AIC", "Vik", path.name)
    places = [place for _, place in found.tars]
    assert sorted(place.parent.name for place in places if place) == ["one", "two"]
    assert validate_dias(path).codes == frozenset()
    with open_dias(aips[0]) as package:
        assert aic_id_of(package) == str(AIC)
    with pytest.raises(UsageFault):
        make_aic(aips, tmp_path / "aips", DiasOrder())


def test_aips_that_name_no_aic_get_the_one_that_is_ordered_and_are_told_of(tmp_path: Path) -> None:
    path = make_aic(made(tmp_path, DiasOrder("AIP"), "one"), tmp_path, DiasOrder(uuid=AIC))
    assert validate_dias(path).codes == {"D804"}


@pytest.mark.parametrize(
    ("order", "folder", "wanted", "kind"),
    [
        (DiasOrder("SIP"), "aips", DiasOrder(), PackageFault),
        (DiasOrder("AIP"), "source", DiasOrder(), UsageFault),
        (DiasOrder("AIP", aic=AIC), "aips", DiasOrder(uuid=UUID(int=1)), UsageFault),
    ],
    ids=["a-sip", "elsewhere", "of-another"],
)
def test_what_cannot_be_gathered_is_refused(
    order: DiasOrder, folder: str, wanted: DiasOrder, kind: type[Exception], tmp_path: Path
) -> None:
    aips = made(tmp_path, order, "one")
    with pytest.raises(kind):
        make_aic(aips, tmp_path / folder, wanted)
    assert list((tmp_path / folder).glob("*.xml")) == []


def test_an_aip_that_is_not_the_sealed_one_is_refused(tmp_path: Path) -> None:
    (aip,) = made(tmp_path, DiasOrder("AIP", aic=AIC), "one")
    (tar,) = aip.glob("*.tar")
    tar.write_bytes(tar.read_bytes() + bytes(512))
    with pytest.raises(PackageFault):
        make_aic([aip], tmp_path / "aips")


def test_what_is_no_aic_is_refused(tmp_path: Path) -> None:
    (aip,) = made(tmp_path, DiasOrder("AIP"), "one")
    with pytest.raises(PackageFault):
        read_aic(next(aip.glob("*.xml")))
    with pytest.raises(UsageFault):
        make_aic([], tmp_path)
