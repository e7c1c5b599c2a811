"""Parts of heavy work on many machines by themselves: what goes over the wire, and the desk that takes jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import OtherSource, fault_from_code
from noarkit.loading.engines.cluster.job_desk import JobDesk, JobOrder, JobReply
from noarkit.loading.engines.cluster.messages import BadMessage, decode, encode
from noarkit.loading.engines.cluster.plain import PlainFormat
from noarkit.safe.remote_jobs import JobTable
from noarkit.version import __version__


@dataclass(frozen=True)
class SharedRecord:
    """A dataclass that both sides have."""

    name: object
    more: object = None


FORMAT = PlainFormat((SharedRecord,))
SIMPLE = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes(timezones=st.just(UTC))
)
KEYS = st.text(max_size=3) | st.integers(0, 9) | st.tuples(st.text(max_size=3), st.integers(0, 9)) | st.just("~t")
VALUES = st.recursive(
    SIMPLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.builds(SharedRecord, inner, inner)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_a_plain_value_arrives_as_it_was_sent(value: object) -> None:
    assert FORMAT.decode(FORMAT.encode(value)) == value


@pytest.mark.parametrize("value", [object(), print, {1, 2}, Exception("x"), OtherSource(where="x"), 2**70])
def test_what_is_no_data_is_not_sent(value: object) -> None:
    with pytest.raises(BadMessage):
        FORMAT.encode(value)


STRANGE = (
    b"",
    b"{",
    b'{"~r":"Popen","~v":[]}',
    b'{"~r":"SharedRecord","~v":[1,2,3]}',
    b'{"~b":"no base"}',
    b'{"~z":"x"}',
)


@pytest.mark.parametrize("message", STRANGE)
def test_a_message_makes_nothing_that_is_not_on_the_list(message: bytes) -> None:
    with pytest.raises(BadMessage):
        FORMAT.decode(message)


def reply_to(name: str, data: object, version: str = __version__) -> JobReply:
    """What a desk answers that can double, and refuse."""

    def refuse(data: object) -> object:
        raise OtherSource(where=str(data), why="not-there", expected=1, found=b"no plain value")

    desk = JobDesk(JobTable({"double": lambda data: [data, data], "refuse": refuse, "fail": lambda data: 1 / 0}))
    order = JobOrder(version, "job/1", name, FORMAT.encode(data).decode())
    reply = decode(JobReply, desk.carry_out(encode(order)))
    assert desk.key == ""
    return reply


def test_a_desk_answers_with_the_result_the_fault_or_the_defect() -> None:
    days = (date(2024, 2, 29), datetime(2024, 2, 29, tzinfo=UTC))
    done = reply_to("double", days)
    assert (done.state, FORMAT.decode(done.data.encode())) == ("done", [days, days])
    refused = reply_to("refuse", "/srv")
    fault = fault_from_code(refused.code, refused.facts)
    assert (refused.state, type(fault)) == ("fault", OtherSource)
    assert (fault.data["where"], fault.data["expected"]) == ("/srv", 1)
    assert reply_to("fail", None).data.startswith("ZeroDivisionError")


def test_a_desk_knows_no_function_but_its_own_and_no_other_version() -> None:
    assert reply_to("os.system", "true").state == "defect"
    other = reply_to("double", 1, version="9.9.9")
    assert (other.state, other.code) == ("fault", "F444")
