"""E-ARK information packages: submission, archival and dissemination (CSIP 2.0.4 to 2.2.0), read and written."""
