"""Stand-in of a feature-management service: definitions with versions, reviews, audit log, evaluation, webhooks."""
