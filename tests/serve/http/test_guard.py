"""Who may ask and how much, without a network: the guard around an application that says what got through."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("fastapi")

from assay.serve.http import guard
from assay.serve.http.access import AccessRules
from assay.serve.http.access_tokens import shared_token
from assay.serve.http.body_room import BodyShare
from assay.serve.http.forwarding import public_url
from assay.serve.http.guard import Guard
from assay.serve.http.rate import Rate
from assay.serve.http.shared_table import CELLS, SETS, SharedTable

TOKEN = "a-token-of-some-length"
HERE = AccessRules(7777, frozenset(("127.0.0.1", "localhost", "[::1]")))
ELSEWHERE = AccessRules(7777, frozenset(("box", "localhost")), shared_token(TOKEN), loopback=False)


async def _inner(_scope: Any, receive: Any, send: Any) -> None:
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"Cache-Control", b"no-cache")]})
    await send({"type": "http.response.body", "body": b"passed " + message.get("body", b"")})


class Client:
    def __init__(self, rules: AccessRules = HERE, **options: Any) -> None:
        self.guard = Guard(_inner, rules, **options)
        self.host = "127.0.0.1:7777" if rules.loopback else "box:7777"

    def ask(
        self,
        path: str = "/api/roots",
        *headers: tuple[str, str],
        method: str = "GET",
        parts: tuple[bytes, ...] = (b"",),
    ) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        given = [("Host", self.host), *headers] if not any(name == "Host" for name, _ in headers) else headers
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in given if value != "-"],
            "client": ("192.0.2.1", 4000),
        }
        left, sent = list(parts), []

        async def receive() -> Any:
            if not left:
                await asyncio.sleep(3600)
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or parts[-1:] == (b"...",)}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.guard(scope, receive, send))
        told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], told, b"".join(each.get("body", b"") for each in sent[1:])


def refused(answer: tuple[int, dict[str, str], bytes], status: int) -> str:
    assert answer[0] == status
    assert b"passed" not in answer[2]
    assert answer[1]["content-type"] == "application/json"
    return json.loads(answer[2])["error"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:7777", 200),
        ("localhost:7777", 200),
        ("LOCALHOST:7777", 200),
        ("[::1]:7777", 200),
        ("127.0.0.1", 421),
        ("127.0.0.1:7778", 421),
        ("evil.example", 421),
        ("evil.example:7777", 421),
        ("127.0.0.1:7777.evil.example", 421),
        ("user@127.0.0.1:7777", 421),
        ("", 421),
        ("[", 421),
        ("-", 421),
    ],
)
def test_only_our_own_names_are_answered(host: str, status: int):
    assert Client().ask("/", ("Host", host))[0] == status


def test_two_hosts_are_none():
    refused(Client().ask("/", ("Host", "127.0.0.1:7777"), ("Host", "127.0.0.1:7777")), 421)


@pytest.mark.parametrize(
    ("host", "status"),
    [("box:7777", 401), ("box", 401), ("192.0.2.7:80", 401), ("[2001:db8::1]:1", 401), ("evil.example", 421)],
)
def test_elsewhere_a_name_is_ours_or_a_bare_address(host: str, status: int):
    refused(Client(ELSEWHERE).ask("/", ("Host", host)), status)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Origin", "http://127.0.0.1:7777")], 200),
        ([("Origin", "http://evil.example")], 403),
        ([("Origin", "null")], 403),
        ([("Origin", "http://localhost:7777")], 403),
        ([("Origin", "http://127.0.0.1:7777"), ("Origin", "http://evil.example")], 403),
        ([("Sec-Fetch-Site", "same-origin")], 200),
        ([("Sec-Fetch-Site", "none")], 200),
        ([("Sec-Fetch-Site", "same-site")], 403),
        ([("Sec-Fetch-Site", "cross-site")], 403),
        ([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")], 403),
        ([("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")], 403),
    ],
)
def test_other_sites_are_not_answered(headers: list[tuple[str, str]], status: int):
    assert Client().ask("/api/search?query=a", *headers)[0] == status


def test_a_link_to_the_page_may_be_followed_but_not_used():
    link = (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"))
    assert Client().ask("/", *link)[0] == 200
    refused(Client().ask("/", ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")), 403)
    refused(Client().ask("/", *link, method="POST"), 403)


def test_whoever_is_elsewhere_needs_the_token():
    client = Client(ELSEWHERE)
    assert "Authorization: Bearer" in refused(client.ask(), 401)
    for given in (TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ", f"Bearer {TOKEN} ", "Bearer é"):
        refused(client.ask("/api/roots", ("Authorization", given)), 401)
    refused(client.ask("/api/roots", *[("Authorization", f"Bearer {TOKEN}")] * 2), 401)
    assert client.ask("/api/roots", ("Authorization", f"Bearer {TOKEN}"))[0] == 200
    assert client.ask("/api/roots", ("Authorization", f"bearer {TOKEN}"))[0] == 200


def test_a_browser_gets_the_token_as_a_cookie_once():
    client = Client(ELSEWHERE)
    status, headers, _ = client.ask(f"/?token={TOKEN}")
    assert (status, headers["location"]) == (303, "/")
    cookie, _, how = headers["set-cookie"].partition("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(how.split("; "))
    assert client.ask("/", ("Cookie", f"other=1; {cookie}"))[0] == 200
    refused(client.ask("/", ("Cookie", cookie[:-1])), 401)
    refused(client.ask("/", ("Cookie", cookie), ("Authorization", "Bearer wrong")), 401)
    refused(client.ask("/?token=wrong"), 401)
    refused(client.ask(f"/api/roots?token={TOKEN}"), 401)
    refused(client.ask("/", ("Cookie", "=;;\x01=")), 401)


def test_other_cookies_and_other_schemes_do_not_throw_anybody_out():
    client, cookie = Client(ELSEWHERE), f"assay-7777={TOKEN}"
    for other in ('pref={"a":1}', "foo[bar]=1", "x=a b", "bare", "é=1", "", f"{cookie}"):
        for line in (f"{other}; {cookie}", f"{cookie}; {other}"):
            assert client.ask("/", ("Cookie", line))[0] == 200, line
    refused(client.ask("/", ("Cookie", f"{cookie}; assay-7777=another-token-of-some-length")), 401)
    assert client.ask("/", ("Cookie", cookie), ("Authorization", "Basic YTpi"))[0] == 200


@pytest.mark.parametrize(("site", "status"), [("none", 303), ("same-origin", 303), ("cross-site", 403)])
def test_a_link_of_another_site_logs_nobody_in(site: str, status: int):
    headers = (("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"))
    assert Client(ELSEWHERE).ask(f"/?token={TOKEN}", *headers)[0] == status


def test_a_probe_is_answered_whatever_a_proxy_says():
    rules = replace(ELSEWHERE, public=public_url("https://code.example.com"))
    for path in ("/healthz", "/readyz"):
        assert Client(rules).ask(path, ("X-Forwarded-For", "192.0.2.9"))[0] == 200
    refused(Client(rules).ask("/", ("X-Forwarded-For", "192.0.2.9")), 403)


def test_whether_it_is_ready_can_be_asked_so_often():
    client = Client(ELSEWHERE, rate=Rate(1.0, lambda: 0.0))
    assert [client.ask("/readyz")[0] for _ in range(3)] == [200, 200, 429]
    assert [client.ask("/healthz")[0] for _ in range(3)] == [200] * 3


def test_a_body_without_a_token_is_read_only_where_a_delivery_says_it_is_signed():
    hooks, signed = Client(ELSEWHERE, signatures=frozenset(("x-signed",))), ("X-Signed", "1")
    post = {"method": "POST", "parts": (b"a",)}
    assert hooks.ask("/api/webhook", signed, **post)[0] == 200
    refused(hooks.ask("/api/webhook", **post), 401)
    refused(hooks.ask("/api/labels", signed, **post), 401)
    refused(Client(ELSEWHERE).ask("/api/webhook", signed, **post), 401)


def test_only_so_many_bytes_of_bodies_are_held_at_once():
    client = Client(ELSEWHERE, signatures=frozenset(("x-signed",)))
    held = BodyShare(client.guard._signed)
    held.take(guard.SIGNED_BODIES)
    post = {"method": "POST", "parts": (b"a",)}
    assert "too many large requests" in refused(client.ask("/api/webhook", ("X-Signed", "1"), **post), 503)
    assert client.ask("/api/labels", ("Authorization", f"Bearer {TOKEN}"), **post)[0] == 200
    held.give_back()
    for _ in range(3):
        assert client.ask("/api/webhook", ("X-Signed", "1"), **post)[0] == 200
    assert client.guard._signed.left == guard.SIGNED_BODIES


def test_on_this_machine_no_token_is_wanted():
    assert Client().ask("/?token=whatever")[0] == 200


def test_an_address_has_its_length():
    assert Client().ask("/?" + "a" * 65_000)[0] == 200
    assert "65,536" in refused(Client().ask("/?" + "a" * 65_536), 414)
    refused(Client().ask("/" + "a" * 65_536), 414)


def test_headers_have_their_size_one_or_many():
    assert Client().ask("/", ("Cookie", "a" * 60_000))[0] == 200
    assert "65,536" in refused(Client().ask("/", ("Cookie", "a" * 65_536)), 431)
    refused(Client().ask("/", *[("X-Many", "a" * 100)] * 700), 431)


def test_a_body_has_its_size_declared_or_not():
    most = guard.LARGEST_BODY
    assert Client().ask(method="POST", parts=(b"a" * 5, b"b" * 5))[2] == b"passed aaaaabbbbb"
    assert Client().ask(method="POST", parts=(b"a" * most,))[0] == 200
    refused(Client().ask("/", ("Content-Length", str(most + 1)), method="POST", parts=(b"...",)), 413)
    refused(Client().ask(method="POST", parts=(*[b"a" * 1_000_000] * 5, b"...")), 413)


def test_a_body_that_does_not_come_is_not_waited_for():
    answer = Client(body_s=0.05).ask(method="POST", parts=(b"a", b"..."))
    assert "did not come in time" in refused(answer, 408)


def test_a_body_is_not_read_where_none_is_wanted():
    assert Client().ask("/", method="PUT", parts=(b"a" * 10,))[2] == b"passed "


def test_one_address_asks_so_often():
    now = [100.0]
    client = Client(rate=Rate(2.0, lambda: now[0]))
    assert [client.ask()[0] for _ in range(5)] == [200] * 4 + [429]
    assert client.ask()[1]["retry-after"] == "1"
    now[0] += 0.5
    assert [client.ask()[0] for _ in range(2)] == [200, 429]
    now[0] += 60
    assert [client.ask()[0] for _ in range(5)] == [200] * 4 + [429]


def test_a_rate_is_of_each_address_and_forgets_the_oldest():
    rate = Rate(1.0, lambda: 0.0)
    assert [rate.wait_s("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert rate.wait_s("b") == 0.0
    for number in range(2 * SETS * CELLS):
        rate.wait_s(str(number))
    assert rate.wait_s("a") == 0.0
    assert Rate().wait_s("a") == 0.0


def test_a_rate_is_of_all_processes_of_a_server():
    table = SharedTable()
    here, there = Rate(1.0, lambda: 0.0, table), Rate(1.0, lambda: 0.0, SharedTable(table.descriptor))
    assert [each.wait_s("a") for each in (here, there, here, there)] == [0.0, 0.0, 1.0, 1.0]


def test_every_answer_has_its_headers_and_keeps_its_own():
    for status, headers, _ in (Client().ask(), Client().ask("/", ("Host", "evil.example"))):
        assert headers["content-security-policy"] == guard.POLICY
        assert headers["cache-control"] == ("no-cache" if status == 200 else "no-store")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert not [name for name in headers if name.startswith("access-control")]


def test_what_is_no_http_is_not_answered():
    async def never(*_: Any) -> None:
        raise AssertionError

    asyncio.run(Guard(never, HERE)({"type": "websocket"}, never, never))
