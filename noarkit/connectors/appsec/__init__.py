"""An application security service: projects, and each scan that ended with its findings, report and bill of materials.

settings   what a connection is configured with, and its defaults
calls      one method for each call we make
findings   all findings of a scan, whichever way pages are counted, proven complete
papers     reports and bills of materials: ordered, waited for, and kept so that they are made once
sarif      findings as SARIF 2.1.0; sarif_rules tells what makes a SARIF file a valid one
streams    projects and scans as items
writing    projects, applications, scans, uploads and webhooks that are changed on request
asking     what a person asks for in the service's own words
"""

from noarkit.connectors.appsec.asking import carry_out
from noarkit.connectors.appsec.service import AppSec, open_login, open_service

__all__ = ["AppSec", "carry_out", "open_login", "open_service"]
