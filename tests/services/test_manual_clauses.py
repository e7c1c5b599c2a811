"""What the chapters on services promise of runs over time, sentence by sentence, and the tests that show it.

A sentence that is changed, or a test that is gone, fails: then the one is to be held against the other again. So does a
sentence that nobody bound to a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

import pytest

from noarkit.services.appsec.service import AppSec
from noarkit.services.source.source import SWEEP_DAYS
from noarkit.services.spend.service import Spend
from tests.services.test_promises import held_by

# one line for each sentence, however long
# ruff: noqa: E501
DELETIONS = "services/test_deletions.py"
LEFT_OUT = "services/test_left_out.py"
TENANTS = "services/test_tenants.py"
HEALED = "services/test_healed.py"
WAITING = "services/test_waiting.py"
PROMISED = "services/test_promised.py"
OVER_TIME = "services/test_over_time.py"
TRIGGERED = "services/test_triggered.py"
DISCOVERY = "services/mcp/test_discovery.py"
CRM = "services/crm/test_over_time.py"
CLOSED = "services/crm/test_closed_cases.py"
SPEND = "services/spend/test_over_time.py"
APPSEC = "services/appsec/test_known_keys.py"
TRAIL = "services/appsec/test_trail.py"
FEATURES = "services/features/test_known_keys.py"
NEWS = "services/features/test_news.py"
RUNS = "strict_services/test_manual_of_runs.py"
EACH = "strict_services/test_manual_of_each_service.py"
CRM_TIME = "strict_services/test_crm_over_time.py"
CRM_JOURNEY = "strict_services/test_crm_journey.py"
SPEND_TIME = "strict_services/test_spend_over_time.py"
SPEND_JOURNEY = "strict_services/test_spend_journey.py"
APPSEC_JOURNEY = "strict_services/test_appsec_journey.py"
FEATURES_JOURNEY = "strict_services/test_features_journey.py"


class Clause(NamedTuple):
    """A sentence of a chapter, or a part of one, in both languages, and the test that shows it."""

    en: str
    nb: str
    test: str


CLAUSES: dict[str, tuple[Clause, ...]] = {
    "services": (
        Clause(
            "What is deleted in the service stays in the archive and is reported.",
            "Det som slettes i tjenesten, blir værende i arkivet og meldes.",
            f"{DELETIONS}::test_a_deletion_is_reported_once_and_the_record_stays",
        ),
        Clause(
            "noarkit remembers for each archive how far it has read.",
            "noarkit husker for hvert arkiv hvor langt det er lest.",
            f"{OVER_TIME}::test_another_archive_has_marks_of_its_own",
        ),
        Clause(
            "If you delete that memory, everything is read again, and nothing is loaded twice.",
            "Slettes dette, leses alt på nytt, og ingenting lastes inn to ganger.",
            f"{OVER_TIME}::test_without_its_memory_a_run_reads_all_and_archives_nothing_twice",
        ),
        Clause(
            "A run reads what has changed since the one before it,",
            "En kjøring leser det som er endret siden den forrige,",
            f"{TENANTS}::test_the_same_tenant_goes_on_from_its_marks",
        ),
        Clause(
            "and a little more, since clocks differ.",
            "og litt mer, siden klokker går ulikt.",
            f"{OVER_TIME}::test_what_shows_up_late_within_the_look_back_is_taken",
        ),
        Clause(
            "A deletion is reported once.",
            "En sletting meldes én gang.",
            f"{DELETIONS}::test_a_deletion_is_reported_once_and_the_record_stays",
        ),
        Clause(
            "(`sweep_days` in the connection) a run is a sweep:",
            "(`sweep_days` i forbindelsen) er kjøringen et fullt gjennomsyn:",
            f"{OVER_TIME}::test_a_sweep_comes_every_so_many_days",
        ),
        Clause(
            "it looks at everything, whatever the dates say.",
            "Den ser på alt, uansett hva datoene sier.",
            f"{HEALED}::test_a_sweep_says_what_it_healed_when_it_is_planned_and_when_it_is_loaded",
        ),
        Clause(
            "that earlier runs had missed, it shows how much, by stream.",
            "som tidligere kjøringer ikke fikk med, viser den hvor mye, for hver strøm.",
            f"{HEALED}::test_a_person_and_a_script_are_told",
        ),
        Clause(
            "is set aside, and each later run asks for it again.",
            "settes til side, og hver senere kjøring spør etter det på nytt.",
            f"{LEFT_OUT}::test_one_thing_that_is_left_out_is_asked_for_again_and_nothing_else_is",
        ),
        Clause(
            "is read again only if the service cannot be asked for one thing alone.",
            "leses bare på nytt hvis tjenesten ikke kan spørres om én ting alene.",
            f"{LEFT_OUT}::test_a_stream_that_cannot_be_asked_by_id_is_read_whole_again_and_the_others_are_not",
        ),
        Clause(
            "If the service no longer has it (F208),",
            "Har ikke tjenesten det lenger (F208),",
            f"{LEFT_OUT}::test_only_a_refusal_of_rights_is_called_one",
        ),
        Clause(
            "The next plan then loads the record without it, and lists it in `skipped.csv`:",
            "Neste plan laster da inn posten uten det, og fører det opp i `skipped.csv`:",
            f"{LEFT_OUT}::test_what_is_gone_for_good_is_accepted_by_key_and_its_record_is_taken_without_it",
        ),
        Clause(
            "nothing is read (F364) until",
            "leses ingenting (F364) før",
            f"{TENANTS}::test_another_tenant_is_refused_with_both_names_and_the_command_that_goes_on_reads_all_of_it",
        ),
        Clause(
            "noarkit shows what it waits for and until when,",
            "viser noarkit hva den venter på og til når,",
            f"{WAITING}::test_a_person_reads_what_is_waited_for_and_until_when",
        ),
        Clause(
            "and shows it again every minute.",
            "og viser det igjen hvert minutt.",
            f"{WAITING}::test_a_pause_that_a_service_asks_for_is_told_at_once_and_each_minute",
        ),
        Clause(
            "what the next plan takes, and what only a sweep takes.",
            "hva neste plan tar, og hva bare et fullt gjennomsyn tar.",
            f"{PROMISED}::test_what_belongs_to_the_next_plan_is_read_by_it_and_what_does_not_is_said_to_be_late",
        ),
        Clause(
            "The next plan shows how many messages are waiting, and finds all changes, with or without messages.",
            "Neste plan viser hvor mange meldinger som venter, og finner alle endringer, med eller uten meldinger.",
            f"{TRIGGERED}::test_a_message_that_the_service_sent_is_counted_by_the_next_plan_which_takes_its_record",
        ),
        Clause(
            "If a tool needs more permissions than were granted, the call ends and says so, and the next consent asks for them too.",
            "Krever et verktøy flere rettigheter enn det har fått, avbrytes kallet med beskjed om det, og neste samtykke ber om dem også.",
            f"{DISCOVERY}::test_a_tool_that_needs_more_scopes_makes_the_next_consent_ask_for_them_too",
        ),
        Clause(
            "A connection belongs to one organisation.",
            "En forbindelse hører til én virksomhet.",
            f"{TENANTS}::test_another_tenant_is_refused_with_both_names_and_the_command_that_goes_on_reads_all_of_it",
        ),
    ),
    "crm": (
        Clause(
            "Each run lists all cases, what belongs to them and their notes,",
            "Hver kjøring henter alle saker, det som hører til dem, og notatene,",
            f"{CRM}::test_what_hangs_on_a_known_case_and_becomes_visible_late_comes_with_the_next_run",
        ),
        Clause(
            "It loads what is new or changed,",
            "Den laster inn det som er nytt eller endret,",
            f"{CRM_JOURNEY}::test_a_first_run_archives_all_that_there_is_and_a_second_each_change_and_nothing_else",
        ),
        Clause(
            "what the CRM shows late",
            "det CRM-et viser sent",
            f"{CRM_TIME}::test_what_becomes_visible_late_with_an_old_time_is_archived_with_all_that_hangs_on_it",
        ),
        Clause(
            "and what is restored from the bin, however old its dates are.",
            "og det som hentes tilbake fra papirkurven, uansett hvor gamle datoene er.",
            f"{CRM}::test_the_deletion_of_a_paper_is_told_once_and_what_comes_back_is_read",
        ),
        Clause(
            "A case that is not in the archive is read with everything that belongs to it.",
            "En sak som ikke er i arkivet, leses med alt som hører til den.",
            f"{CRM}::test_a_case_that_becomes_visible_late_is_read_whole_whatever_its_times_say",
        ),
        Clause(
            "A record without a date of change is read each time.",
            "En post uten endringsdato leses hver gang.",
            f"{RUNS}::test_a_record_without_a_date_of_change_is_read_each_time",
        ),
        Clause(
            "Attachments and mail are listed for open cases,",
            "Vedlegg og e-post hentes for åpne saker,",
            f"{EACH}::test_a_closed_deal_is_checked_for_later_additions_when_a_sweep_is_due_and_not_before",
        ),
        Clause(
            "and for closed ones in which something has changed.",
            "og for lukkede saker der noe er endret.",
            f"{CLOSED}::test_a_changed_task_of_a_closed_case_has_the_rest_of_it_looked_through",
        ),
        Clause(
            "Every `sweep_days` days all closed cases are checked too,",
            "Hver `sweep_days` dag kontrolleres også alle lukkede saker,",
            f"{CLOSED}::test_what_was_added_to_a_closed_deal_is_archived_at_the_latest_when_a_sweep_is_due",
        ),
        Clause(
            "and every record is read again, whatever its dates say.",
            "og alle poster leses på nytt, uansett hva datoene sier.",
            f"{CRM}::test_a_sweep_looks_through_closed_cases_and_reads_what_changed_without_a_new_time",
        ),
        Clause(
            "What is deleted in the CRM stays in the archive and is reported once,",
            "Det som slettes i CRM-et, blir stående i arkivet og meldes én gang,",
            f"{CRM_TIME}::test_each_deletion_is_reported_and_nothing_leaves_the_archive",
        ),
        Clause(
            "a case together with its notes and attachments.",
            "en sak sammen med notatene og vedleggene.",
            f"{CRM}::test_each_deletion_is_told_once",
        ),
        Clause(
            "Deleted mail,",
            "Slettet e-post,",
            f"{RUNS}::test_deleted_mail_is_found_by_a_sweep",
        ),
        Clause(
            "and deleted attachments of closed cases, are found every `sweep_days` days.",
            "og slettede vedlegg i lukkede saker, oppdages hver `sweep_days` dag.",
            f"{CRM}::test_the_deletion_of_a_paper_is_told_once_and_what_comes_back_is_read",
        ),
        Clause(
            "What your account may no longer see does not count as deleted.",
            "Det kontoen din ikke lenger kan se, regnes ikke som slettet.",
            f"{RUNS}::test_what_the_account_may_no_longer_see_does_not_count_as_deleted",
        ),
        Clause(
            "While a case is hidden from the account, mail that is deleted there is not reported.",
            "Så lenge en sak er skjult for kontoen, meldes ikke e-post som slettes der.",
            f"{CRM}::test_a_case_that_is_hidden_is_not_deleted_and_neither_is_what_hangs_on_it",
        ),
    ),
    "spend": (
        Clause(
            "a run reads again what was settled in the last 60 days.",
            "leser en kjøring på nytt det som ble gjort opp de siste 60 dagene.",
            f"{SPEND_TIME}::test_a_late_receipt_is_a_document_of_its_own",
        ),
        Clause(
            "asks by id for older vouchers that were not final,",
            "spør etter eldre bilag med id når de ikke var endelige,",
            f"{SPEND_JOURNEY}::test_what_is_not_final_waits_and_what_never_will_be_is_left_out_with_its_reason",
        ),
        Clause(
            "that were exported since,",
            "er eksportert siden,",
            f"{SPEND}::test_a_job_that_was_pending_and_ended_later_is_read_with_the_entries_that_it_took",
        ),
        Clause(
            "or that an earlier run left out.",
            "eller ble utelatt av en tidligere kjøring.",
            f"{LEFT_OUT}::test_an_entry_of_a_spend_service_is_asked_for_again_by_its_id",
        ),
        Clause(
            "(`sweep_days`) a run reads all vouchers and jobs, whatever their dates say.",
            "(`sweep_days`) leser en kjøring alle bilag og jobber, uansett hva datoene sier.",
            f"{SPEND}::test_a_voucher_that_appears_late_without_any_job_comes_with_the_next_sweep",
        ),
        Clause(
            "it becomes a new document of the same record;",
            "den blir et nytt dokument i samme registrering;",
            f"{SPEND_TIME}::test_a_late_receipt_is_a_document_of_its_own",
        ),
        Clause(
            "for a voucher settled more than 60 days ago, at the next sweep",
            "for et bilag gjort opp for mer enn 60 dager siden, ved neste fulle gjennomsyn",
            f"{SPEND}::test_a_receipt_of_a_voucher_settled_long_ago_comes_with_the_next_sweep",
        ),
        Clause(
            "it is archived, with the vouchers that it took, however long ago it began",
            "den arkiveres, med bilagene den tok, uansett hvor lenge siden den begynte",
            f"{SPEND}::test_a_job_that_was_pending_and_ended_later_is_read_with_the_entries_that_it_took",
        ),
        Clause(
            "it is archived at the next sweep,",
            "det arkiveres ved neste fulle gjennomsyn,",
            f"{SPEND}::test_a_voucher_that_appears_late_without_any_job_comes_with_the_next_sweep",
        ),
        Clause(
            "or when an export job takes it",
            "eller når en eksportjobb tar det",
            f"{SPEND_TIME}::test_a_job_that_ends_late_and_a_voucher_that_appears_late_are_archived",
        ),
        Clause(
            "| a voucher,",
            "| et bilag,",
            f"{SPEND}::test_a_deleted_voucher_is_told_once_and_read_again_if_it_comes_back",
        ),
        Clause(
            "receipt or job is deleted",
            "en kvittering eller en jobb slettes",
            f"{SPEND}::test_a_deleted_receipt_is_told_once_and_its_voucher_stays",
        ),
        Clause(
            'it is reported once, as "deleted in the service";',
            "det meldes én gang, som «slettet i tjenesten»;",
            f"{SPEND}::test_a_job_that_is_not_listed_any_more_is_told_once",
        ),
        Clause(
            "it stays in the archive",
            "det blir værende i arkivet",
            f"{SPEND_TIME}::test_a_deletion_is_reported_and_nothing_leaves_the_archive",
        ),
        Clause(
            "the voucher is archived without it, and the receipt is listed; if it comes back it is added",
            "bilaget arkiveres uten den, og kvitteringen føres opp; kommer den tilbake, legges den til",
            f"{SPEND}::test_a_receipt_that_the_voucher_names_and_nobody_has_is_listed_and_the_voucher_archived",
        ),
    ),
    "appsec": (
        Clause(
            "Each run loads every scan that is in the service and not in the archive, however late it appears.",
            "Hver kjøring laster inn alle skanninger som er i tjenesten og ikke i arkivet, uansett hvor sent de dukker opp.",
            f"{APPSEC}::test_a_scan_that_appears_late_is_read_whenever_it_began_and_only_once",
        ),
        Clause(
            "An unfinished scan is loaded by the first run after its end.",
            "En skanning som ikke er ferdig, lastes inn av den første kjøringen etter at den er det.",
            f"{APPSEC_JOURNEY}::test_a_second_run_takes_what_ended_late_what_was_decided_and_nothing_else",
        ),
        Clause(
            "The last seven days are read again, and so is a day of the audit trail that has grown since.",
            "De siste sju dagene leses på nytt, og det gjør også en dag i revisjonssporet som har vokst siden.",
            f"{TRAIL}::test_a_day_that_hears_of_more_later_is_told_again_with_other_bytes",
        ),
        Clause(
            "Decisions are looked for in the scans of those days and in the newest scan of each branch.",
            "Beslutninger letes det etter i skanningene fra de dagene og i den nyeste skanningen av hver gren.",
            f"{TRAIL}::test_a_decision_about_a_scan_before_the_window_is_taken_and_so_is_that_it_was_taken_back",
        ),
        Clause(
            "What is deleted in the service stays in the archive.",
            "Det som slettes i tjenesten, blir værende i arkivet.",
            f"{APPSEC_JOURNEY}::test_what_the_service_forgets_stays_in_the_archive",
        ),
        Clause(
            "A scan or project that is gone is reported once.",
            "En skanning eller et prosjekt som er borte, meldes én gang.",
            f"{APPSEC}::test_scans_and_projects_that_are_deleted_are_reported_once_and_what_comes_again_is_read",
        ),
        Clause(
            "What the key may not see does not count as deleted.",
            "Det nøkkelen ikke kan se, regnes ikke som slettet.",
            f"{APPSEC}::test_what_is_not_listed_and_stands_under_its_id_or_may_not_be_seen_is_not_deleted",
        ),
        Clause(
            "a run reads all scans that are still in the service, with their decisions,",
            "leser en kjøring alle skanninger som fortsatt er i tjenesten, med beslutningene,",
            f"{APPSEC}::test_a_sweep_reads_all_scans_decisions_and_days_again",
        ),
        Clause(
            "and every day of the audit trail again.",
            "og hver dag i revisjonssporet på nytt.",
            f"{RUNS}::test_a_sweep_of_scans_takes_those_that_the_archive_does_not_hold_whenever_they_began",
        ),
    ),
    "features": (
        Clause(
            "all definitions are listed each time, and only what has changed is archived:",
            "alle definisjoner hentes hver gang, og bare det som er endret, arkiveres:",
            f"{FEATURES_JOURNEY}::test_a_second_run_takes_each_version_between_and_nothing_else",
        ),
        Clause(
            "each version if the service keeps them, otherwise each state that was seen.",
            "hver versjon hvis tjenesten bevarer dem, ellers hver tilstand som ble sett.",
            f"{NEWS}::test_where_the_service_keeps_no_history_each_state_we_saw_is_a_record_of_its_own",
        ),
        Clause(
            "A definition that appears late is loaded with all its versions and reviews.",
            "En definisjon som dukker opp sent, lastes inn med alle versjoner og gjennomganger.",
            f"{FEATURES}::test_a_definition_that_appears_late_is_read_with_its_versions_and_reviews",
        ),
        Clause(
            "Reviews are read for definitions that have changed, were under review or appear in the audit log;",
            "Gjennomganger leses for definisjoner som er endret, var under gjennomgang eller står i revisjonsloggen;",
            f"{NEWS}::test_a_review_that_is_new_or_ended_is_found_by_each_of_its_traces",
        ),
        Clause(
            "`all_reviews = true` reads all of them each time.",
            "`all_reviews = true` leser alle hver gang.",
            f"{EACH}::test_reviews_are_read_for_what_changed_or_each_time_where_the_setting_says_so",
        ),
        Clause(
            "What is missing from a list is asked for by id, and is archived in that state",
            "Det som mangler i en liste, spørres det etter med id, og det arkiveres i den tilstanden",
            f"{EACH}::test_what_is_missing_from_a_list_is_asked_for_by_id_and_archived_in_that_state",
        ),
        Clause(
            "or reported once as deleted.",
            "eller meldes én gang som slettet.",
            f"{FEATURES}::test_a_deletion_is_reported_once_to_each_archive_though_what_we_knew_is_lost",
        ),
        Clause(
            "What is in the archive stays there.",
            "Det som er i arkivet, blir stående.",
            f"{FEATURES_JOURNEY}::test_what_is_deleted_is_reported_once_and_stays",
        ),
        Clause(
            "A definition that comes back is loaded again.",
            "En definisjon som kommer tilbake, lastes inn igjen.",
            f"{FEATURES}::test_what_was_deleted_comes_back_and_is_deleted_again_is_reported_again",
        ),
        Clause(
            "a run reads all versions, all reviews",
            "leser en kjøring alle versjoner, alle gjennomganger",
            f"{RUNS}::test_a_sweep_of_definitions_reads_all_reviews_and_all_versions",
        ),
        Clause(
            "and the whole audit log, even if nothing shows a change.",
            "og hele revisjonsloggen, selv om ingenting tyder på en endring.",
            f"{FEATURES}::test_a_sweep_reads_all_versions_reviews_and_log_again",
        ),
    ),
}
# the section of each chapter in which no sentence stands without a test
SECTIONS = {
    "services": ("From one run to the next", "Fra én kjøring til den neste"),
    "crm": ("What each run takes", "Hva hver kjøring tar med"),
    "spend": ("Between one run and the next", "Fra en kjøring til den neste"),
    "appsec": ("From one run to the next", "Fra én kjøring til den neste"),
    "features": ("From one run to the next", "Fra én kjøring til den neste"),
}
LANGUAGES = ("en", "nb")


def chapter_text(chapter: str, lang: str) -> str:
    """A chapter of the manual."""
    return files("noarkit").joinpath("manual", lang, f"{chapter}.md").read_text("utf-8")


def sentences(text: str) -> list[str]:
    """The sentences of a text, and the rows of its tables but for their heads; without the examples in it."""
    found = list[str]()
    for block in re.sub(r"(?ms)^```.*?^```$", "", text).split("\n\n"):
        if block.lstrip().startswith("|"):
            found += block.strip().splitlines()[2:]
        else:
            found += re.split(r"(?<=[.?!]) (?=[A-ZÆØÅ`])", " ".join(block.split()))
    return [sentence for sentence in found if sentence]


def unbound(text: str, parts: Iterable[str]) -> list[str]:
    """The sentences of a text that hold none of the parts which are bound to a test."""
    parts = tuple(parts)
    return [sentence for sentence in sentences(text) if not any(part in sentence for part in parts)]


@pytest.mark.parametrize(
    ("chapter", "clause"),
    [(chapter, clause) for chapter, clauses in CLAUSES.items() for clause in clauses],
    ids=lambda value: value if isinstance(value, str) else value.en[:60],
)
def test_each_clause_of_a_chapter_has_its_test(chapter: str, clause: Clause) -> None:
    for lang, sentence in zip(LANGUAGES, clause[:2], strict=True):
        assert sentence
        assert sentence in " ".join(chapter_text(chapter, lang).split()), lang
    path, _, name = clause.test.partition("::")
    assert name in held_by(path)


@pytest.mark.parametrize("chapter", SECTIONS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_on_runs_stands_without_a_test(chapter: str, lang: str) -> None:
    number = LANGUAGES.index(lang)
    heading = f"\n## {SECTIONS[chapter][number]}\n"
    _, found, rest = chapter_text(chapter, lang).partition(heading)
    assert found, heading
    section, parts = rest.partition("\n## ")[0], [clause[number] for clause in CLAUSES[chapter]]
    assert unbound(section, parts) == []
    assert unbound(f"{section.rstrip()}\n\nIt does more.\n", parts) == ["It does more."]


def test_a_row_of_a_table_is_a_sentence_and_an_example_is_none() -> None:
    text = "One. Two: it\ngoes on (F2). `x` is.\n\n```\nnoarkit A. B\n```\n\n| a | b |\n| - | - |\n| c. D | e |\n"
    assert sentences(text) == ["One.", "Two: it goes on (F2).", "`x` is.", "| c. D | e |"]


def test_the_days_that_the_chapters_name_are_those_that_a_run_keeps_to() -> None:
    assert (AppSec.look_back.days, Spend.look_back.days, SWEEP_DAYS) == (7, 60, 30)
    assert "The last seven days are read again" in chapter_text("appsec", "en")
    assert "in the last 60 days" in chapter_text("spend", "en")
    for chapter in ("services", "appsec", "features"):
        assert "Every thirty days (`sweep_days`" in " ".join(chapter_text(chapter, "en").split())


def test_a_sweep_has_one_name_in_norwegian() -> None:
    texts = [path for folder in ("manual/nb", "words") for path in files("noarkit").joinpath(folder).iterdir()]
    names = [
        name for path in texts if path.is_file() for name in re.findall(r"full\w* gjennom\w*", path.read_text("utf-8"))
    ]
    assert names and {name.split()[1] for name in names} == {"gjennomsyn"}
