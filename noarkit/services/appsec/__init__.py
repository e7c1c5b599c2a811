"""An application security service: projects, and each scan that ended with its findings, report and bill of materials.

settings         the settings of a connection, and their defaults
access           credentials: a key, a client, a person's consent, a client that registers itself
calls            the REST calls, one method for each
states           scan states, timestamps and keys
findings         all findings of a scan, proven complete, however pages are counted
papers           reports and bills of materials: ordered, waited for, and cached
sarif            findings as SARIF 2.1.0
grouped_rows     rows collected on disk, for lists that must be complete before use
streams          projects and scans as items; trail: decisions about findings, and the days of the audit trail
write_calls      changes on request: projects, applications, scans, uploads and webhooks
vulnerabilities  the findings of a scan, grouped by vulnerability
commands         the commands of `noarkit connect appsec:NAME`
kind             what the rest of the house needs to know of the service, as one value
"""
