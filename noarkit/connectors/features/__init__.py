"""A feature-management service: definitions with their versions, decisions and reviews, and the audit log.

settings      what a connection is configured with, and its defaults
calls         one method for each call we make
definitions   what of a definition is archived, and what is left out
streams       definitions, versions, decisions, reviews and audit entries as items
writing       what is changed on request, never faster than the service's two windows
consent       how the tools for assistants are let in
"""

from noarkit.connectors.features.service import Features, open_login, open_service
from noarkit.connectors.features.writing import run_command

__all__ = ["Features", "open_login", "open_service", "run_command"]
