"""The server behind a real nginx and a real Caddy with TLS, by the configuration that `deploy` brings."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay
from assay.serve.http.access_tokens import add_token

DEPLOY = Path(__file__).parents[3] / "deploy"
NAME = "code.example.com"
LABEL = {"query": "where is mail sent again", "target": "mail/send.py:6-12", "grade": 1}


@dataclass
class Site:
    """A server behind a proxy, and two people with tokens."""

    port: int
    direct: int
    certificate: Path
    tokens: dict[str, str]
    root: Path
    log: Path

    def ask(self, path: str, person: str = "", *, body: object = None, source: str = "127.0.0.1", **headers: str):
        """Ask over TLS from an address of this machine; return the status, the headers and the answer."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        line = http.client.HTTPSConnection(NAME, self.port, timeout=30, context=context)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=30, source_address=(source, 0))
        line.sock = context.wrap_socket(plain, server_hostname=NAME)
        given = {
            "Host": f"{NAME}:{self.port}",
            **({"Authorization": f"Bearer {self.tokens[person]}"} if person else {}),
        }
        data = None if body is None else json.dumps(body)
        content = {} if body is None else {"Content-Type": "application/json"}
        with contextlib.closing(line):
            line.request("GET" if data is None else "POST", path, data, {**given, **content, **headers})
            answer = line.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 30
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(process.stderr.read() if process.stderr and process.poll() is not None else "not listening")


def nginx(folder: Path, site: dict[str, str], port: int) -> list[str]:
    """Return the command of an nginx with the configuration of ours, and nothing of the machine's."""
    own = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:7777", site["upstream"])
    own = own.replace("listen 443 ", f"listen 127.0.0.1:{port} ").replace(
        "listen 80;", f"listen 127.0.0.1:{free_port()};"
    )
    own = own.replace(f"/etc/ssl/certs/{NAME}.pem", site["certificate"])
    own = own.replace(f"/etc/ssl/private/{NAME}.key", site["key"])
    temporary = "".join(
        f"{each}_temp_path {folder}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    start = f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {temporary}\n"
    (folder / "all.conf").write_text(f"{start}{own}\n}}\n")
    return ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "all.conf")]


def caddy(folder: Path, site: dict[str, str], port: int) -> list[str]:
    """Return the command of a Caddy with the configuration of ours; the certificate is one that we made."""
    own = (DEPLOY / "Caddyfile").read_text()
    own = own.replace(f"{NAME} {{", f"https://{NAME}:{port} {{\n\ttls {site['certificate']} {site['key']}")
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + own)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


PROXIES: dict[str, Callable[[Path, dict[str, str], int], list[str]]] = {"nginx": nginx, "caddy": caddy}


@pytest.fixture(scope="module", params=PROXIES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Site]:
    """Serve a small folder behind a proxy with TLS, to two people."""
    for program in (request.param, "openssl"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    root = folder / "postbox"
    (root / "mail").mkdir(parents=True)
    code = "".join(f"\n\ndef send_{n}(server):\n    return server.deliver({n})\n" for n in range(200))
    send = "import time\n\n\n# send\n\ndef send_mail(server):\n    return server\n\n\n\n\n\n"
    (root / "mail" / "send.py").write_text(send + code)
    certificate, key = folder / "cert.pem", folder / "key.pem"
    make = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={NAME}"
    names = ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make.split(), *names], check=True, capture_output=True)
    port, log = free_port(), folder / "access.jsonl"
    tokens = {name: add_token(folder / "tokens", name) for name in ("ann", "bob")}
    options = [
        *("--public-url", f"https://{NAME}:{port}", "--trusted-proxy", "127.0.0.1", "--tokens", str(folder / "tokens")),
        *("--port", "0", "--workers", "2", "--rate", "6", "--access-log", str(log)),
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "assay", "serve", *options, str(root)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    with contextlib.ExitStack() as ends:
        ends.callback(_end, server)
        assert f"https://{NAME}:{port}/" in server.stderr.readline()
        direct = _listening(server.pid)
        served = {"upstream": f"127.0.0.1:{direct}", "certificate": str(certificate), "key": str(key)}
        home = {**os.environ, "HOME": str(folder), "ASSAY_UPSTREAM": served["upstream"]}
        proxy = subprocess.Popen(
            PROXIES[request.param](folder, served, port), env=home, stderr=subprocess.PIPE, text=True
        )
        ends.callback(_end, proxy)
        wait_for(port, proxy)
        made = Site(port, direct, certificate, tokens, root, log)
        until(lambda: made.ask("/readyz")[0] == 200)
        yield made


def _listening(process: int) -> int:
    """Return the port on which a process listens."""
    links = (str(each.readlink()) for each in Path(f"/proc/{process}/fd").iterdir())
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    return next(int(row[1].split(":")[1], 16) for row in rows if row[9] in inodes and row[3] == "0A")


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    finally:
        process.kill()
        process.stderr.close()


def until(what: Callable[[], object], seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.05)


def test_people_ask_with_their_tokens_over_tls(site: Site):
    status, headers, body = site.ask("/api/search?query=send+mail", "ann", **{"Accept-Encoding": "gzip"})
    headers = {name.lower(): value for name, value in headers.items()}
    assert (status, headers["content-encoding"], body[:2]) == (200, "gzip", b"\x1f\x8b")
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert site.ask("/api/roots")[0] == 401
    assert site.ask("/", Cookie="assay-0=x")[0] == 401


def test_a_browser_gets_a_secure_cookie_that_works(site: Site):
    status, headers, _ = site.ask(f"/?token={site.tokens['bob']}")
    cookie = next(value for name, value in headers.items() if name.lower() == "set-cookie")
    assert status == 303
    assert "; Secure" in cookie
    page = site.ask("/", **{"Cookie": cookie.partition(";")[0], "Sec-Fetch-Site": "none"})
    assert (page[0], b"<title>" in page[2]) == (200, True)


def test_a_label_from_the_page_carries_who_gave_it(site: Site):
    for person in ("ann", "bob"):
        origin = {"Origin": f"https://{NAME}:{site.port}", "Sec-Fetch-Site": "same-origin"}
        status, _, body = site.ask("/api/labels", person, body=LABEL, **origin)
        assert status == 200, body
        assert json.loads(site.ask("/api/roots", person)[2])["judge"] == person
    assert {mark["judge"] for mark in json.loads(body)["judgments"]} == {"ann", "bob"}
    assert site.ask("/api/labels", "ann", body=LABEL, Origin="https://evil.example")[0] == 403


def test_what_a_client_says_about_itself_counts_for_nothing(site: Site):
    lies = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    assert site.ask("/api/roots", "ann", source="127.0.0.1", **lies)[0] == 200
    assert b"postbox" not in site.ask("/api/roots", "ann", Host="evil.example")[2]
    line = http.client.HTTPConnection("127.0.0.1", site.direct, timeout=30, source_address=("127.0.0.2", 0))
    with contextlib.closing(line):
        line.request("GET", "/api/roots", headers={"Host": f"{NAME}:{site.port}", **lies})
        answer = line.getresponse()
        assert (answer.status, json.loads(answer.read())["error"][:38]) == (
            403,
            "X-Forwarded-For came from 127.0.0.2, w",
        )


def test_each_person_has_a_pace_and_the_log_says_who(site: Site):
    until(lambda: site.ask("/api/roots", "ann")[0] == 429)
    assert site.ask("/api/roots", "bob")[0] == 200
    rows = [json.loads(line) for line in site.log.read_text().splitlines()]
    assert {row["who"] for row in rows} >= {"ann", "bob"}
    assert {row["address"] for row in rows if row["who"]} == {"127.0.0.1"}
    assert not any(re.search("query|token", str(row)) for row in rows)
