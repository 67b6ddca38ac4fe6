from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.install_text import diff
from assay.serve.agents.agent_files import read
from assay.serve.agents.configured import installing

KEYS = ["mcpServers", "assay"]
ENTRY = {"command": "assay", "args": ["mcp"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n')
    return path


def test_a_diff_is_what_diff_says(file: Path):
    rows = diff(installing(file, KEYS, ENTRY))
    assert rows[0] == f"--- a{file}"
    assert [row for row in rows[2:] if row[0] in "-+"] == [
        '-    "other": {"command": "x"}',
        '+    "other": {"command": "x"},',
        '+    "assay": {',
        '+      "command": "assay",',
        '+      "args": ["mcp"]',
        "+    }",
    ]


def test_of_a_line_without_end_the_piece_is_shown(file: Path):
    file.write_text(json.dumps({"a": "x" * 100_000, "mcpServers": {}}))
    rows = diff(installing(file, KEYS, ENTRY))
    assert max(map(len, rows)) < 500
    assert rows[-1] == '+"assay": {"command": "assay", "args": ["mcp"]}'


def test_an_end_that_is_missing_is_shown(file: Path):
    file.write_text("{}")
    assert "\\ No newline at end of file" in "\n".join(diff(installing(file, KEYS, ENTRY)))
    assert read(file) == "{}"
