"""What a person asked for, or set up, that cannot be used."""

from __future__ import annotations

from noarkit.errors.base import NoarkitError


class UsageFault(NoarkitError):
    """Wrong option, argument or combination. Data: what."""

    code = "F101"
    exit_code = 2


class SecretOnTheLine(UsageFault):
    """A secret stands where others can read it (an argument, a URL). Data: where."""

    code = "F102"


class AccessDenied(UsageFault):
    """The account that runs noarkit may not read or write a file or folder. Data: where."""

    code = "F103"


class ConfigFault(NoarkitError):
    """A config file or environment variable that cannot be used. Data: where, why."""

    code = "F110"
    exit_code = 2


class SecretFault(ConfigFault):
    """A secret that cannot be read, or that others may read. Data: where, why."""

    code = "F111"
