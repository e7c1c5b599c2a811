"""What is promised of CRM, spend, inbox and tools, line by line, and the tests that show it. A line without one fails."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
CRM, SPEND, TOOLS, INBOX = "services/crm", "services/spend", "services/mcp", "services/inbox"

# one line for each promise, however long
# ruff: noqa: E501
INTERFACE = {
    "CRM: OAuth 2.0, the token behind a prefix": f"{CRM}/test_crm.py::test_a_token_is_shown_with_the_prefix_of_the_service_and_lives_an_hour",
    "CRM: the prefix is configurable": f"{CRM}/test_interface.py::test_the_prefix_of_the_token_is_a_setting",
    "CRM: tokens of 3600 s are refreshed": "services/test_access.py::test_a_token_is_renewed_before_it_ends_and_the_new_pair_is_on_disk_first",
    "CRM: GET settings/modules": f"{CRM}/test_crm.py::test_modules_are_listed_and_those_that_hold_cases_are_read",
    "CRM: records of any standard, custom or inventory module": f"{CRM}/test_interface.py::test_records_of_any_standard_custom_and_inventory_module_are_read",
    "CRM: related inventory records": f"{CRM}/test_interface.py::test_related_inventory_records_hang_on_their_deal",
    "CRM: POST with at most 100 records": f"{CRM}/test_interface.py::test_a_post_never_holds_more_than_a_hundred_records",
    "CRM: update, delete, upsert": f"{CRM}/test_interface.py::test_records_are_created_updated_upserted_and_deleted_in_words",
    "CRM: instant notifications with field conditions": f"{CRM}/test_crm.py::test_a_channel_tells_of_changes_that_fit_its_conditions",
    "CRM: watch channels kept alive": f"{CRM}/test_interface.py::test_notifications_are_opened_kept_proven_renewed_and_closed",
    "CRM: credits": f"{CRM}/test_crm.py::test_credits_are_counted_as_they_cost_and_left_to_others",
    "CRM: MCP actions cost the same credits": f"{TOOLS}/test_client.py::test_a_tool_costs_the_credits_that_its_call_would",
    "CRM: four hosted MCP servers": f"{TOOLS}/test_client.py::test_the_four_servers_of_a_crm_list_their_tools_and_those_that_read_may_be_called",
    "CRM: MCP, OAuth started on first use": f"{TOOLS}/test_consent.py::test_the_first_use_of_a_tool_starts_the_consent_of_a_person_at_a_terminal",
    "spend: export jobs in all states, polled": f"{SPEND}/test_interface.py::test_export_jobs_are_polled_through_all_their_states",
    "spend: items of export jobs": f"{SPEND}/test_interface.py::test_jobs_and_their_items_are_shown_in_words",
    "spend: POST /v0/tag-groups, GET /v2/employees": f"{SPEND}/test_interface.py::test_employees_are_read_at_version_two_and_tag_groups_posted_at_version_zero",
    "spend: POST /v1/subscriptions": f"{SPEND}/test_interface.py::test_subscriptions_are_made_kept_proven_and_taken_away",
    "spend: GET, POST, PUT, DELETE of registers": f"{SPEND}/test_interface.py::test_a_register_is_listed_made_changed_archived_and_deleted_as_the_service_lets_it",
    "spend: chart of accounts, five verbs": f"{SPEND}/test_interface.py::test_a_register_is_listed_made_changed_archived_and_deleted_as_the_service_lets_it",
    "spend: export versions 0, 1, 2, 3": f"{SPEND}/test_interface.py::test_each_export_version_does_what_is_said_of_it",
    "spend: rotating refresh": f"{SPEND}/test_spend.py::test_a_refresh_token_is_good_once_and_the_next_is_kept_first",
    "spend: API key, standalone, as Basic": f"{SPEND}/test_spend.py::test_an_api_key_is_a_user_name_without_a_password",
    "spend: API key, integrated": f"{SPEND}/test_interface.py::test_an_integrated_key_is_activated_and_is_basic_as_a_standalone_one_is",
    "spend: tag groups by JWT bearer or Basic": f"{SPEND}/test_interface.py::test_tag_groups_take_a_jwt_bearer_or_basic",
    "spend: the token never in a query": f"{SPEND}/test_spend.py::test_a_token_in_the_query_is_not_taken",
    "spend: webhooks signed and retried": f"{SPEND}/test_interface.py::test_subscriptions_are_made_kept_proven_and_taken_away",
    "spend: 600 a minute, shared": f"{SPEND}/test_spend.py::test_six_hundred_a_minute_is_shared_and_never_passed",
    "spend: MCP for expenses": f"{TOOLS}/test_client.py::test_expenses_can_be_searched_and_retrieved_but_not_completed",
    "spend: MCP by browser OAuth without client credentials": f"{TOOLS}/test_consent.py::test_expenses_are_searched_by_a_consent_without_client_credentials",
    "spend: never top-ups, payouts or payments": f"{TOOLS}/test_judging.py::test_what_may_change_something_is_called_only_where_writing_is_switched_on_and_money_never_moves",
    "spend: staging tokens never reach production": f"{SPEND}/test_spend.py::test_what_was_granted_in_one_environment_never_reaches_another",
}
RULES = {
    "1 200 with an error on the token call": "services/test_access.py::test_success_is_a_token_not_a_status",
    "1 204 on a list, 304": f"{CRM}/test_rules.py::test_1_204_on_a_list_is_an_empty_list_and_304_is_nothing_new",
    "1 204 on a download": f"{CRM}/test_crm.py::test_an_attachment_that_is_gone_is_no_empty_file",
    "1 207 mixed": f"{CRM}/test_crm.py::test_writes_go_by_the_hundred_and_each_record_has_its_result",
    "2 record 2001": f"{CRM}/test_crm.py::test_page_2001_needs_a_token_and_gets_one",
    "2 expired token": f"{CRM}/test_troubles.py::test_an_expired_page_token_begins_the_list_anew_and_no_record_comes_twice",
    "2 repeated token, more records without a token": f"{CRM}/test_rules.py::test_2_a_list_that_does_not_get_on_is_a_fault",
    "2 more records with empty data": f"{CRM}/test_rules.py::test_2_more_records_is_true_with_empty_or_known_data_and_a_new_token_each_time",
    "3 429 with seconds, date, none, negative, huge": "services/test_client.py::test_busy_waits_as_it_is_told_and_sends_again_even_what_changes_things",
    "3 token throttle as 400": f"{CRM}/test_rules.py::test_3_a_token_service_that_is_throttled_with_400_is_waited_for",
    "4 concurrent 401s cause one refresh": f"{CRM}/test_crm.py::test_eight_threads_with_a_dead_token_renew_it_once",
    "4 rotating refresh, crash before the save": f"{SPEND}/test_spend.py::test_an_answer_lost_while_renewing_asks_for_consent_plainly",
    "5 bulk job: FAILURE, never finishing, two members, ../": f"{CRM}/test_crm.py::test_bulk_jobs_that_go_wrong_end",
    "5 bulk job: zero rows": f"{CRM}/test_rules.py::test_5_a_bulk_table_of_zero_rows_is_an_empty_module",
    "5 bulk job: BOM, quotes and line feeds": f"{CRM}/test_rules.py::test_5_bulk_cells_keep_quotes_commas_line_feeds_and_other_scripts",
    "6 webhook: stale, future": f"{INBOX}/test_inbox.py::test_a_clock_may_differ_by_five_minutes",
    "6 webhook: re-serialised, not UTF-8": f"{INBOX}/test_inbox.py::test_6_a_body_that_was_written_anew_is_another_and_bytes_that_are_no_text_are_proven_and_tell_nothing",
    "6 webhook: two signatures": f"{INBOX}/test_inbox.py::test_several_signatures_and_several_secrets_are_good_while_one_replaces_another",
    "6 webhook: malformed header": f"{INBOX}/test_inbox.py::test_malformed_headers_are_refused_and_never_fail",
    "6 webhook: replayed, oversized": f"{INBOX}/test_flood.py::test_a_flood_of_hostile_messages_gives_no_5xx_and_good_ones_among_them_are_kept_once",
    "6 webhook: missing token": f"{INBOX}/test_inbox.py::test_a_channel_is_known_by_its_token",
    "6 the vectors of signatures": f"{INBOX}/test_inbox.py::test_the_standard_vectors_are_proven",
    "7 signed address expired": f"{SPEND}/test_rules.py::test_7_an_address_that_expired_is_asked_for_once_more_and_no_oftener",
    "7 redirect to another host without Authorization": "services/test_client.py::test_a_download_follows_but_carries_no_key_elsewhere",
    "8 JPY, ISK, KWD, negative refund": f"{SPEND}/test_rules.py::test_8_amounts_have_the_exponent_of_their_currency_and_a_refund_is_negative",
    "8 null user": f"{SPEND}/test_rules.py::test_8_an_entry_without_a_user_or_supplier_is_archived",
    "8 unknown family": f"{SPEND}/test_rules.py::test_8_an_entry_of_a_family_nobody_knows_is_archived_as_it_is",
    "9 field added, removed, renamed, retyped": "sources/connector/test_standing.py::test_fields_that_change_between_runs_are_kept_and_told",
    "9 module turned off mid-run": f"{CRM}/test_troubles.py::test_a_module_that_is_turned_off_in_the_middle_is_told_and_the_rest_goes_on",
    "10 killed at every step": "faults/test_connector_kills.py::test_killed_at_a_step_the_same_command_again_gives_the_same_archive",
}
ENDURED = {
    "tokens expiring": f"{CRM}/test_troubles.py::test_tokens_that_end_in_the_middle_of_a_plan_are_renewed_once_each",
    "refresh racing in 8 threads": "services/test_access.py::test_eight_threads_renew_once",
    "refresh racing in processes": "services/test_access.py::test_processes_share_a_rotating_pair",
    "429 storms": f"{CRM}/test_troubles.py::test_a_storm_of_429_in_a_plan_costs_time_and_nothing_else",
    "floods of 10,000 hostile posts": f"{INBOX}/test_flood.py::test_a_flood_of_hostile_messages_gives_no_5xx_and_good_ones_among_them_are_kept_once",
    "no secret in any output": "services/test_canary.py::test_no_secret_is_told_or_written_anywhere_but_in_its_keep",
    "samples/crm": "test_samples_crm.py::test_the_walk_ends_well_and_each_run_takes_what_it_should",
    "samples/spend": "test_samples_spend.py::test_the_walk_ends_well_and_each_run_takes_what_it_should",
    "noarkit mcp": "assistant/test_mcp.py::test_an_assistant_scans_validates_and_compares_below_a_root_and_is_shown_nothing_else",
}  # fmt: skip


@cache
def held_by(path: str) -> frozenset[str]:
    """The tests that a file holds."""
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", [*INTERFACE, *RULES, *ENDURED])
def test_every_promise_has_a_test(promise: str) -> None:
    path, _, name = (INTERFACE | RULES | ENDURED)[promise].partition("::")
    assert name in held_by(path), "the test was renamed or taken away: name the one that shows this now"
