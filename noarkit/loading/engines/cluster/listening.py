"""Why a scheduler or worker cannot listen where it was told to, in a word."""

from __future__ import annotations

import errno
import socket

from noarkit.errors import ConfigFault, causes

_WHY = {errno.EADDRINUSE: "port-taken", errno.EADDRNOTAVAIL: "address-elsewhere"}
_ABOUT_ADDRESSES = (*_WHY, errno.EACCES)


def fault_of_address(error: BaseException, where: str) -> ConfigFault | None:
    """The fault for an address that cannot be listened at; None where it is not about the address."""
    for cause in causes(error):
        if isinstance(cause, OSError) and (cause.errno in _ABOUT_ADDRESSES or isinstance(cause, socket.gaierror)):
            return ConfigFault(where=where, why=_WHY.get(cause.errno or 0, cause.strerror or "address-elsewhere"))
    return None
