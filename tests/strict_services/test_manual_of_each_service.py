"""What the chapters of each service promise in the manual, held against services that are strict."""

from __future__ import annotations

import csv
import json
from datetime import timedelta

import noarkit
from tests.strict_services.appsec import Appsec, now, stamp
from tests.strict_services.appsec_ledger import AppsecLedger
from tests.strict_services.conftest import (
    ARCHIVE,
    Desk,
    appsec_settings,
    crm_settings,
    features_settings,
    spend_settings,
)
from tests.strict_services.crm import Crm
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.features import Features
from tests.strict_services.spend import Spend
from tests.strict_services.spend_data import Entry

# CRM


def test_deals_become_case_files_with_parties_mail_goes_in_and_out_and_the_rest_becomes_notes(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.data.mail(deals[0], "Vårt svar", "Hei igjen", is_sent=True, at=deals[0].created)
    desk.load_and_compare(crm_ledger)
    with noarkit.Archive(ARCHIVE) as archive:
        assert archive.count("Saksmappe") == len(deals) + 1
        parties = {str(each.fields["sakspartNavn"]) for each in archive.find("Sakspart")}
        posts = {
            str(each.fields["tittel"]): str(each.fields["journalposttype"]) for each in archive.find("Journalpost")
        }
    assert parties == {"Fjord AS", "Ola Kunde"}
    assert posts == {"Post 0": "I", "Post 1": "I", "Post 2": "I", "Vårt svar": "U"}
    held = desk.archive()
    for key, (record, *_) in held.items():
        if any(f":{kind}:" in key for kind in ("Quotes", "Tasks", "note", "att")):
            assert record.type == "Arkivnotat", key
        if ":Quotes:" in key or ":Tasks:" in key or key.endswith(":snapshot"):
            page, data = record.documents
            assert json.loads(data.versions[-1]) and not page.versions[-1].startswith(b"{")


def test_each_plan_shows_what_is_screened_or_undecided_and_what_changed_of_a_deal_and_is_not_followed_is_listed(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.load_and_compare(crm_ledger)
    assert "Screened" in desk.plan_said and "Access undecided" in desk.plan_said
    desk.noarkit("recipe", "new", "crm:strict", "-o", "crm.toml")
    assert "screening" in (desk.home / "crm.toml").read_text("utf-8")
    crm.data.edit(deals[0], Deal_Name="Et annet navn")
    run = desk.load_and_compare(crm_ledger)
    text = (desk.home / run / "changed-there.csv").read_text("utf-8-sig")
    assert any("Et annet navn" in each for row in csv.reader(text.splitlines(), delimiter=";") for each in row)


def test_a_closed_deal_is_checked_for_later_additions_when_a_sweep_is_due_and_not_before(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.data.edit(deals[0], at=deals[0].modified, Stage="Tapt til en annen")
    settings = crm_settings(desk, crm, closed_states=["tapt"])
    desk.connect("crm:strict", settings)
    desk.load_and_compare(crm_ledger)
    crm.data.attach(deals[0], "etterpå.txt", b"kom etter at saken var lukket")
    crm.requests.clear()
    desk.run("crm:strict")
    asked = {request.path for request in crm.requests}
    assert f"/crm/v8/Deals/{deals[0].id}/Attachments" not in asked
    assert f"/crm/v8/Deals/{deals[1].id}/Attachments" in asked
    desk.connect("crm:strict", {**settings, "sweep_days": 0})
    desk.load_and_compare(crm_ledger)


def test_records_modules_and_fields_are_read_from_the_command_line(desk: Desk, crm: Crm, deals: list[Record]) -> None:
    desk.noarkit("connect", "crm:strict", "records", "list", "Quotes")
    assert "Tilbud 1" in desk.out
    desk.noarkit("connect", "crm:strict", "records", "get", "Deals", deals[0].id)
    assert "Avtale 0" in desk.out
    desk.noarkit("connect", "crm:strict", "records", "count", "Deals")
    assert "3" in desk.out
    desk.noarkit("connect", "crm:strict", "modules", "list")
    assert "Deals" in desk.out
    desk.noarkit("connect", "crm:strict", "fields", "list", "Deals")
    assert "Closing_Date" in desk.out


# spend


def test_transfers_within_the_service_are_taken_where_the_setting_says_so(desk: Desk, spend: Spend) -> None:
    wallet = spend.data.entry(5, family="WALLET", subFamily="LOAD")
    desk.connect("spend:strict", spend_settings(desk, spend, with_internal=True))
    desk.run("spend:strict")
    assert f"{spend.data.company_id}:entry:{wallet.id}" in desk.archive()


def test_registers_jobs_and_entries_are_read_from_the_command_line(
    desk: Desk, spend: Spend, entries: list[Entry]
) -> None:
    for register in ("tag-groups", "tags", "tax-codes", "vendors", "companies", "employees", "accounts"):
        desk.noarkit("connect", "spend:strict", register, "list")
        assert spend.data.company_id in desk.out or spend.data.tag_id in desk.out, register
    (job,) = spend.data.jobs.values()
    for verb in ("list", "get", "items", "wait"):
        words = () if verb == "list" else (job.id,)
        desk.noarkit("connect", "spend:strict", "jobs", verb, *words)
        assert job.id in desk.out, verb
    desk.noarkit("connect", "spend:strict", "entries", "get", entries[0].id)
    assert entries[0].id in desk.out


# appsec


def test_decisions_the_trail_and_policies_are_left_out_where_the_settings_say_so(desk: Desk, appsec: Appsec) -> None:
    appsec.data.decide(appsec.data.scan(appsec.data.project("portal")))
    appsec.data.audit_event("create")
    desk.connect("appsec:strict", appsec_settings(desk, appsec, decisions=False, audit=False, policies=False))
    desk.run("appsec:strict")
    paths = {request.path for request in appsec.requests}
    assert not [path for path in paths if "predicates" in path or "audit" in path or "policy" in path]
    assert not [key for key in desk.archive() if ":triage:" in key or ":audit:" in key]


def test_all_of_it_is_screened_titles_included_and_no_secret_is_stored(desk: Desk, appsec: Appsec) -> None:
    appsec.data.decide(appsec.data.scan(appsec.data.project("portal")))
    ledger = AppsecLedger(appsec)
    desk.load_and_compare(ledger)
    with noarkit.Archive(ARCHIVE) as archive:
        items = [each for kind in ("Saksmappe", "Arkivnotat", "Dokument") for each in archive.find(kind)]
        assert items and all(each.fields.get("skjerming") for each in items)
        public = [str(each.fields["offentligTittel"]) for each in items if each.fields.get("offentligTittel")]
    assert public and not [title for title in public if "portal" in title]


def test_a_plan_warns_when_more_than_a_month_has_passed(desk: Desk, appsec: Appsec) -> None:
    appsec.data.scan(appsec.data.project("portal"), days_ago=80)
    desk.run("appsec:strict")
    first = desk.plan_said
    long_ago = stamp(now() - timedelta(days=40))
    for place in (desk.home / ".local/state/noarkit/connections").glob("*.marks-*.json"):
        marks = json.loads(place.read_text("utf-8"))
        for mark in marks["streams"].values():
            mark.update(
                {name: long_ago for name, value in mark.items() if isinstance(value, str) and value[:2] == "20"}
            )
        place.write_text(json.dumps(marks), "utf-8")
    desk.run("appsec:strict")
    said = [line for line in desk.plan_said.splitlines() if line not in first.splitlines()]
    assert [line for line in said if "40 days" in line], desk.plan_said


# features


def test_keys_people_in_segments_and_exposures_are_never_read(desk: Desk, features: Features) -> None:
    features.data.add("segments", "staff", type="id_list")
    features.data.add("gates", "new_layout")
    desk.noarkit("connect", "features:strict")
    desk.run("features:strict")
    desk.verify(desk.runs[-1])
    paths = {request.path for request in features.requests}
    forbidden = ("/keys", "/id_list", "/overrides", "/logs", "check_gate", "log_event", "/users")
    assert not [path for path in paths for each in forbidden if each in path]


def test_what_is_missing_from_a_list_is_asked_for_by_id_and_archived_in_that_state(
    desk: Desk, features: Features
) -> None:
    layer = features.data.add("layers", "front", description="Forside")
    features.data.add("layers", "back")
    desk.run("features:strict")
    features.unlisted.add("front")
    features.data.edit(layer, description="Tatt ut av listen")
    run = desk.run("features:strict")
    assert f"{features.project_id}:layer:front:v2" in desk.archive()
    assert not [key for key, reason in desk.skipped(run) if reason == "deleted in the service"]


def test_reviews_are_read_for_what_changed_or_each_time_where_the_setting_says_so(
    desk: Desk, features: Features
) -> None:
    gate = features.data.add("gates", "new_layout")
    features.data.add("gates", "quiet")
    desk.run("features:strict")
    features.data.edit(gate, isEnabled=True)
    features.requests.clear()
    desk.run("features:strict")
    asked = [request.path for request in features.requests if request.path.endswith("/reviews")]
    assert "/console/v1/gates/new_layout/reviews" in asked and "/console/v1/gates/quiet/reviews" not in asked
    desk.connect("features:strict", features_settings(desk, features, all_reviews=True))
    features.requests.clear()
    desk.run("features:strict")
    asked = [request.path for request in features.requests if request.path.endswith("/reviews")]
    assert "/console/v1/gates/quiet/reviews" in asked


def test_definitions_and_the_log_are_read_from_the_command_line(desk: Desk, features: Features) -> None:
    gate = features.data.add("gates", "new_layout")
    review = features.data.review(gate)
    for words in (("gates", "list"), ("gates", "get", "new_layout"), ("audit", "list")):
        desk.noarkit("connect", "features:strict", *words)
        assert "new_layout" in desk.out, words
    desk.noarkit("connect", "features:strict", "gates", "reviews", "new_layout")
    assert str(review["review_id"]) in desk.out
