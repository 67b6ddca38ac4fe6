"""The access log: what is never written into it, and what becomes of requests when it cannot be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.serve.http.access_log import AccessLog

SCOPE = {"method": "GET", "path": "/", "query_string": b"%74oken=SECRET&to%6ben=SECRET&query=a&token=SECRET"}


def test_a_token_is_not_written_however_its_name_is(tmp_path: Path):
    AccessLog(str(tmp_path / "log"), print, queries=True).note(SCOPE, 200, 0, 0.0)
    text = (tmp_path / "log").read_text()
    assert json.loads(text)["query"] == "query=a"
    assert "SECRET" not in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_is_said_once_and_no_reason_to_fail():
    said: list[str] = []
    log = AccessLog("/dev/full", said.append)
    for _ in range(3):
        log.note(SCOPE, 200, 0, 0.0)
    assert said == ["--access-log '/dev/full': No space left on device; requests are not noted until that is mended"]
