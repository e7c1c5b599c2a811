"""How a service lets us in: keys as they are, tokens that are renewed once however many ask, and consent given once."""
