"""What the manual promises of each run of a connection: what it takes, what it reports, and what a sweep finds."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

from tests.strict_services.appsec import Appsec
from tests.strict_services.appsec_ledger import AppsecLedger
from tests.strict_services.conftest import Desk, appsec_settings, crm_settings, features_settings
from tests.strict_services.crm import Crm
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.features import BEGIN, Features

GONE = "deleted in the service"


def test_deleted_mail_is_found_by_a_sweep(desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger) -> None:
    desk.load_and_compare(crm_ledger)
    email = next(each for each in crm.data.emails.values() if each.parent == deals[0].id)
    del crm.data.emails[email.id]
    desk.connect("crm:strict", crm_settings(desk, crm, sweep_days=0))
    told = dict(desk.skipped(desk.load_and_compare(crm_ledger)))
    assert told.get(f"{crm.org_id}:email:{quote(email.id, safe='')}:deleted") == GONE


def test_what_the_account_may_no_longer_see_does_not_count_as_deleted(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.load_and_compare(crm_ledger)
    deals[0].is_hidden = True
    desk.connect("crm:strict", crm_settings(desk, crm, sweep_days=0))
    run = desk.load_and_compare(crm_ledger)
    assert not [key for key, reason in desk.skipped(run) if reason == GONE]


def test_a_record_without_a_date_of_change_is_read_each_time(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.withheld[deals[1].id] = {"Modified_Time"}
    desk.load_and_compare(crm_ledger)
    deals[1].values["Stage"] = "Qualification"
    desk.load_and_compare(crm_ledger)


def test_what_lacks_a_date_of_creation_or_a_title_is_told_of_or_named_by_its_first_words(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    crm.withheld = {deal.id: {"Created_Time"} for deal in deals[:2]}
    note = crm.data.note(deals[0], None, "Ringte og avtalte møte på torsdag", at=deals[0].created)
    desk.load_and_compare(crm_ledger)
    said = [line for line in desk.plan_said.splitlines() if "creation" in line.casefold()]
    assert said and "2" in said[0], desk.plan_said
    (record,) = desk.archive()[f"{crm.org_id}:Deals:{deals[0].id}:note:{note.id}"]
    assert record.title.startswith("Ringte og avtalte")


def test_a_sweep_of_scans_takes_those_that_the_archive_does_not_hold_whenever_they_began(
    desk: Desk, appsec: Appsec
) -> None:
    project = appsec.data.project("portal")
    appsec.data.scan(project)
    ledger = AppsecLedger(appsec)
    desk.load_and_compare(ledger)
    appsec.data.scan(project, 2, days_ago=60)
    appsec.data.audit_event("late", at=appsec.data.scan(project, 0, days_ago=50).created + timedelta(hours=1))
    desk.connect("appsec:strict", appsec_settings(desk, appsec, sweep_days=0))
    desk.load_and_compare(ledger)


def test_a_sweep_of_definitions_reads_all_reviews_and_all_versions(desk: Desk, features: Features) -> None:
    for id in ("new_layout", "quiet"):
        features.data.add("gates", id, at=BEGIN)
    desk.run("features:strict")
    desk.connect("features:strict", features_settings(desk, features, sweep_days=0))
    features.requests.clear()
    desk.run("features:strict")
    asked = {request.path.removeprefix("/console/v1/gates/") for request in features.requests}
    assert {f"{id}/{what}" for id in ("new_layout", "quiet") for what in ("reviews", "versions")} <= asked
