"""Every rule for DIAS packages is broken by a package of its own and by nothing else in it; good ones break none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.forms.container.storage import Storage
from noarkit.forms.dias.read.inventory import Inventory
from noarkit.forms.dias.read.located import locate
from noarkit.forms.dias.read.tar_storage import open_tar_storage
from noarkit.forms.dias.rules.documents import DocumentValidator
from noarkit.forms.dias.rules.run import RULES, Check, looks_like_dias, validate_dias
from noarkit.forms.dias.rules.seal import SealCheck
from noarkit.forms.findings import Tally, ValidateResult
from noarkit.forms.noark5.rules.run import Noark5ValidateOptions
from noarkit.forms.recognition import detect_form
from noarkit.safe.digest import Readable
from noarkit.words.texts import LANGUAGES, fields, texts
from samples.packages.dias import METS, UUID, description, good_dias, tarred
from samples.packages.dias_aic import BAD_AIC, BadAic, write_aic
from samples.packages.dias_bad import BAD_DIAS, BadDias, extract, holding, without

INFO = {code for code, rule in RULES.items() if rule.level == "info"}
ELSEWHERE = {"D114", "D310"}
"""Broken by a link, or by a disk that fails, which no generator writes; tests below lay them."""
OURS = {"N102"}
"""What every extract with our own schemas is told."""


def told(report: ValidateResult) -> str:
    return "\n".join(f"{one.rule.code} {one.count} {one.places[:2]}" for one in report.outcomes)


def graver(report: ValidateResult) -> set[str]:
    return {code for code in report.codes if code not in INFO and not code.startswith("N9")}


def test_every_rule_has_a_package_that_breaks_it() -> None:
    assert {bad.code for bad in BAD_DIAS} | {bad.code for bad in BAD_AIC} == set(RULES) - INFO - ELSEWHERE
    assert len({bad.name for bad in BAD_DIAS}) == len(BAD_DIAS)


@pytest.mark.parametrize("bad", BAD_DIAS, ids=lambda bad: bad.name)
def test_a_package_broken_in_one_way_is_told_of_that_alone(bad: BadDias, tmp_path: Path) -> None:
    report = validate_dias(bad.draft().write(tmp_path / "p"))
    assert graver(report) - OURS == {bad.code, *bad.also}, told(report)
    assert report.valid == all(RULES[code].level == "warning" for code in (bad.code, *bad.also))
    outcome = next(one for one in report.outcomes if one.rule.code == bad.code)
    assert outcome.count >= len(outcome.places) > 0
    for lang in LANGUAGES:
        for place in outcome.places:
            forms = texts(lang).forms("rules", bad.code, "told")
            assert fields(forms[0]) <= place.data.keys(), f"{bad.code} tells {dict(place.data)}"


@pytest.mark.parametrize("bad", BAD_AIC, ids=lambda bad: bad.name)
def test_an_aic_broken_in_one_way_is_told_of_that_alone(bad: BadAic, tmp_path: Path) -> None:
    report = validate_dias(bad.write(tmp_path / "p"))
    assert report.codes == {bad.code}, told(report)
    assert report.valid == (RULES[bad.code].level == "warning")
    for outcome in report.outcomes:
        for place in outcome.places:
            assert fields(texts("en").forms("rules", bad.code, "told")[0]) <= place.data.keys()


@pytest.mark.parametrize("bad", [bad for bad in BAD_DIAS if bad.code != "D501"], ids=lambda bad: bad.name)
def test_a_broken_package_is_seen_to_be_one_of_dias_all_the_same(bad: BadDias, tmp_path: Path) -> None:
    assert detect_form(bad.draft().write(tmp_path / "p")).form == "dias"


def test_a_good_aic_breaks_no_rule_and_neither_do_its_aips(tmp_path: Path) -> None:
    path = write_aic(tmp_path / "p")
    assert looks_like_dias(path)
    assert detect_form(path).form == "dias"
    report = validate_dias(path)
    assert (report.codes, report.version, report.summary["files"]) == (frozenset(), "AIC", ("2",))
    for folder in (entry for entry in (tmp_path / "p").iterdir() if entry.is_dir()):
        assert graver(validate_dias(folder)) == set()


@pytest.mark.parametrize("type_", ["SIP", "AIP"])
@pytest.mark.parametrize("shape", ["pair", "tar", "description", "folder"])
def test_a_good_package_breaks_no_rule_in_any_shape(type_: str, shape: str, tmp_path: Path) -> None:
    draft = good_dias(type_)
    pair = draft.write(tmp_path / "p")
    place = {
        "pair": pair,
        "tar": pair / f"{UUID}.tar",
        "description": pair / f"{UUID}.xml",
        "folder": draft.unpack(tmp_path / "u"),
    }[shape]
    report = validate_dias(place)
    assert graver(report) == set(), told(report)
    assert report.version == type_
    assert report.codes == ({"D701", "D502"} if shape == "folder" else {"D701"})
    assert looks_like_dias(place)


@pytest.mark.parametrize("unpacked", [False, True])
def test_the_extract_within_is_judged_by_its_own_rules_in_the_same_report(unpacked: bool, tmp_path: Path) -> None:
    draft = good_dias("AIP", extract())
    place = draft.unpack(tmp_path / "u") if unpacked else draft.write(tmp_path / "p")
    report = validate_dias(place)
    assert report.valid, told(report)
    assert graver(report) == OURS, told(report)
    assert any(count.rule.code == "N912" and count.total for count in report.counts)
    broken = good_dias("SIP", extract())
    broken.files["content/arkivstruktur.xml"] = broken.files["content/arkivstruktur.xml"].replace(
        b"<tittel>", b"<title>", 1
    )
    report = validate_dias(broken.write(tmp_path / "broken"))
    assert not report.valid
    places = [place for outcome in report.outcomes if outcome.rule.code.startswith("N") for place in outcome.places]
    assert all(place.file.startswith("content/") for place in places)


def test_what_a_type_lacks_or_has_too_much_is_told_as_information(tmp_path: Path) -> None:
    draft = good_dias("AIP")
    without("content/systemhåndbok.pdf", "administrative_metadata/repository_operations/report.txt")(draft)
    report = validate_dias(draft.write(tmp_path / "aip"))
    assert "D110" in report.codes and report.valid
    draft = good_dias("SIP")
    holding("descriptive_metadata/ead.xml", '<ead xmlns="http://ead3.archivists.org/schema/"/>')(draft)
    report = validate_dias(draft.write(tmp_path / "sip"))
    assert "D112" in report.codes and report.valid


def test_a_link_in_an_unpacked_package_is_no_file_of_it(tmp_path: Path) -> None:
    place = good_dias().unpack(tmp_path / "u")
    (place / "content" / "link.txt").symlink_to("/etc/passwd")
    report = validate_dias(place)
    assert graver(report) == {"D114"}, told(report)


def test_a_file_that_is_listed_and_is_a_link_is_never_read(tmp_path: Path) -> None:
    place = good_dias().unpack(tmp_path / "u")
    (place / "content" / "b.txt").unlink()
    (place / "content" / "b.txt").symlink_to("/etc/passwd")
    report = validate_dias(place)
    assert graver(report) == {"D114"}, told(report)


def test_the_official_schemas_judge_where_they_are_named(tmp_path: Path, reference: Path) -> None:
    folder = tmp_path / "official"
    folder.mkdir()
    for name in (
        "METS/latest/DIAS_METS.xsd",
        "PREMIS/latest/DIAS_PREMIS.xsd",
        "INFOFIL/latest/submissionDescription.xsd",
    ):
        found = reference / "xsd" / "dias" / name
        (folder / found.name).write_bytes(found.read_bytes())
    report = validate_dias(good_dias("AIP").write(tmp_path / "p"), Noark5ValidateOptions(folder))
    assert graver(report) == set(), told(report)
    bad = next(bad for bad in BAD_DIAS if bad.name == "D202-no-document-id")
    assert graver(validate_dias(bad.draft().write(tmp_path / "b"), Noark5ValidateOptions(folder))) == {"D202"}


def test_many_findings_are_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    draft = good_dias()
    draft.late.update({f"content/more/{number}.txt": b"" for number in range(250)})
    (outcome,) = [one for one in validate_dias(draft.write(tmp_path / "p")).outcomes if one.rule.code == "D303"]
    assert (outcome.count, len(outcome.places)) == (250, 100)


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    for place, why in ((tmp_path, "no-dias"), (tmp_path / "a.txt", "no-dias"), (tmp_path / "none", "not-there")):
        with pytest.raises(PackageFault) as fault:
            validate_dias(place)
        assert fault.value.data["why"] == why
        assert not looks_like_dias(place)


def test_several_packages_in_one_folder_are_validated_one_by_one(tmp_path: Path) -> None:
    good_dias().write(tmp_path)
    replace(good_dias(), name="other", description_name="other").write(tmp_path)
    with pytest.raises(PackageFault) as fault:
        validate_dias(tmp_path)
    assert fault.value.data["why"] == "several-packages"
    assert looks_like_dias(tmp_path)
    assert validate_dias(tmp_path / f"{UUID}.tar").valid


class Broken:
    """The files of a package on a disk that fails: one of them cannot be read to its end."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.where, self.folder, self.stamp = storage.where, storage.folder, storage.stamp
        self.files, self.files_in_order, self.member = storage.files, storage.files_in_order, storage.member
        self.open, self.close = storage.open, storage.close

    def contents(self) -> Iterator[tuple[str, Readable]]:
        for name, content in self._storage.contents():
            yield name, self if name == "content/b.txt" else content

    def read(self, size: int = -1, /) -> bytes:
        raise PackageFault(where="content/b.txt", why="cut-short")


def test_a_file_that_cannot_be_read_to_its_end_is_told(tmp_path: Path) -> None:
    located = locate(good_dias().write(tmp_path / "p"))
    tally = Tally(RULES)
    (tmp_path / "own").mkdir()
    with closing(open_tar_storage(located.place)) as storage, closing(Inventory()) as inventory:
        Check(located, Broken(storage), inventory, DocumentValidator(tmp_path / "own", None), tally).run(
            Noark5ValidateOptions()
        )
    outcomes = tally.outcomes({})
    assert [outcome.rule.code for outcome in outcomes] == ["D310"]
    (place,) = outcomes[0].places
    assert (place.file, place.data) == ("content/b.txt", {"why": "cut-short"})


def test_a_lone_tar_is_known_by_what_lies_in_it(tmp_path: Path) -> None:
    draft = replace(good_dias(), sealed=False)
    assert looks_like_dias(draft.write(tmp_path / "p") / f"{UUID}.tar")
    assert looks_like_dias(replace(draft, top="").write(tmp_path / "q"))
    (tmp_path / "other.tar").write_bytes(tarred({"a.txt": b"a"}))
    assert not looks_like_dias(tmp_path / "other.tar")


def test_an_unpacked_package_with_a_description_beside_it_is_compared_with_it(tmp_path: Path) -> None:
    draft = good_dias()
    place = draft.unpack(tmp_path)
    other = description("AIP", UUID, f"{UUID}.tar", (b"", draft.whole()[METS]))
    (tmp_path / f"{UUID}.xml").write_text(other)
    assert graver(validate_dias(place)) == {"D505"}
    (tmp_path / f"{UUID}.xml").write_text(description("SIP", UUID, f"{UUID}.tar", (b"", b"another")))
    assert graver(validate_dias(tmp_path)) == {"D507", "D508"}


def test_who_is_interrupted_does_not_wait_for_the_end_of_a_large_tar(tmp_path: Path) -> None:
    place = good_dias().write(tmp_path / "p")
    (tmp_path / "own").mkdir()
    with (place / f"{UUID}.tar").open("r+b") as file:
        file.truncate(2**40)
    with (
        pytest.raises(KeyboardInterrupt),
        SealCheck(locate(place), DocumentValidator(tmp_path / "own", None), Tally(RULES)),
    ):
        raise KeyboardInterrupt


def test_a_tar_that_two_entries_name_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = good_dias().write(tmp_path / "p")
    text = (place / f"{UUID}.xml").read_text("utf-8")
    entry = next(part + "</file>" for part in text.split("</file>") if f"{UUID}.tar" in part)
    entry = entry[entry.rindex("<file ") :]
    (place / f"{UUID}.xml").write_text(text.replace(entry, entry + entry.replace(' ID="', ' ID="second-')), "utf-8")
    hashed: list[str] = []
    hash_tar = SealCheck._sum

    def hash_and_count(seal: SealCheck, tar: Path, algorithm: str) -> str:
        hashed.append(algorithm)
        return hash_tar(seal, tar, algorithm)

    monkeypatch.setattr(SealCheck, "_sum", hash_and_count)
    report = validate_dias(place)
    assert hashed == ["sha256"]
    assert "D508" not in report.codes
