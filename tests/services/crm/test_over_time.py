"""A CRM over time: what is edited while a run reads, becomes visible late, bears no time, or is deleted. Nothing is
lost between one run and the next, and nothing is said twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path

import pytest

from noarkit.safe.clocks import utc_text
from noarkit.services.port import Item
from tests.services.crm.over_time import Connection, Json, RunFindings, connection
from tests.services.scripted import Asked

RELATED, PAPERS = ("Quotes", "Tasks"), ("Notes", "Attachments", "Emails")
FIRST = 4_150_868_030_000_000_000


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Connection]:
    """A CRM that nobody has read yet."""
    with connection(tmp_path) as found:
        yield found


def case_of(item: Item) -> str:
    """The id of the case that an item belongs to."""
    case = item.fields["case"]
    assert isinstance(case, dict)
    return str(case["id"])


def full_case(found: RunFindings, *, is_closed: bool | None = None) -> str:
    """A deal with notes, attachments and emails."""
    for item in found.items.values():
        case = item.fields["case"]
        assert isinstance(case, dict)
        if item.stream == "Deals" and is_closed in (None, case["closed"]):
            streams = {one.stream for one in found.items.values() if case_of(one) == case["id"]}
            if streams >= set(PAPERS):
                return str(case["id"])
    raise AssertionError("no such case")


def one_of(found: RunFindings, stream: str, case: str = "") -> Item:
    """The first item of a stream, of this case if one is given."""
    return next(item for item in found.items.values() if item.stream == stream and case in ("", case_of(item)))


def id_of(key: str) -> str:
    """The service's id of an item that is no case."""
    return key.rpartition(":")[2]


@pytest.mark.parametrize("path", ["/Deals/actions/count", "/Quotes/actions/count"])
def test_what_hangs_on_a_deal_that_is_edited_while_a_run_reads_is_taken_with_it(there: Connection, path: str) -> None:
    ids = [str(FIRST + number) for number in range(5)]

    def edit_all(asked: Asked) -> None:
        if asked.path.endswith(path):
            there.between.before = lambda asked: None
            there.held.control("change", module="Deals", put=[{"id": one, "Description": "endret"} for one in ids])

    there.between.before = edit_all
    there.run()
    assert there.lacks() == set(), "it is taken as it is"
    assert {case_of(item) for item in there.run().items.values() if item.stream == "Deals"} == set(ids)


def test_a_case_that_is_made_while_a_run_reads_comes_with_all_that_hangs_on_it(there: Connection) -> None:
    def make(asked: Asked) -> None:
        if asked.path.endswith("/Quotes/actions/count"):
            there.between.before = lambda asked: None
            deal = {"id": "4150868099", "Deal_Name": "Ny avtale", "Stage": "Closed Won"}
            there.held.control("change", module="Deals", put=[deal])
            look_up = {"id": deal["id"], "name": "Ny avtale"}
            quote = {"id": "4150868098", "Subject": "Nytt tilbud", "Deal_Name": look_up}
            there.held.control("change", module="Quotes", put=[quote])
            there.held.control("note", deal=deal["id"], title="Nytt notat")
            there.held.control("attach", deal=deal["id"], name="nytt.txt")

    there.between.before = make
    there.run()
    lacking = there.lacks()
    assert len(lacking) == 4, "it came behind the list of deals"
    there.marks = {name: mark + timedelta(hours=1) for name, mark in there.marks.items()}  # no time tells of it
    assert there.run().items.keys() >= lacking
    assert there.lacks() == set()


def test_a_case_that_becomes_visible_late_is_read_whole_whatever_its_times_say(there: Connection) -> None:
    case = full_case(there.run(), is_closed=True)
    assert there.forget(f":{case}:") > 3
    lacking = there.lacks()
    assert there.run().items.keys() >= lacking
    assert there.lacks() == set()
    assert not [key for key in there.run().items if f":{case}:" in key], "and only once"


def test_what_hangs_on_a_known_case_and_becomes_visible_late_comes_with_the_next_run(there: Connection) -> None:
    first = there.run()
    keys = {one_of(first, stream).key for stream in (*RELATED, "Notes")}
    for key in keys:
        there.forget(key)
    assert there.lacks() == keys <= there.run().items.keys()
    assert there.lacks() == set()


def test_a_sweep_looks_through_closed_cases_and_reads_what_changed_without_a_new_time(there: Connection) -> None:
    first = there.run()
    closed = full_case(first, is_closed=True)
    late = {one_of(first, stream, closed).key for stream in ("Attachments", "Emails")}
    for key in late:
        there.forget(key)
    records = {one_of(first, stream).key for stream in ("Deals", "Cases", "Notes", *RELATED)}
    calm = there.run()
    assert not (late | records) & calm.items.keys()
    assert there.run(sweep=True).items.keys() >= late | records
    assert there.lacks() == set()


def test_each_deletion_is_told_once(there: Connection) -> None:
    first = there.run()
    deal = full_case(first)
    for stream in RELATED:
        there.held.control("change", module=stream, delete=[id_of(one_of(first, stream).key)])
    there.held.control("change", module="Deals", delete=[deal])
    there.held.control("change", module="Cases", delete=[case_of(one_of(first, "Cases"))])
    cases = {deal, case_of(one_of(first, "Cases"))}
    below = {key for key, item in first.items.items() if case_of(item) in cases and item.stream not in RELATED}
    emails = {key for key in below if first.items[key].stream == "Emails"}
    second = there.run()
    assert sorted(second.deletions) == sorted(below - emails | {one_of(first, stream).key for stream in RELATED})
    assert set(there.run(sweep=True).deletions) == emails, "an email does not say which case it belongs to"
    for sweep in (False, True):
        later = there.run(sweep=sweep)
        assert (later.deletions, later.failures) == ([], [])


def test_the_deletion_of_a_paper_is_told_once_and_what_comes_back_is_read(there: Connection) -> None:
    first = there.run()
    deal = full_case(first, is_closed=True)
    papers = {stream: one_of(first, stream, deal).key for stream in PAPERS}
    there.between.absent_ids |= {id_of(key) for key in papers.values()}
    assert there.run().deletions == [papers["Notes"]]
    assert set(there.run(sweep=True).deletions) == {papers["Attachments"], papers["Emails"]}
    assert there.run(sweep=True).deletions == []
    there.between.absent_ids.clear()
    assert there.run(sweep=True).items.keys() >= set(papers.values())
    assert there.lacks() == set()


def test_the_deletion_of_an_attachment_of_an_open_case_needs_no_sweep(there: Connection) -> None:
    first = there.run()
    item = next(
        item for item in first.items.values()
        if item.stream == "Attachments" and not item.fields["case"]["closed"]  # type: ignore[index]  # a table
    )  # fmt: skip
    there.between.absent_ids.add(id_of(item.key))
    assert there.run().deletions == [item.key]


@pytest.mark.parametrize("remembers_places", [True, False])
def test_a_case_that_is_hidden_is_not_deleted_and_neither_is_what_hangs_on_it(
    there: Connection, *, remembers_places: bool
) -> None:
    there.remembers_places = remembers_places  # archives that were loaded before tell no places of emails
    first = there.run()
    case = full_case(first)
    there.between.absent_ids |= {case, *(id_of(key) for key, item in first.items.items() if case_of(item) == case)}
    deleted = next(item.key for item in first.items.values() if item.stream == "Emails" and case_of(item) != case)
    there.between.absent_ids.add(id_of(deleted))
    assert there.run().deletions == []
    assert there.run(sweep=True).deletions == ([deleted] if remembers_places else [])
    there.between.absent_ids -= {case, *(id_of(key) for key, item in first.items.items() if case_of(item) == case)}
    assert there.run(sweep=True).deletions == ([] if remembers_places else [deleted])
    there.between.absent_ids.clear()
    there.run(sweep=True)
    assert there.lacks() == set()


def test_a_note_whose_case_is_hidden_after_it_was_listed_is_not_deleted(there: Connection) -> None:
    first = there.run()
    case = full_case(first)
    notes = {item.key for item in first.items.values() if item.stream == "Notes" and case_of(item) == case}
    deleted = next(item.key for item in first.items.values() if item.stream == "Notes" and case_of(item) != case)

    def hide(asked: Asked) -> None:
        if asked.path.endswith("/Notes"):
            there.between.absent_ids |= {case, *map(id_of, notes), id_of(deleted)}

    there.between.before = hide
    assert there.run().deletions == [deleted]
    there.between.before = lambda asked: None
    there.between.absent_ids -= {case}
    assert sorted(there.run().deletions) == sorted(notes)


def test_records_that_are_asked_for_by_their_ids_may_come_in_pages(there: Connection) -> None:
    there.run()
    there.between.page_rows = 1
    assert there.forget("Deals") > 1  # so that more records are read by their ids than a page holds
    assert sorted(there.run().deletions) == []
    assert there.lacks() == set()


def test_a_deletion_before_the_mark_is_told_by_the_next_sweep(there: Connection) -> None:
    quote = one_of(there.run(), "Quotes")
    there.held.control("change", module="Quotes", delete=[id_of(quote.key)])
    for sweep, deletions in ((False, []), (True, [quote.key])):
        there.marks = {name: mark + timedelta(hours=1) for name, mark in there.marks.items()}
        assert there.run(sweep=sweep).deletions == deletions


def test_what_moves_to_another_case_is_not_deleted(there: Connection) -> None:
    first = there.run()
    quote = one_of(first, "Quotes")
    deals = (case_of(item) for item in first.items.values() if item.stream == "Deals")
    other = next(deal for deal in deals if deal != case_of(quote))
    moved = {"id": id_of(quote.key), "Deal_Name": {"id": other, "name": "…"}}
    there.held.control("change", module="Quotes", put=[moved])
    second = there.run()
    assert second.deletions == []
    assert [item.key for item in second.items.values() if item.stream == "Quotes" and case_of(item) == other]
    there.held.control("change", module="Quotes", delete=[moved["id"]])
    assert len(there.run().deletions) == 2, "the archive holds it under both"


def test_deletions_are_told_where_the_list_of_them_is_refused(there: Connection) -> None:
    first = there.run()
    quote = one_of(first, "Quotes")
    there.held.control("change", module="Quotes", delete=[id_of(quote.key)])
    there.between.refuses = lambda asked: asked.path.endswith("/deleted")
    found = there.run()
    assert (found.deletions, found.failures) == ([quote.key], [])


@pytest.mark.parametrize("value", [None, "yesterday", {"a": 1}])
def test_records_whose_times_are_none_are_taken_and_end_nothing(there: Connection, value: object) -> None:
    def spoil(asked: Asked, row: Json) -> None:
        for name in ("Modified_Time", "Last_Activity_Time", "deleted_time", "sent_time"):
            if name in row:
                row[name] = value

    there.between.edit = spoil
    first = there.run()
    assert first.failures == [] and there.lacks() == set()
    there.held.control("change", module="Quotes", delete=[id_of(one_of(first, "Quotes").key)])
    second = there.run()
    assert (second.failures, second.deletions) == ([], [one_of(first, "Quotes").key])
    read_again = {item.stream for item in second.items.values()}
    assert read_again >= {"Deals", "Notes", "Tasks"}, "whether they changed is not known"


def test_one_record_without_a_time_leaves_the_others_alone(there: Connection) -> None:
    deal = case_of(one_of(there.run(), "Deals"))

    def spoil(asked: Asked, row: Json) -> None:
        if row.get("id") == deal:
            row.pop("Modified_Time", None)

    there.between.edit = spoil
    second = there.run()
    assert second.failures == []
    assert {case_of(item) for item in second.items.values() if item.stream == "Deals"} == {deal}


def test_lists_that_shift_while_they_are_read_lose_nothing_and_delete_nothing(tmp_path: Path) -> None:
    with connection(tmp_path, 24, odd=True) as there:
        page_count = 0

        def stir(asked: Asked) -> None:
            """Between two pages of deals one that was read is edited, and later on two are deleted."""
            nonlocal page_count
            if asked.path.endswith("/Deals") and "sort_by" in asked.query:
                page_count += 1
                change = {"id": str(FIRST + page_count % 24), "Description": f"endret {page_count}"}
                there.held.control("change", module="Deals", put=[change])
                if page_count in (4, 6):
                    there.held.control("change", module="Deals", delete=[str(FIRST + page_count - 3)])

        there.between.page_rows = 3
        there.between.before = stir
        first = there.run()
        assert page_count > 7
        there.between.before = lambda asked: None
        assert there.lacks() == set()
        listed = {case_of(item) for item in first.items.values() if item.stream == "Deals"}
        second = there.run()
        gone = {key.split(":")[2] for key in second.deletions if key.endswith(":snapshot")}
        assert gone == listed & {str(FIRST + 1), str(FIRST + 3)}
        assert all(key.split(":")[2] in gone for key in second.deletions), second.deletions


def test_a_note_that_moved_past_a_page_is_not_deleted_and_comes_with_the_next_run(tmp_path: Path) -> None:
    with connection(tmp_path, 8) as there:
        skipped = 0

        def move_up(asked: Asked) -> None:
            """Somebody deleted a note that was read: the next page begins one note later than it did."""
            nonlocal skipped
            token = asked.query.get("page_token")
            if asked.path.endswith("/Notes") and token:
                skipped += 1
                token[0] = f"p{int(token[0].removeprefix('p')) + 1}"

        there.between.page_rows = 2
        there.between.before = move_up
        there.run()
        assert skipped > 1 and all(":note:" in key for key in there.lacks())
        assert len(there.lacks()) == skipped
        there.between.before = lambda asked: None
        there.run()
        assert there.lacks() == set()
        there.between.before = move_up
        assert there.run().deletions == []


def test_an_attachment_that_moved_past_a_page_is_taken_by_the_same_run(there: Connection) -> None:
    case = full_case(there.run())
    for number in range(3):
        there.held.control("attach", deal=case, name=f"nytt {number}.txt")

    def move_up(asked: Asked) -> None:
        """Somebody deleted an attachment that was read: the next page begins one later than it did."""
        token = asked.query.get("page_token")
        if asked.path.endswith(f"/{case}/Attachments") and token:
            there.between.before = lambda asked: None
            token[0] = f"p{int(token[0].removeprefix('p')) + 1}"

    there.between.page_rows = 1
    there.between.before = move_up
    assert {f"nytt {number}.txt" for number in range(3)} <= set(there.run(sweep=True).titles("Attachments"))


def test_attachments_that_could_not_be_listed_are_asked_for_again_though_their_case_did_not_change(
    there: Connection,
) -> None:
    case = full_case(there.run(), is_closed=True)
    there.held.control("change", module="Deals", put=[{"id": case, "Description": "endret"}])
    there.held.control("attach", deal=case, name="nytt.txt")
    there.between.refuses = lambda asked: f"/{case}/Attachments" in asked.path
    second = there.run()
    assert second.failures and "nytt.txt" not in second.titles("Attachments")
    assert second.deletions == [], "nor is a list that was refused an empty one"
    there.between.refuses = lambda asked: False
    there.marks["Deals"] += timedelta(seconds=5)  # the deal itself is older than its mark now
    assert "nytt.txt" in there.run().titles("Attachments")


def test_a_clock_of_the_service_that_is_behind_loses_no_change(there: Connection) -> None:
    lag = timedelta(hours=1)

    def set_back(asked: Asked, row: Json) -> None:
        for name in {"Modified_Time", "Created_Time"} & row.keys():
            row[name] = (datetime.fromisoformat(row[name]) - lag).isoformat()

    there.between.edit = set_back
    there.between.date = lambda: format_datetime(datetime.now(UTC) - lag)
    deal = one_of(there.run(), "Deals")
    minute = timedelta(minutes=1)  # our clock stands still here
    there.marks = {name: mark - minute for name, mark in there.marks.items()}
    there.held.control("change", module="Deals", put=[{"id": case_of(deal), "Description": "endret"}])
    assert deal.key in there.run().items


def test_a_change_that_shows_up_some_minutes_late_is_taken(there: Connection) -> None:
    quote = one_of(there.run(), "Quotes")
    there.held.control("change", module="Quotes", put=[{"id": id_of(quote.key), "Subject": "endret"}])
    late = timedelta(minutes=3) - there.crm.look_back
    there.marks = {name: mark + late for name, mark in there.marks.items()}
    assert quote.key in there.run().items


@pytest.mark.parametrize("hours", [-7, 5.5])
def test_the_zone_that_times_are_told_in_makes_no_difference(there: Connection, hours: float) -> None:
    zone = timezone(timedelta(hours=hours))

    def move_zone(asked: Asked, row: Json) -> None:
        for name in ("Modified_Time", "Created_Time", "Last_Activity_Time"):
            if row.get(name):
                row[name] = datetime.fromisoformat(row[name]).astimezone(zone).isoformat()

    there.between.edit = move_zone
    deal = one_of(there.run(), "Deals")
    there.held.control("change", module="Deals", put=[{"id": case_of(deal), "Description": "endret"}])
    assert [item.key for item in there.run().items.values() if item.stream == "Deals"] == [deal.key]


def test_of_records_that_changed_in_the_same_second_as_the_mark_none_is_lost(there: Connection) -> None:
    deals = [case_of(item) for item in there.run().items.values() if item.stream == "Deals"]
    there.held.control("change", module="Deals", put=[{"id": one, "Description": "endret"} for one in deals])
    newest = max(item.modified for item in there.run().items.values() if item.stream == "Deals" and item.modified)
    there.marks = dict.fromkeys(there.marks, newest)
    changed = [item for item in there.run().items.values() if item.stream == "Deals"]
    assert (
        {case_of(item) for item in changed} == {case_of(item) for item in changed if item.modified == newest} != set()
    )


@pytest.mark.parametrize("names", [("Created_Time",), ("Created_Time", "Modified_Time")])
def test_a_case_without_a_date_of_creation_bears_the_day_of_its_change_and_is_told(
    there: Connection, names: tuple[str, ...]
) -> None:
    def spoil(asked: Asked, row: Json) -> None:
        if str(row.get("id")) == str(FIRST + 1):
            for name in names:
                row.pop(name, None)

    there.between.edit = spoil
    first = there.run()
    deals = {case_of(item): item for item in first.items.values() if item.stream == "Deals"}
    item = deals.pop(str(FIRST + 1))
    changed = None if item.modified is None else utc_text(item.modified)
    assert item.fields["case"]["created"] == changed  # type: ignore[index]  # a table
    assert (changed is None) == (len(names) > 1), "there is no time that it could bear"
    assert all(other.fields["case"]["created"] == other.fields["created"] for other in deals.values())  # type: ignore[index]  # a table
    told = [event.data for event in first.events if event.name == "remark"]
    assert told == [{"stream": "Deals", "why": "no-creation-date", "key": "Deals", "count": 1}]


@pytest.mark.parametrize(
    ("title", "content", "found"),
    [
        ("  Ringte\u00a0 i dag ", "x", "Ringte i dag"),
        (" ", "Kunden ringte og ba om et nytt tilbud", "Kunden ringte og ba om et nytt tilbud"),
        (None, " \n ", r"Notat \d{4}-\d\d-\d\d i .+"),
        ("", None, r"Notat \d{4}-\d\d-\d\d i .+"),
    ],
)
def test_a_note_without_a_title_is_named_by_what_it_says_or_where_it_was_made(
    there: Connection, title: str | None, content: str | None, found: str
) -> None:
    def retitle(asked: Asked, row: Json) -> None:
        if asked.path.endswith("/Notes"):
            row |= {"Note_Title": title, "Note_Content": content}

    there.between.edit = retitle
    titles = there.run().titles("Notes")
    assert titles and all(re.fullmatch(found, one) for one in titles), titles


def test_modules_that_cannot_be_queried_are_listed_by_page(there: Connection) -> None:
    there.between.refuses = lambda asked: asked.path.endswith("/coql")
    first = there.run()
    assert first.failures == [] and there.lacks() == set()
    quote, task = one_of(first, "Quotes"), one_of(first, "Tasks")
    there.forget(quote.key)
    there.held.control("change", module="Tasks", delete=[id_of(task.key)])
    second = there.run()
    assert (second.failures, second.deletions) == ([], [task.key])
    assert quote.key in second.items


def test_a_time_that_this_user_may_not_read_is_never_asked_for(there: Connection) -> None:
    hidden = ("Created_Time", "Modified_Time")

    def refuses(asked: Asked) -> bool:
        names = {*asked.query.get("fields", [""])[0].split(","), *asked.query.get("sort_by", [])}
        text = asked.body.decode() if asked.path.endswith("/coql") else ""
        asks_list = asked.path.endswith("/v8/Deals") and bool(names & {*hidden})
        return asks_list or ("from Deals" in text and any(name in text for name in hidden))

    def hide(asked: Asked, row: Json) -> None:
        if asked.path.endswith("/settings/fields") and row["api_name"] in hidden and asked.query["module"] == ["Deals"]:
            row["visible"] = False

    there.between.edit, there.between.refuses = hide, refuses
    first = there.run()
    assert first.failures == []
    assert {case_of(item) for item in first.items.values() if item.stream == "Deals"} == {
        str(FIRST + number) for number in range(5)
    }
    assert there.run().failures == []
