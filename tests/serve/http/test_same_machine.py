"""Only a request from this machine by a name of this machine is one from where the files are."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")

from fastapi import Request  # noqa: TID253

from assay.serve.http.guard import ADDRESS
from assay.serve.http.same_machine import is_same_machine


@pytest.mark.parametrize(
    ("address", "host", "more", "same"),
    [
        ("127.0.0.1", "127.0.0.1:7777", {}, True),
        ("127.0.0.1", "localhost:7777", {}, True),
        ("::1", "[::1]:7777", {}, True),
        ("172.17.0.1", "localhost:7777", {}, False),
        ("127.0.0.1", "code.example.com", {}, False),
        ("127.0.0.1", "localhost:7777", {"x-forwarded-for": "127.0.0.1"}, False),
        ("unix", "localhost", {}, False),
        ("", "", {}, False),
    ],
)
def test_who_is_here(address: str, host: str, more: dict[str, str], same: bool):  # noqa: FBT001
    headers = [(name.encode(), value.encode()) for name, value in {"host": host, **more}.items()]
    assert is_same_machine(Request({"type": "http", "headers": headers, ADDRESS: address})) is same
