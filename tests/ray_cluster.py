"""A Ray cluster on loopback for a test, in a process of its own: `python ray_cluster.py`, then one command a line,
written as for a shell.

`add CORES [NAME=VALUE…]` starts a node with these variables, `kill N` ends the nth node with all its workers as a
dying machine would, `quit` ends all. Each is answered by one line: the address, or `done`.

Fixed ports: a raylet gives its agents 15 s to name theirs, and dies on a busy machine (ray #65983). Loopback: Ray would
replace it by the machine's address, where nothing listens.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

PLACE = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp")
"""Ray wants a short path in ASCII for its sockets."""
os.environ |= {"RAY_raylet_start_wait_time_s": "40", "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": PLACE.name}

from ray._private import services

services.resolve_ip_for_localhost = lambda host: host

from ray.cluster_utils import Cluster

AGENTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
LOOK = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
"""A dead node is noticed after 3 seconds, not 15."""


def ports() -> dict[str, int]:
    free = [socket.create_server(("127.0.0.1", 0)) for _ in AGENTS]
    found = {name: each.getsockname()[1] for name, each in zip(AGENTS, free, strict=True)}
    for each in free:
        each.close()
    return found


def add(cluster: Cluster, cores: int, environment: dict[str, str], **more: Any) -> Any:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        about = {"num_cpus": cores, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20, **ports(), **more}
        return cluster.add_node(include_dashboard=False, **about)
    finally:
        os.environ.clear()
        os.environ.update(before)


def added(cluster: Cluster, cores: int, environment: dict[str, str]) -> Any:
    """Add a node; somebody else may have taken a port between the look and the start, and then the raylet dies."""
    for _ in range(3):
        try:
            return add(cluster, cores, environment)
        except Exception as error:  # noqa: BLE001  ray raises what it likes
            print(error, file=sys.stderr)
    raise SystemExit("no node started in three tries")


def kill(raylet: int) -> None:
    children = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    for pid in (raylet, *map(int, children)):
        os.kill(pid, signal.SIGKILL)


def serve() -> None:
    cluster = Cluster()
    nodes = [add(cluster, 0, {}, _system_config=LOOK)]
    print(cluster.address, flush=True)
    for line in sys.stdin:
        what, *rest = shlex.split(line)
        if what == "add":
            nodes.append(added(cluster, int(rest[0]), dict(each.split("=", 1) for each in rest[1:])))
        if what == "kill":
            kill(nodes[int(rest[0])].all_processes["raylet"][0].process.pid)
        if what == "quit":
            break
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    serve()
