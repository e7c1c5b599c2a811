"""A key that may not read policies."""

from __future__ import annotations

from tests.strict_services.appsec import Appsec
from tests.strict_services.conftest import Desk


def test_a_refusal_that_is_about_policies_renews_the_token_once_and_each_scan_is_asked_for(
    desk: Desk, appsec: Appsec
) -> None:
    appsec.hides_policies = True
    for project in (appsec.data.project("portal"), appsec.data.project("arkiv")):
        for number in range(3):
            appsec.data.scan(project, 1, days_ago=number + 1)
    desk.run("appsec:strict")
    assert sum("policy" in request.path for request in appsec.requests) >= len(appsec.data.scans)
    assert appsec.exchanges <= 2
