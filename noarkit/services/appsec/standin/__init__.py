"""Stand-in of an application security service: projects, scans in all their states, findings, reports and uploads."""
