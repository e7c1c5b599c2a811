"""Everything an archive can do beside the hot calls, as calls over the port: what wraps an archive wraps these too.

Each method raises what `Archive.call` raises. Those that change something are answered by a dry run without being sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal

from noarkit.archive import register_wire as wire
from noarkit.archive.optional import answer_or
from noarkit.archive.port import Archive
from noarkit.archive.registers import (
    AccessGroup,
    BusinessField,
    BusinessGroup,
    ChangesOf,
    FullTextQuery,
    Hits,
    ListedCode,
    ListedCodes,
    LogEntries,
    OnRegistry,
    Permission,
    Place,
)
from noarkit.archive.values import Call, Json

_PAGE = 100
_SOME = 100
_IMPORTED_AT_ONCE = 1000


class Administration:
    """The further calls of one archive. Holds nothing but the archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def me(self) -> str:
        """The id of the account we are."""
        answer = self._archive.call(Call("me", "GET", ("info", "me"), optional=True))
        return wire.text(wire.members(answer, "me"), "userId", "me")

    def code_lists(self, type_name: str | None = None, field: str | None = None) -> tuple[ListedCodes, ...]:
        """The code lists, one entry for each type and field that has one; all, or of a type, or of a field."""
        query = wire.without_unset(type=type_name, field=field)
        answer = self._archive.call(Call("code_lists", "GET", ("code-lists",), query))
        return tuple(wire.code_list(entry) for entry in wire.results(answer, "code_lists"))

    def put_code(self, list_name: str, code: ListedCode) -> ListedCode:
        """Creates or replaces a value of a code list."""
        body = wire.code_body(code)
        rehearsed: Json = {**wire.rehearsed_answer(body), "code": code.code}
        answer = self._change("put_code", "PUT", ("code-lists", list_name, code.code), body, rehearsed)
        return wire.code(answer, "put_code")

    def delete_code(self, list_name: str, code: str) -> None:
        """Takes a value out of a code list; one in use is refused."""
        self._change("delete_code", "DELETE", ("code-lists", list_name, code))

    def business_groups(self, group_id: str | None = None, field_id: str | None = None) -> tuple[BusinessGroup, ...]:
        """The registry of business-specific metadata; all, or one group, or one field."""
        query = wire.without_unset(groupId=group_id, fieldId=field_id)
        answer = self._archive.call(Call("business_groups", "GET", ("bsm-registry",), query))
        return tuple(wire.business_group(entry) for entry in wire.results(answer, "business_groups"))

    def put_business_group(self, group: BusinessGroup) -> None:
        """Creates or replaces a group; its fields have calls of their own."""
        body = {"groupName": group.name, **wire.without_unset(groupDescription=group.description)}
        self._change("put_business_group", "PUT", ("bsm-registry", "group", group.id), body)

    def delete_business_group(self, group_id: str) -> None:
        """Takes a group out of the registry."""
        self._change("delete_business_group", "DELETE", ("bsm-registry", "group", group_id))

    def put_business_field(self, group_id: str, field: BusinessField) -> None:
        """Creates or replaces a field of a group; its kind cannot change."""
        path = ("bsm-registry", "group", group_id, "field", field.id)
        self._change("put_business_field", "PUT", path, wire.business_field_body(field))

    def delete_business_field(self, group_id: str, field_id: str) -> None:
        """Takes a field out of its group."""
        path = ("bsm-registry", "group", group_id, "field", field_id)
        self._change("delete_business_field", "DELETE", path)

    def search(self, query: FullTextQuery) -> Hits:
        """Searches in texts and metadata."""
        body = wire.full_text_body(query)
        return wire.hits(self._archive.call(Call("search", "POST", ("full-text", "search"), body=body)))

    def set_text(self, version_id: str, text: str | None) -> None:
        """Says what the text of a document version is; None: it has none."""
        body = {"dokumentversjonId": version_id, **wire.without_unset(tekst=text)}
        self._change("set_text", "POST", ("full-text", "set"), body)

    def changes(self, request: ChangesOf) -> LogEntries:
        """Some entries of the change log of an object."""
        body = wire.changes_body(request)
        answer = self._archive.call(Call("changes", "POST", ("logs", "change-log"), body=body))
        return wire.log_entries(answer, "changes", request.offset)

    def all_changes(self, object_id: str, type_name: str | None = None) -> Iterator[Mapping[str, Json]]:
        """Every entry of the change log of an object and what is below it."""
        offset = 0
        while True:
            page = self.changes(ChangesOf(object_id, type_name, offset=offset))
            yield from page.entries
            offset += len(page.entries)
            if not page.has_more or not page.entries:
                return

    def exported_changes(
        self,
        *,
        after: int = 0,
        kinds: Sequence[str] = (),
        not_by: Sequence[str] = (),
        but_of: Sequence[str] = (),
        page_size: int | None = None,
    ) -> Iterator[Mapping[str, Json]]:
        """Every entry of the change log of the whole archive, of these kinds and not by these accounts, whose changes
        of the fields `but_of` come all the same.

        Only our own embedded archive can, and only for accounts that read everything: others refuse, or know no such
        call.
        """
        while True:
            body: dict[str, Json] = {"after": after, "revisionTypes": list(kinds), "notByUserIds": list(not_by)}
            if not_by and but_of:
                body["exceptFields"] = list(but_of)
            if page_size is not None:
                body["limit"] = page_size
            path = ("logs", "change-log", "export")
            call = Call("exported_changes", "POST", path, body=body, optional=True)
            page = wire.log_entries(self._archive.call(call), "changes", 0)
            yield from page.entries
            if not page.has_more or not page.entries:
                return
            after = int(str(page.entries[-1].get("revisionId", 0)))

    def changes_of_all(
        self,
        fonds_ids: Callable[[], Iterable[str]],
        *,
        kinds: Sequence[str],
        not_by: Sequence[str],
        but_of: Sequence[str] = (),
    ) -> Iterator[Mapping[str, Json]]:
        """Every entry that may be of these kinds and by others than these accounts, or of the fields `but_of`: at once
        from an archive that can, else every entry of each fonds, tree by tree."""
        exported = self.exported_changes(kinds=kinds, not_by=not_by, but_of=but_of)
        first = answer_or(None, lambda: list(islice(exported, 1)), own_address=True)
        if first is not None:
            yield from first
            yield from exported
            return
        for fonds in fonds_ids():
            yield from self.all_changes(fonds, "Arkiv")

    def import_changes(self, entries: Iterable[Mapping[str, Json]]) -> int:
        """Adds entries to the change log as another archive told them; says how many were new to it.

        Goes in portions, of which each is taken whole or not at all. Only our own embedded archive can.
        """
        entry_stream, imported = iter(entries), 0
        while batch := list(islice(entry_stream, _IMPORTED_AT_ONCE)):
            rehearsed: Json = {"imported": len(batch)}
            path = ("logs", "change-log", "import")
            answer = self._change("import_changes", "POST", path, {"entries": batch}, rehearsed)
            imported += wire.number(wire.members(answer, "import_changes"), "imported", "import_changes")
        return imported

    def accesses(self, filters: Mapping[str, Json], offset: int = 0, limit: int = _SOME) -> LogEntries:
        """Some entries of the access log; `filters` bear the wire's names (userName, objectUUIDs, …)."""
        return self._log("accesses", "access-log", filters, offset, limit)

    def downloads(self, filters: Mapping[str, Json], offset: int = 0, limit: int = _SOME) -> LogEntries:
        """Some entries of the download log; `filters` bear the wire's names."""
        return self._log("downloads", "download-log", filters, offset, limit)

    def bulk_close(self, type_name: str, object_id: str) -> None:
        """Has an object and all below it finalised, later. What does not exist is refused at once."""
        self._bulk("close", {"type": type_name, "id": object_id})

    def bulk_open(self, type_name: str, object_id: str) -> None:
        """Has an object and all below it opened again, later."""
        self._bulk("open", {"type": type_name, "id": object_id})

    def bulk_delete(
        self, type_name: str, object_id: str, *, version: str | None = None, with_precedents: bool = False
    ) -> None:
        """Has an object and all below it deleted, later; what precedents refer to only where told so."""
        body = {"type": type_name, "id": object_id, "deleteObjectsLinkedToPrecedents": with_precedents}
        self._bulk("delete", body | wire.without_unset(version=version))

    def expand_folder(self, folder_id: str, case_file: Mapping[str, Json]) -> None:
        """Makes a Saksmappe of a Mappe. Only newer archives can."""
        self._change("expand_folder", "POST", ("expand", "folder"), {"id": folder_id, "saksmappe": case_file})

    def expand_record(
        self, record_id: str, journal_post: Mapping[str, Json], parties: Sequence[Mapping[str, Json]] = ()
    ) -> None:
        """Makes a Journalpost of a Basisregistrering. Only newer archives can."""
        body = {"id": record_id, "journalpost": journal_post, "korrespondansepart": list(parties)}
        self._change("expand_record", "POST", ("expand", "record"), body)

    def own_rights(self) -> tuple[frozenset[str], frozenset[str]]:
        """The service permissions and the explicit permissions there are."""
        answer = wire.members(self._archive.call(Call("own_rights", "GET", ("access-group", "info"))), "own_rights")
        return frozenset(wire.texts(answer, "servicePermissions")), frozenset(wire.texts(answer, "explicitPermissions"))

    def access_groups(self) -> Iterator[AccessGroup]:
        """Every access group."""
        for entry in self._pages("access_groups", ("access-group",), "groups", {}):
            yield wire.access_group(entry, "access_groups")

    def access_group(self, group_id: int) -> AccessGroup:
        """One access group."""
        answer = self._archive.call(Call("access_group", "GET", ("access-group", str(group_id))))
        return wire.access_group(answer, "access_group")

    def add_access_group(self, group: AccessGroup) -> AccessGroup:
        """Makes a group, which can do nothing but what it says."""
        body = wire.access_group_body(group)
        rehearsed: Json = {**wire.rehearsed_answer(body), "id": 0}
        return wire.access_group(
            self._change("add_access_group", "POST", ("access-group",), body, rehearsed), "add_access_group"
        )

    def set_access_group(self, group: AccessGroup) -> AccessGroup:
        """Gives the group of that id these members."""
        body = wire.access_group_body(group)
        rehearsed: Json = {**wire.rehearsed_answer(body), "id": group.id}
        path = ("access-group", str(group.id))
        return wire.access_group(self._change("set_access_group", "PUT", path, body, rehearsed), "set_access_group")

    def delete_access_group(self, group_id: int) -> None:
        """Has a group deleted, later."""
        self._change("delete_access_group", "DELETE", ("access-group", str(group_id)))

    def group_permissions(self, group_id: int) -> Iterator[Mapping[str, Json]]:
        """Every permission of a group, of whatever kind, as the archive tells it."""
        path = ("access-group", str(group_id), "permissions")
        yield from self._pages("group_permissions", path, "results", {})

    def steers_access(self, kind: Literal["klassifikasjons-system", "code-list"], name: str) -> bool:
        """Whether a classification system (by id) or a code list (by name) takes part in access control."""
        answer = self._archive.call(Call("steers_access", "GET", ("access-modifier", kind, name)))
        return wire.members(answer, "steers_access").get("determinesAccessControl") is True

    def set_steers_access(self, kind: Literal["klassifikasjons-system", "code-list"], name: str, steers: bool) -> None:
        """Lets a classification system or a code list take part in access control, or not."""
        body = {"id": name, "determinesAccessControl": steers}
        self._change("set_steers_access", "POST", ("access-modifier", kind), body)

    def permissions(self, place: Place, group_id: int | None = None) -> Iterator[Permission]:
        """Every permission at a place, of all groups or of one."""
        query = {
            **wire.place_query(place),
            **wire.without_unset(accessGroupId=None if group_id is None else str(group_id)),
        }
        for entry in self._pages("permissions", ("permission", wire.place_kind(place)), "permissions", query):
            yield wire.permission(entry, place)

    def add_permission(self, permission: Permission) -> Permission:
        """Grants a group permissions at a place where it has none yet."""
        return self._set_permission("add_permission", "POST", permission)

    def set_permission(self, permission: Permission) -> Permission:
        """Replaces a group's permissions at a place."""
        return self._set_permission("set_permission", "PUT", permission)

    def delete_permission(self, place: Place, group_id: int | None = None) -> None:
        """Takes the permissions at a place away, from one group or from all."""
        query = {
            **wire.place_query(place),
            **wire.without_unset(accessGroupId=None if group_id is None else str(group_id)),
        }
        path = ("permission", wire.place_kind(place))
        self._archive.call(Call("delete_permission", "DELETE", path, query, changes=True))

    def _set_permission(self, name: str, method: Literal["POST", "PUT"], permission: Permission) -> Permission:
        body = wire.permission_body(permission)
        path = ("permission", wire.place_kind(permission.place))
        return wire.permission(self._change(name, method, path, body, wire.rehearsed_answer(body)), permission.place)

    def _bulk(self, verb: str, body: Mapping[str, object]) -> None:
        self._change(f"bulk_{verb}", "POST", ("bulk", verb), body)

    def _log(self, name: str, log: str, filters: Mapping[str, Json], offset: int, limit: int) -> LogEntries:
        body = {**filters, "offset": offset, "limit": limit}
        return wire.log_entries(self._archive.call(Call(name, "POST", ("logs", log), body=body)), name, offset)

    def _pages(
        self, name: str, path: tuple[str, ...], member: str, query: Mapping[str, str]
    ) -> Iterator[Mapping[str, Json]]:
        offset = 0
        while True:
            page_query = {**query, "offset": str(offset), "limit": str(_PAGE)}
            answer = self._archive.call(Call(name, "GET", path, page_query))
            batch = wire.results(answer, name, member)
            yield from batch
            offset += len(batch)
            if not batch or wire.members(answer, name).get("hasMore") is not True:
                return

    def _change(
        self,
        name: str,
        method: Literal["POST", "PUT", "DELETE"],
        path: tuple[str, ...],
        body: Mapping[str, object] | None = None,
        rehearsed: Json = None,
    ) -> Json:
        return self._archive.call(Call(name, method, path, body=body, changes=True, rehearsed=rehearsed))


def registry(name: Literal["bsm-registry", "precedent-registry"]) -> OnRegistry:
    """The place of permissions on a whole registry."""
    return OnRegistry(name)
