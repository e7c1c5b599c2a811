"""Policies: what is done with documents of each format. Data, not code.

read              TOML → a policy; one of a site names the one that it changes
no-raf-2022.toml  the Norwegian regulations, with every format that they take
"""

from __future__ import annotations

from noarkit.copies.policy.read import SHIPPED, Policy, read_policy

__all__ = ["SHIPPED", "Policy", "read_policy"]
