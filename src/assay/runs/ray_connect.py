"""An address to a connection with a Ray cluster that is there: joined quietly, never started, or one line why not."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import warnings
from collections.abc import Callable

import ray

from assay.errors import InputError

_CONNECT_S = 5.0
_PORT = 6379
_START = "start one with `ray start --head`, and join it on each machine with `ray start --address=HOST:6379`"
_VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")


def connect(address: str) -> Callable[[], None]:
    """Join a cluster, the one that this machine belongs to where no address is given; return what leaves it."""
    if ray.is_initialized():
        return lambda: None
    _look(address or os.environ.get("RAY_ADDRESS", ""))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    handlers = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(
                address=_completed(address) or "auto",
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                configure_logging=True,
            )
    except Exception as error:
        raise InputError(_explained(address, error)) from error
    finally:
        for each, handler in handlers.items():  # Ray's own would end us before what was begun is written
            signal.signal(each, handler)
    return lambda: ray.shutdown()  # noqa: PLW0108  it is Any


def answers(address: str) -> bool:
    """Say whether somebody listens at `HOST:PORT`."""
    try:
        _call(address)
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _call(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()


def _completed(address: str) -> str:
    return address if not address or ":" in address else f"{address}:{_PORT}"


def _look(address: str) -> None:
    """Refuse an address where nobody is: Ray would try for a minute."""
    if not address or address in {"auto", "local"}:
        return
    try:
        _call(_completed(address))
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"no Ray cluster answers at '{address}' ({error}); {_START}") from error


def _explained(address: str, error: Exception) -> str:
    """Say in one line why a cluster cannot be joined."""
    text = str(error)
    versions = _VERSIONS.findall(text)
    if "Version mismatch" in text and len(versions) > 1:
        (theirs, their_python), (ours, our_python) = versions[:2]
        return (
            f"the cluster runs Ray {theirs} on Python {their_python}, and here is Ray {ours} on Python {our_python}: "
            "every machine needs the same of both"
        )
    if isinstance(error, ConnectionError) and "Could not find any running" in text:
        return f"--on ray found no Ray cluster that this machine belongs to: {_START}"
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    return f"cannot join the Ray cluster {address or 'of this machine'}: {first}; is this machine part of it?"
