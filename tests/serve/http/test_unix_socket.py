"""A server that listens on a Unix socket, for a proxy beside it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay

TOKEN = "a-token-of-some-length"


def _ask(path: Path, *headers: str) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(str(path))
        lines = ["GET /api/roots HTTP/1.1", "Connection: close", f"Authorization: Bearer {TOKEN}", *headers]
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


def test_a_proxy_asks_over_a_unix_socket(project: Path, cache: Path, tmp_path: Path):
    path = tmp_path / "socket"
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    options = ["--host", f"unix:{path}", "--public-url", "https://code.example.com", "--workers", "1"]
    command = [sys.executable, "-m", "assay", "serve", *options, str(project)]
    for _ in range(2):  # the second one replaces what the first one left
        process = subprocess.Popen(
            command, env={**environment, "ASSAY_TOKEN": TOKEN}, stderr=subprocess.PIPE, text=True
        )
        try:
            assert "at https://code.example.com/" in process.stderr.readline()
            forwarded = ("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https")
            assert _ask(path, "Host: code.example.com", *forwarded).startswith(b"HTTP/1.1 200 ")
            assert _ask(path, "Host: evil.example", *forwarded).startswith(b"HTTP/1.1 421 ")
            assert path.stat().st_mode & 0o777 == 0o660
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.stderr.close()


def test_a_socket_without_a_public_url_or_that_cannot_be_made_is_refused(
    assay: Callable[..., Any], project: Path, tmp_path: Path
):
    ran = assay("serve", project, "--host", f"unix:{tmp_path}/socket")
    assert (ran.status, "needs --public-url" in ran.err) == (2, True)
    ran = assay("serve", project, "--host", f"unix:{tmp_path}/none/socket")
    assert "No such file or directory; give another --host" in ran.err
    (tmp_path / "file").write_text("mine")
    ran = assay("serve", project, "--host", f"unix:{tmp_path}/file")
    assert "Address already in use" in ran.err
    assert (tmp_path / "file").read_text() == "mine"
