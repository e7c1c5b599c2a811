"""An application security service: projects, and each scan that ended with its findings, report and bill of materials.

settings         what a connection is configured with, and its defaults
access           who we are: a key, a client, a person's consent; registration: a client that registers itself
calls            one method for each call we make
states           when a scan has ended, and how keys are made
findings         all findings of a scan, whichever way pages are counted, proven complete
papers           reports and bills of materials: ordered, waited for, and kept so that they are made once
sarif            findings as SARIF 2.1.0; sarif_rules tells what makes a SARIF file a valid one
gathered         rows that must all be there before the first is used
streams          projects and scans as items; trail: decisions about findings, and the days of the audit trail
writing          projects, applications, scans, uploads and webhooks that are changed on request
vulnerabilities  the findings of a scan, gathered by what they are
asking           what a person asks for in the service's own words
"""

from noarkit.connectors.appsec.access import open_login
from noarkit.connectors.appsec.commands import run_command
from noarkit.connectors.appsec.service import AppSec, open_service

__all__ = ["AppSec", "open_login", "open_service", "run_command"]
