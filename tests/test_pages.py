"""What a page says is run: its blocks in order as one script, and each command line of sentences, help and messages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, which
from typing import Any

import click
import pytest

import assay
from endpoint_server import Play, serving
from page_blocks import PAGES, ROOT, Block, blocks, in_blocks, in_messages, in_sentences, parse
from postbox import write_postbox
from s3_server import BUCKET, environment, s3_server
from s3_server import program as weed

QUICK = "README.md formats.md python.md searching.md tutorial.md".split()
"""Pages that `make test` runs, in the project alone and without what fences say they need; nightly, pages run whole."""
WAITING = {
    "gallery.md": "benchmarks/documentation.py writes it, with `console norun`; it shows the sources as they were",
}
"""Pages that are not run yet."""
NEEDS: dict[str, tuple[str, ...]] = {
    "needs_api": ("httpx",),
    "needs_bucket": ("obstore",),
    "needs_history": ("git",),
    "needs_hf": ("torch", "transformers"),
    "needs_mcp": ("mcp", "tomlkit"),
    "needs_onnx": ("onnx", "onnxruntime", "torch"),
    "needs_rg": ("rg",),
    "needs_serve": ("fastapi", "uvicorn", "curl"),
    "needs_train": ("torch", "transformers", "sklearn"),
}
"""What a fence may say of a block that runs where some modules and programs are there, and which these are."""
BUCKETS: dict[str, str] = {}
"""Of the environment, where a server for S3 is there."""
DATA = {"csv", "json", "jsonl", "toml", "yaml"}
REASONS = {
    "a sketch of a library": 1, "a sketch: its searchers are an index's": 1, "asks at a terminal": 2,
    "asks people on a page": 3, "goes on after a kill": 1, "installs packages": 16, "needs Kubernetes": 2,
    "needs a model": 2, "needs docker": 1, "needs root and systemd": 1, "needs several machines": 1,
    "needs the network": 1, "runs before a commit": 1, "runs on GitHub": 1, "runs until it is stopped": 9,
    "shows the sandbox of a container": 1, "starts a server of others": 1, "takes data sets of others": 4,
    "takes every test": 1, "starts from a model of the hub": 1, "takes the words of a model on the hub": 1,
    "trains many rankers": 1,
}  # fmt: skip
"""Why blocks cannot run here, and how many there are of each."""
ALONE = {
    "a name stands for any": re.compile(
        r"…|(?<!\$)\b(?!TASKS|SAMPLES|PATH|MRR|MBPP|REST|N\b)[A-Z]{2,}\b|A B C|--sample N"
    ),
    "needs a cluster": re.compile(r"--on ray|--gpus"),
    "needs the network": re.compile(r"--repos\b|git\+URL"),
    "needs data sets of others": re.compile(r"annotationStore|flask|benchmarks/|words.npz|SEMBLE"),
    "needs a server of others": re.compile(r"bench freshness --system '?(tool|web)"),
    "needs another user's folders": re.compile(r"/etc/assay|/srv/"),
    "needs --agent beside it": re.compile(r"^install --undo$"),
    "goes on after a kill": re.compile(r"--resume"),
    "needs a model of the hub": re.compile(r"train generator|train encoder --from-env|^rank train (?!.*--base)"),
    "names no question": re.compile(r"^(search|related) --format json$"),
    "needs labels of people": re.compile(r"--disputed|labels/|labels\.jsonl|--tests agents"),
    "asks at a terminal": re.compile(r"^install --agent (?!.*--(yes|print))"),
}
"""Why a command line that no block runs is not run, and how such a line looks."""
SERVERS = re.compile(r"^(serve|watch|judge (label|prefer)(?!.*--summary)|mcp(?=.*--http))\b")
LEFT_OUT = re.compile(r"assay: (a drawing needs|working, \d+ s|.*: [\d,]+ of [\d,]+, )")
"""What is said where an extra is missing, and how far a command has come where the machine is slow."""


def told(page: Path, *, whole: bool) -> list[Block]:
    """Return the blocks of a page that run here: all that can, or those that need nothing."""
    there = {name for name, parts in NEEDS.items() if whole and all(find_spec(part) or which(part) for part in parts)}
    there -= set() if weed() else {"needs_bucket"}
    return [block for block in blocks(page) if block.word != "norun" and block.needs in {None, *there}]


def script(page: Path, *, whole: bool) -> str:
    """Return the code of a page as one script, for a page is one story: each block goes on where the last one stopped.

    Of a `console` block each command's output is kept, to be compared.
    """
    lines, shown = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"], 0
    for block in told(page, whole=whole):
        lines.append(f"echo '== {block.place}' >&2")
        if block.word == "file":
            lines.append(f"cat > '{block.value}' <<'END OF BLOCK'\n{block.code}END OF BLOCK")
        elif block.language == "sh":
            lines.append(block.code)
        elif block.language == "python":
            lines.append(f"python - <<'END OF BLOCK'\n{block.code}END OF BLOCK")
        for command, _ in commands(block.code) if block.language == "console" else ():
            lines.append(f'{{ {command}\n}} >"$SHOWN/{shown}" 2>&1')
            shown += 1
    return "\n".join(lines)


def commands(code: str) -> list[tuple[str, str]]:
    """Return each command of a `console` block, with its here-document, and what it is said to print."""
    found = re.finditer(r"^\$ (.*(?:\n[^$]*?\nEND(?=\n))?)\n((?:(?!\$ ).*\n)*)", f"{code}\n", re.MULTILINE)
    return [(match[1], match[2]) for match in found]


def plain(output: str) -> str:
    """Return an output without spaces at the ends of lines, and without what depends on the machine."""
    lines = (line.rstrip() for line in output.strip("\n").split("\n"))
    return "".join(f"{line}\n" for line in lines if not LEFT_OUT.match(line))


def printed(expected: str) -> re.Pattern[str]:
    """Return what fits an output as a page shows it: `…` is some of a line, or on a line of its own some lines."""
    text = re.escape(plain(expected))
    return re.compile(re.sub(r"^[ \\]*…\\\n", r"(?:.*\n)*?", text, flags=re.MULTILINE).replace("…", ".*"))


def bash(code: str, folder: Path, home: Path, first: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the commands of this Python, and no input; a folder may stand first on its PATH."""
    path = os.pathsep.join([*filter(None, [first]), str(Path(sys.executable).parent), os.environ["PATH"]])
    known = {"PATH": path, "HOME": str(home), "BROWSER": "true", "HF_HUB_OFFLINE": "1"}
    command = ["bash", "-euo", "pipefail", "-c", code]
    return subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, **known, **more},
    )  # fmt: skip


def replaced(code: str, instead: Mapping[str, str]) -> str:
    """Return a code with what stands here for what it names."""
    for there, here in instead.items():
        code = code.replace(there, here)
    return code


def tell(page: Path, folder: Path, tmp_path: Path, instead: Mapping[str, str] | None = None, **more: str) -> None:
    """Run a page in a folder; a search that finds nothing would fail its line."""
    shown = tmp_path / "shown"
    shown.mkdir()
    whole = instead is not None
    done = bash(replaced(script(page, whole=whole), instead or {}), folder, tmp_path, SHOWN=str(shown), **more)
    assert done.returncode == 0, done.stderr  # its last `==` is the block that failed
    consoles = [block for block in told(page, whole=whole) if block.language == "console"]
    outputs = [(block, *each) for block in consoles for each in commands(block.code)]
    for number, (block, command, output) in enumerate(outputs):
        said = plain((shown / str(number)).read_text("utf-8"))
        assert printed(output).fullmatch(said), f"{block.place}: {command} prints\n{said}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in QUICK], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page: Path, project: Path, tmp_path: Path, first):
    tell(page, project, tmp_path, first=first)


def test_what_a_page_shows_is_compared():
    assert printed("a  1 …\n…\nz").fullmatch("a  1 ms (2)\nb\nc\nz\n")
    assert not printed("a  1 …\nz").fullmatch("a  2 ms\nz\n")
    assert commands("$ x\none\n\n$ y\n") == [("x", "one\n\n"), ("y", "\n")]
    assert commands("$ x <<END\n1\nEND\ntwo\n") == [("x <<END\n1\nEND", "two\n\n")]


def test_a_fence_says_what_is_known_and_why_a_block_cannot_run():
    """A block that nothing runs gives a reason; its Python names what there is."""
    every = [block for page in PAGES if page.name not in WAITING for block in blocks(page)]
    assert not [block.place for block in every if block.needs not in {None, *NEEDS} or (block.word and not block.value)]
    unnamed = {block.place.partition(":")[0] for block in every if block.language in DATA and not block.word}
    assert unnamed == {"docs/formats.md"}  # the settings, which a test of their own compares
    assert Counter(block.value for block in every if block.word == "norun") == REASONS
    for block in every:
        if block.language == "python":
            compile(block.code, block.place, "exec")
            used = set(re.findall(r"\bassay\.([a-zA-Z]\w*)", block.code))
            assert not {name for name in used - set(dir(assay)) if not find_spec(f"assay.{name}")}, block.place
        elif block.language in {"toml", "json"}:
            (tomllib.loads if block.language == "toml" else json.loads)(block.code)


def test_every_command_line_that_is_written_can_be_asked_for():
    """Parse what no test may run, too: a name of a command or an option that is gone fails here."""
    lines = [(line, block.place) for page in PAGES for line, block in in_blocks(page)]
    wrong = []
    for line, where in [*lines, *in_sentences(), *in_messages()]:
        try:
            parse(line)
        except (click.ClickException, ValueError) as error:
            wrong.append(f"{where}: assay {line}: {error}")
    assert not wrong, "\n".join(wrong)
    assert len(lines) > 200


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home, and in it the project with a history and with what pages name."""
    root = write_postbox(tmp_path_factory.mktemp("inputs"))
    done = bash(f"python {ROOT}/tests/page_inputs.py {root}", root, root.parent)
    assert done.returncode == 0, done.stderr
    return root.parent


def fitting(schema: Any) -> Any:
    """Return the least answer that fits a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: fitting(each) for name, each in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [fitting(schema["items"])] * schema.get("minItems", 0)
    known = {
        "string": "what the question asks for",
        "integer": schema.get("minimum", 1),
        "number": 1.0,
        "boolean": True,
    }
    return known[schema["type"]]


def say(question: dict[str, Any]) -> Play:
    """Answer as a model would that takes the first choice."""
    if question.get("logprobs"):
        return Play({"Yes": 0.8, "No": 0.2})
    asked = "\n".join(str(message["content"]) for message in question.get("messages", ()))
    said = question.get("response_format", {}).get("json_schema", {}).get("schema")
    if said is None and "JSON schema:\n" in asked:
        said = json.JSONDecoder().raw_decode(asked.rpartition("JSON schema:\n")[2])[0]
    return Play(text="    return a + 1\n") if said is None else Play(fitting(said))


@pytest.fixture(scope="session")
def instead(tiny_bert: Path) -> Iterator[dict[str, str]]:
    """Return what stands here for what a page names and a test cannot reach: endpoints, models of a hub, `/etc`."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(say))
        if weed():
            BUCKETS.update(environment(stack.enter_context(s3_server())))
        yield {
            "s3://bucket/prefix": f"s3://{BUCKET}/prefix",
            "onnx:MINILM": f"hf:{tiny_bert}",
            "http://localhost:8000/v1": server.base,
            "http://localhost:8001/v1": server.base,
            "http://localhost:8080/v1": server.base,
            "sentence-transformers/all-MiniLM-L6-v2": str(tiny_bert),
            "microsoft/codebert-base": str(tiny_bert),
            "/etc/assay/": "./",
            "search.weights=weights": "search.weights=weights || test $? -eq 1",  # two questions teach little
            "--from-environment": f"--teacher hf:{tiny_bert} --pairs right.jsonl",
            "--sample 500": "--sample 50",
            "--sample 1000": "--sample 1",
            "--sample 2000": "--sample 2",
            "--budget 5usd": "--budget 5Mtok",
            "--budget 150usd": "--budget 150Mtok",
            "--budget 2usd": "--budget 2Mtok",
        }


def says_more(page: Path) -> bool:
    """Say whether a page has blocks that the quick pages do without."""
    quick = len(told(page, whole=False)) if page.name in QUICK else 0
    return page.name not in WAITING and len(told(page, whole=True)) > quick


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", [page for page in PAGES if says_more(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_beside_what_it_names(
    page: Path, inputs: Path, instead: dict[str, str], tmp_path: Path
):
    home = copytree(inputs, tmp_path / "home")
    known = BUCKETS | {"ASSAY_API_BASE": instead["http://localhost:8000/v1"], "ASSAY_API_KEY": "key"}
    tell(page, home / "postbox", home, instead, **known, CHECKOUTS=str(home / "postbox/CHECKOUTS"))


def alone() -> Iterator[Any]:
    """Yield each command line that no block of a page runs, with its arguments; the ones left out say why."""
    written = [each for page in PAGES for each in in_blocks(page)]
    run = {line for line, block in written if block.word != "norun"}
    for line, where in [*((line, block.place) for line, block in written), *in_sentences()]:
        shown = where.startswith(("docs/gallery", "docs/log", "docs/results"))
        if shown or line in run or re.fullmatch(r"((bench|judge|rank|train|truth) )?[a-z]+", line):
            continue
        run.add(line)
        why = next((why for why, looks in ALONE.items() if looks.search(line)), None)
        yield pytest.param(line, id=f"{where} {line}", marks=[pytest.mark.skip(reason=why)] if why else [])


@pytest.mark.nightly
@pytest.mark.parametrize("line", list(alone()))
def test_a_command_line_that_no_block_runs_runs(line: str, inputs: Path, instead: dict[str, str], tmp_path: Path):
    home = copytree(inputs, tmp_path / "home")
    if not line.startswith(("exec ", "judge run ", "candidates ")):  # these make what is made
        copytree(home / "postbox/made", home / "postbox", dirs_exist_ok=True)
    known = BUCKETS | {"ASSAY_API_BASE": instead["http://localhost:8000/v1"], "ASSAY_API_KEY": "key"}
    code = f"timeout --signal INT 20 assay {line}" if SERVERS.search(line) else f"assay {line}"
    done = bash(replaced(code, instead), home / "postbox", home, **known)
    assert done.returncode in ({124} if SERVERS.search(line) else {0, 1}), done.stderr
