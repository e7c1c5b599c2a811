"""Each call of the wire format with the tests that hold it: `module:test`, where the module is one of this folder.

401, 405 and, for calls with a body, 415 and malformed bodies are not listed: `test_every_call` tries them on all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STREAMS = (("POST", "upload"), ("GET", "download"))
# Calls of our own, beyond the wire format, with the test module that holds them.
OWN = {
    ("POST", "light-pdf/set"): "tests.server.test_downloads",
    ("POST", "logs/change-log/export"): "tests.server.test_change_export",
    ("POST", "logs/change-log/import"): "tests.server.test_logs",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call, the test of its success, and those of its failures by status."""

    method: str
    path: str
    success: str
    failures: Mapping[int, str]

    @property
    def has_body(self) -> bool:
        """True for the calls that take JSON."""
        return self.method in ("POST", "PUT") and self.path != "upload"

    @property
    def example(self) -> str:
        """The path with something in each of its places."""
        parts = ("skjerming" if part == "{list}" else "1" if part[:1] == "{" else part for part in self.path.split("/"))
        return "/".join(parts)


def _permission(kind: str) -> tuple[Call, ...]:
    path, tests = f"permission/{kind}", "test_permission_calls:"
    made = f"{tests}test_a_grant_is_made_told_changed_and_taken_away"
    bad, closed = f"{tests}test_a_grant_that_makes_no_sense_is_400", f"{tests}test_grants_are_for_those_who_may_grant"
    absent, once = (
        f"{tests}test_a_group_that_is_not_there_gets_nothing",
        f"{tests}test_a_grant_is_made_once_and_changed_only_where_it_is",
    )
    unknown = {
        "entity": f"{tests}test_an_object_that_cannot_bear_grants",
        "code-list": f"{tests}test_a_list_that_cannot_bear_grants",
    }.get(kind)
    listed = {400: f"{tests}test_a_page_of_grants_has_limits", 403: closed} | ({404: unknown} if unknown else {})
    return (
        Call("GET", path, made, listed),
        Call("POST", path, made, {400: bad, 403: closed, 404: absent, 409: once}),
        Call("PUT", path, made, {400: bad, 403: closed, 404: once}),
        Call("DELETE", path, made, {400: bad, 403: closed, 404: once}),
    )


CALLS: tuple[Call, ...] = (
    Call(
        "POST",
        "query",
        "test_query:test_a_page_holds_objects_as_transactions_tell_them",
        {400: "test_query:test_a_query_that_makes_no_sense_is_400"},
    ),
    Call(
        "POST",
        "upload",
        "test_files:test_an_upload_answers_with_the_id_of_the_file",
        {
            400: "test_files:test_an_upload_without_a_good_name_is_400",
            403: "test_files:test_an_upload_needs_its_permission",
            413: "test_files:test_an_upload_over_the_limit_is_413",
        },
    ),
    Call(
        "POST",
        "transaction",
        "test_transaction:test_what_was_saved_is_told_by_the_id_of_the_request",
        {
            400: "test_transaction_malformed:test_a_malformed_body_is_400",
            403: "test_transaction_rights:test_a_write_needs_its_permission",
            404: "test_transaction_malformed:test_what_is_not_there_is_404",
            409: "test_transaction_rules:test_a_stale_version_is_409",
        },
    ),
    Call(
        "GET",
        "download",
        "test_files:test_a_registered_file_has_the_access_rules_of_its_version",
        {
            400: "test_files:test_a_download_of_nothing_is_refused",
            404: "test_files:test_a_download_of_nothing_is_refused",
        },
    ),
    Call(
        "POST",
        "full-text/search",
        "test_full_text:test_a_search_tells_ids_highlights_and_facets",
        {400: "test_full_text:test_a_search_that_makes_no_sense_is_400"},
    ),
    Call(
        "POST",
        "full-text/set",
        "test_full_text:test_the_text_of_a_version_is_set_found_and_taken_away",
        {
            400: "test_full_text:test_a_text_that_makes_no_sense_is_400",
            403: "test_full_text:test_setting_a_text_needs_update",
            404: "test_full_text:test_the_text_of_what_is_not_there_is_404",
        },
    ),
    Call(
        "GET",
        "code-lists",
        "test_code_list_calls:test_one_list_of_one_type",
        {400: "test_code_list_calls:test_an_unknown_type_is_400"},
    ),
    Call(
        "PUT",
        "code-lists/{list}/{code}",
        "test_code_list_calls:test_a_value_is_made_replaced_and_used_at_once",
        {
            400: "test_code_list_calls:test_a_value_that_makes_no_sense_is_400",
            403: "test_code_list_calls:test_editing_needs_its_permission",
            404: "test_code_list_calls:test_a_list_or_value_that_is_not_there_is_404",
        },
    ),
    Call(
        "DELETE",
        "code-lists/{list}/{code}",
        "test_code_list_calls:test_a_screening_carries_its_authority",
        {
            403: "test_code_list_calls:test_editing_needs_its_permission",
            404: "test_code_list_calls:test_a_list_or_value_that_is_not_there_is_404",
            409: "test_code_list_calls:test_a_value_in_use_stays",
        },
    ),
    Call(
        "GET",
        "bsm-registry",
        "test_bsm_calls:test_the_registry_tells_groups_with_their_fields",
        {400: "test_bsm_calls:test_ids_asked_for_must_be_ids"},
    ),
    Call(
        "PUT",
        "bsm-registry/group/{group}",
        "test_bsm_calls:test_a_group_is_made_and_replaced",
        {
            400: "test_bsm_calls:test_a_group_that_makes_no_sense_is_400",
            403: "test_bsm_calls:test_the_registry_needs_permissions_of_its_own",
        },
    ),
    Call(
        "DELETE",
        "bsm-registry/group/{group}",
        "test_bsm_calls:test_fields_and_groups_are_taken_away",
        {
            400: "test_bsm_calls:test_ids_are_lower_case_letters_digits_and_dashes",
            403: "test_bsm_calls:test_the_registry_needs_permissions_of_its_own",
            404: "test_bsm_calls:test_what_is_not_there_cannot_be_taken_away",
            409: "test_bsm_calls:test_what_is_in_use_stays",
        },
    ),
    Call(
        "PUT",
        "bsm-registry/group/{group}/field/{field}",
        "test_bsm_calls:test_a_field_is_made_with_or_without_fixed_values",
        {
            400: "test_bsm_calls:test_a_field_that_makes_no_sense_is_400",
            403: "test_bsm_calls:test_the_registry_needs_permissions_of_its_own",
            404: "test_bsm_calls:test_a_field_of_no_group_is_404",
        },
    ),
    Call(
        "DELETE",
        "bsm-registry/group/{group}/field/{field}",
        "test_bsm_calls:test_fields_and_groups_are_taken_away",
        {
            400: "test_bsm_calls:test_ids_are_lower_case_letters_digits_and_dashes",
            403: "test_bsm_calls:test_the_registry_needs_permissions_of_its_own",
            404: "test_bsm_calls:test_what_is_not_there_cannot_be_taken_away",
            409: "test_bsm_calls:test_what_is_in_use_stays",
        },
    ),
    Call(
        "POST",
        "logs/change-log",
        "test_log_calls:test_each_change_is_told_with_what_goes_with_it",
        {
            400: "test_log_calls:test_a_change_log_of_nothing_is_400",
            403: "test_log_calls:test_logs_need_their_permission",
            404: "test_log_calls:test_changes_of_what_is_not_there_or_may_not_be_read_are_404",
        },
    ),
    Call(
        "POST",
        "logs/access-log",
        "test_log_calls:test_a_read_is_told_with_who_what_and_when",
        {
            400: "test_log_calls:test_a_log_of_reads_asked_for_badly_is_400",
            403: "test_log_calls:test_logs_need_their_permission",
        },
    ),
    Call(
        "POST",
        "logs/download-log",
        "test_log_calls:test_a_download_is_told_with_who_what_and_when",
        {
            400: "test_log_calls:test_a_log_of_reads_asked_for_badly_is_400",
            403: "test_log_calls:test_logs_need_their_permission",
        },
    ),
    Call(
        "POST",
        "bulk/close",
        "test_bulk_calls:test_a_close_is_accepted_at_once_and_cascades_soon",
        {
            400: "test_bulk_calls:test_bulk_work_on_nothing_is_400",
            403: "test_bulk_calls:test_bulk_work_needs_its_permissions",
            404: "test_bulk_calls:test_existence_and_readability_are_judged_at_once",
        },
    ),
    Call(
        "POST",
        "bulk/open",
        "test_bulk_calls:test_an_open_is_accepted_at_once_and_cascades_soon",
        {
            400: "test_bulk_calls:test_bulk_work_on_nothing_is_400",
            403: "test_bulk_calls:test_bulk_work_needs_its_permissions",
            404: "test_bulk_calls:test_existence_and_readability_are_judged_at_once",
        },
    ),
    Call(
        "POST",
        "bulk/delete",
        "test_bulk_calls:test_a_delete_is_accepted_at_once_and_done_soon",
        {
            400: "test_bulk_calls:test_a_delete_that_makes_no_sense_is_400",
            403: "test_bulk_calls:test_bulk_work_needs_its_permissions",
            404: "test_bulk_calls:test_existence_and_readability_are_judged_at_once",
            409: "test_bulk_calls:test_a_newer_version_is_409",
        },
    ),
    Call("GET", "access-group/info", "test_access_group_calls:test_what_can_be_granted_is_told_to_everybody", {}),
    Call(
        "GET",
        "access-group",
        "test_access_group_calls:test_groups_come_page_by_page",
        {
            400: "test_access_group_calls:test_a_page_of_groups_has_limits",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
        },
    ),
    Call(
        "GET",
        "access-group/{id}",
        "test_access_group_calls:test_a_group_is_made_told_and_listed",
        {
            400: "test_access_group_calls:test_a_group_that_is_not_there",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
            404: "test_access_group_calls:test_a_group_that_is_not_there",
        },
    ),
    Call(
        "GET",
        "access-group/{id}/permissions",
        "test_access_group_calls:test_all_that_a_group_was_granted_is_told",
        {
            400: "test_access_group_calls:test_a_page_of_groups_has_limits",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
            404: "test_access_group_calls:test_a_group_that_is_not_there",
        },
    ),
    Call(
        "POST",
        "access-group",
        "test_access_group_calls:test_a_group_is_made_told_and_listed",
        {
            400: "test_access_group_calls:test_a_group_that_makes_no_sense_is_400",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
            409: "test_access_group_calls:test_a_name_is_taken_once",
        },
    ),
    Call(
        "PUT",
        "access-group/{id}",
        "test_access_group_calls:test_an_update_replaces_what_it_gives_and_leaves_the_rest",
        {
            400: "test_access_group_calls:test_an_update_that_makes_no_sense_is_400",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
            404: "test_access_group_calls:test_a_group_that_is_not_there",
            409: "test_access_group_calls:test_a_name_is_taken_once",
        },
    ),
    Call(
        "DELETE",
        "access-group/{id}",
        "test_access_group_calls:test_a_deleted_group_is_gone_soon",
        {
            400: "test_access_group_calls:test_a_group_that_is_not_there",
            403: "test_access_group_calls:test_groups_are_for_those_in_charge",
            404: "test_access_group_calls:test_a_group_that_is_not_there",
            409: "test_access_group_calls:test_the_last_group_in_charge_stays",
        },
    ),
    Call(
        "POST",
        "access-modifier/klassifikasjons-system",
        "test_access_group_calls:test_a_classification_system_is_told_to_determine_access",
        {
            400: "test_access_group_calls:test_a_modifier_that_makes_no_sense_is_400",
            403: "test_access_group_calls:test_modifiers_are_for_those_who_may_grant",
            404: "test_access_group_calls:test_a_modifier_of_what_is_not_there",
        },
    ),
    Call(
        "GET",
        "access-modifier/klassifikasjons-system/{id}",
        "test_access_group_calls:test_a_classification_system_is_told_to_determine_access",
        {
            400: "test_access_group_calls:test_a_modifier_of_what_is_not_there",
            403: "test_access_group_calls:test_modifiers_are_for_those_who_may_grant",
            404: "test_access_group_calls:test_a_modifier_of_what_is_not_there",
        },
    ),
    Call(
        "POST",
        "access-modifier/code-list",
        "test_access_group_calls:test_a_code_list_is_told_to_determine_access",
        {
            400: "test_access_group_calls:test_a_modifier_that_makes_no_sense_is_400",
            403: "test_access_group_calls:test_modifiers_are_for_those_who_may_grant",
        },
    ),
    Call(
        "GET",
        "access-modifier/code-list/{id}",
        "test_access_group_calls:test_a_code_list_is_told_to_determine_access",
        {
            403: "test_access_group_calls:test_modifiers_are_for_those_who_may_grant",
            404: "test_access_group_calls:test_a_modifier_of_what_is_not_there",
        },
    ),
    *_permission("entity"),
    *_permission("code-list"),
    *_permission("bsm-registry"),
    *_permission("precedent-registry"),
)
NEWER: tuple[Call, ...] = (
    Call(
        "POST",
        "expand/folder",
        "test_newer_calls:test_a_folder_becomes_a_case_file",
        {
            400: "test_newer_calls:test_a_folder_that_cannot_be_expanded_is_400",
            403: "test_newer_calls:test_expanding_needs_update",
            404: "test_newer_calls:test_what_is_not_there_or_something_else_is_404",
        },
    ),
    Call(
        "POST",
        "expand/record",
        "test_newer_calls:test_a_record_becomes_a_registry_entry_with_parties",
        {
            400: "test_newer_calls:test_a_record_that_cannot_be_expanded_is_400",
            403: "test_newer_calls:test_expanding_needs_update",
            404: "test_newer_calls:test_what_is_not_there_or_something_else_is_404",
        },
    ),
    Call("GET", "info/me", "test_newer_calls:test_me_is_the_id_of_the_account", {}),
)
EVERY = (*CALLS, *NEWER)
WITH_BODY = tuple(call for call in EVERY if call.has_body)
