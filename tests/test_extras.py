"""A library that is not installed is named by the extra that brings it, in a line, before anything is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BLOCKED = (
    "accelerate fastapi h11 httpx huggingface_hub mcp obstore onnxruntime ray sentence_transformers torch transformers "
    "uvicorn watchfiles"
).split()
CALLS = {
    "api": "search mail . --encoder api:model", "bucket": "index . --index s3://bucket/prefix",
    "hf": "search mail . --encoder hf:some/model", "mcp": "mcp .", "onnx": "search mail . --encoder onnx:folder",
    "ray": "exec tasks.jsonl --reference --on ray", "serve": "serve .",
    "train": "train encoder --repository . --out out", "watch": "watch .",
}  # fmt: skip
"""A command that needs each extra."""
INSTALL = "install --agent cursor --yes"
TASK = """{"id": "one", "entry_point": "one", "prompt": "", "reference": "def one(): return 1",
"tests": [{"args": [], "expected": 1}]}""".replace("\n", "")
SCRIPT = """
import contextlib, io, json, sys
blocked, extras, lines = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(blocked))
from assay.cli.main import run
from assay.extras import install_command
told = [[install_command(extra) for extra in extras]]
for line in lines:
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()) as out:
        told.append((run(line), out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


def test_a_command_names_the_extra_that_it_misses_and_a_search_does_without_its_reranker(project: Path):
    (project / "tasks.jsonl").write_text(TASK)
    (project.parent / "model").mkdir()
    spec = f"cross:{project.parent / 'model'}"
    reranked = ["search", "where is mail sent", ".", "--set", f"search.reranker={spec}"]
    given = json.dumps([BLOCKED, [*CALLS, "mcp", "hf"], [*map(str.split, [*CALLS.values(), INSTALL]), reranked]])
    command = [sys.executable, "-c", SCRIPT, given]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    steps, *missing, (status, out, err) = json.loads(done.stdout)
    for step, (left, printed, said) in zip(steps, missing, strict=False):
        assert (left, printed, said.count("\n"), step in said) == (2, "", 1, True), (step, said)
    assert not (project / ".cursor").exists()
    assert (status, out.startswith("mail/send.py:6  function send_mail\n")) == (0, True)
    assert f"not reranked by '{spec}': scorer 'cross' needs torch: {steps[-1]}" in err
