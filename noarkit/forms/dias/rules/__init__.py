"""Validates DIAS packages: SIP, AIP and AIC."""
