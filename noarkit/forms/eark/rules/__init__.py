"""Validates E-ARK packages: every rule of CSIP, SIP, AIP and DIP by its own id, and nothing is ever changed."""
