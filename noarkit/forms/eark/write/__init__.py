"""Writes E-ARK packages: METS, PREMIS and folders of a SIP, AIP or DIP."""
