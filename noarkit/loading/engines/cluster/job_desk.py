"""The worker's side of jobs: runs the function that a job names, and returns what came of it.

A worker has the functions that it was started with, by their names; a message that names another is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.errors import NoarkitError, OtherVersion
from noarkit.loading.engines.cluster.library import distributed
from noarkit.loading.engines.cluster.messages import decode, encode
from noarkit.loading.engines.cluster.plain import PlainFormat
from noarkit.safe.remote_jobs import JobTable
from noarkit.version import __version__

EXTENSION = "noarkit"
"""What the library knows a worker of ours by."""


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job on its way: the version of whoever gives it, the name of a function, and what it is given."""

    version: str
    key: str
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class JobReply:
    """What came of a job by its `state`: `done` with its result, a `fault` of ours, or the `defect` that ended it."""

    state: str
    data: str = ""
    code: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)


class JobDesk:
    """The functions of one worker."""

    def __init__(self, table: JobTable) -> None:
        self._table = table
        self._format = PlainFormat(table.kinds)
        self.key = ""
        """The job that is worked on; none where it is empty."""

    def close(self) -> None:
        """Ends what the functions keep."""
        self._table.close()

    def carry_out(self, message: bytes) -> bytes:
        """Carries out one job, whatever comes of it. Runs in the thread that works."""
        order = decode(JobOrder, message)
        self.key = order.key
        try:
            if order.version != __version__:
                raise OtherVersion(where=socket.gethostname(), expected=order.version, found=__version__)
            result = self._table.functions[order.name](self._format.decode(order.data.encode()))
            return encode(JobReply("done", self._format.encode(result).decode()))
        except NoarkitError as fault:
            facts = {name: value for name, value in fault.data.items() if isinstance(value, str | int | float | None)}
            return encode(JobReply("fault", code=fault.code, facts={"machine": socket.gethostname(), **facts}))
        except Exception as error:  # noqa: BLE001  # a defect ends this job alone, and is raised where it was given
            return encode(JobReply("defect", data=f"{type(error).__name__}: {error}"))
        finally:
            self.key = ""


def carry_out_job(message: bytes) -> bytes:
    """Carries out a job in the worker that the library runs this in: the one function that is submitted for jobs."""
    job_desk: JobDesk = distributed().get_worker().extensions[EXTENSION].jobs
    return job_desk.carry_out(message)
