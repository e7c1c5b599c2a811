"""What is counted of a package besides what is judged: by arkivdel and class, as the known validators count it."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.forms.validation import ValidateResult, validate
from noarkit.model.xml_model import VERSIONS, Version
from samples.packages.changes import STRUCTURE, replaced
from samples.packages.describe import seal
from samples.packages.good import Draft, good_draft, unit_id


def rows(report: ValidateResult, code: str) -> dict[tuple[str, ...], int]:
    """The rows of one figure."""
    return {labels: number for count in report.counts if count.rule.code == code for labels, number in count.rows}


def made(draft: Draft, folder: Path) -> ValidateResult:
    """The report on a draft."""
    seal(draft)
    draft.write(folder)
    return validate(folder)


def test_parties_sign_offs_and_days_are_counted_by_arkivdel(tmp_path: Path) -> None:
    draft = good_draft()
    text = draft.files[STRUCTURE].decode()
    first, second = text.split(f"<systemID>{unit_id('arkivdel 2')}<")
    other = second.replace("<tittel>Et tittel<", "<tittel>Neste periode<", 1).replace("2019-03-04T", "2019-05-06T")
    draft.files[STRUCTURE] = f"{first}<systemID>{unit_id('arkivdel 2')}<{other}".encode()
    report = made(draft, tmp_path)
    records = first.count("</registrering>"), second.count("</registrering>")
    assert rows(report, "N922") == {
        ("2019-03-04", "2019-03-04", "Et tittel"): records[0],
        ("2019-05-06", "2019-05-06", "Neste periode"): records[1],
    }
    assert rows(report, "N925")["mappe", "Neste periode"] == 1
    assert rows(report, "N929")["Mottaker", "Et tittel"] == 1
    assert rows(report, "N929")["Avsender", "Neste periode"] == second.count("<korrespondansepart>")
    assert rows(report, "N930") == {("Tatt til etterretning", "Et tittel"): 3}


def test_classes_without_folders_and_without_records_are_counted(tmp_path: Path) -> None:
    report = made(good_draft(), tmp_path)
    assert rows(report, "N909") == {("1.1", "Et tittel"): 2, ("2", "Et tittel"): 2}
    assert rows(report, "N942") == {("Et tittel",): 2}  # 1 and 3
    assert rows(report, "N943") == {("Et tittel",): 3}  # 1, 1.1 and 2


def test_only_the_primary_classification_system_has_empty_classes_counted(tmp_path: Path) -> None:
    draft = good_draft()
    empty = (
        "<klasse>\n<systemID>{}</systemID>\n<klasseID>{}</klasseID>\n<tittel>Tom</tittel>\n"
        "<opprettetDato>2019-03-04T10:00:00</opprettetDato>\n<opprettetAv>Kari Nordmann</opprettetAv>\n</klasse>\n"
    )
    own = empty.format(unit_id("tom 1"), "8")
    secondary = (
        f"<klassifikasjonssystem>\n<systemID>{unit_id('sekundær')}</systemID>\n<tittel>Objekter</tittel>\n"
        "<opprettetDato>2019-03-04T10:00:00</opprettetDato>\n<opprettetAv>Kari Nordmann</opprettetAv>\n"
        f"{empty.format(unit_id('tom 2'), 'x')}{empty.format(unit_id('tom 3'), 'y')}</klassifikasjonssystem>\n"
    )
    replaced(STRUCTURE, "</klassifikasjonssystem>\n", f"{own}</klassifikasjonssystem>\n{secondary}")(draft)
    report = made(draft, tmp_path)
    assert report.valid
    assert rows(report, "N906") == {("Et tittel",): 1}


@pytest.mark.parametrize("version", VERSIONS)
def test_most_of_the_official_schemas_tell_the_version_where_the_description_does_not(
    version: Version, tmp_path: Path, reference: Path
) -> None:
    draft = good_draft(version, reference / "xsd" / "noark5" / version)
    draft.said["version"] = "3.0"
    draft.files["arkivstruktur.xsd"] += b"<!-- -->"  # one schema that is no longer official has no vote
    report = made(draft, tmp_path)
    assert report.version == version
    assert report.codes == {"N202", "N105"}
