"""Stand-in of a feature-management service: definitions with versions, reviews, audit log, evaluation, webhooks."""

from noarkit.services.features.standin.service import standin

__all__ = ["standin"]
