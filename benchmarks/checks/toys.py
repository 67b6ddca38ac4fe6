"""Write a folder of toys: small files of every kind that the scripts take, so that each runs in seconds."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="the bench extra is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="the bench extra is not installed")

LANGUAGES = Path(__file__).parents[1] / "truth" / "languages"
MAIL = '''"""Sending mail."""

import time


def send_mail(server, message, attempts=3):
    """Deliver a message, trying again when the server is busy."""
    for attempt in range(attempts):
        if server.deliver(message):
            return True
        time.sleep(2**attempt)
    raise RuntimeError(f"the server {server} did not take the message after {attempts} attempts")
'''
ADDRESS = '''"""Addresses of people."""

from mail.send import send_mail

MOST_NAMES = 20


class Address:
    """A name and where mail for it goes."""

    def __init__(self, name, mailbox):
        self.name = name
        self.mailbox = mailbox

    def is_valid(self):
        """Say whether the mailbox has a host."""
        return "@" in self.mailbox

    def greet_person(self, server):
        """Send a greeting to a person by mail."""
        return send_mail(server, "hello", attempts=MOST_NAMES)
'''
ROUTER = """// Finds the handler of a request by its path.
export function matchRoute(routes, path) {
  if (!routes) throw new Error("there are no routes to match against, add one first")
  return routes.find((route) => route.pattern.test(path))
}

export function handleRequest(routes, request) {
  return matchRoute(routes, request.path).handler(request)
}
"""
PATH = '''"""Paths of files."""


def parse_path(path):
    """Parse a path into its parts, the file and the folders that it lies in."""
    *folders, file = path.split("/")
    return file, folders


def handle_errors(errors, log):
    """Say where errors are handled: each is written to the log."""
    for error in errors:
        log.write(error)
'''
FILES = {
    "mail/send.py": MAIL,
    "mail/address.py": ADDRESS,
    "web/router.js": ROUTER,
    "README.md": "# Postbox\n\nSends mail.\n\n## Configuration\n\nThe `timeout` setting bounds the time of a server.\n",
    "web/path.py": PATH,
    "CHANGES.md": "# Changes\n",
}
JAVA = """class Shop {
    int price(int count) {
        int one = single();
        return one * count;
    }

    int single() {
        int least = 3;
        return least;
    }
}
"""
CATALOG = """msgid ""
msgstr ""
"Language: de\\n"

msgid "The file is open."
msgstr "Die Datei ist offen."
"""
QUESTIONS = (
    ("where is mail sent again when the server is busy", "mail/send.py:6-12:3"),
    ("say whether an address has a host", "mail/address.py:15-17:3"),
    ("find the handler of a request by its path", "web/router.js:2-5:3"),
)
FOREIGN = (
    "how are DICOM slices sorted into a volume",
    "where is the radiation dose clamped",
    "which crops are watered at night",
)
TASKS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def {name}(x):\n    """Return {what}.\n\n    >>> {name}(3)\n    {3 + more}\n    """\n',
        "entry_point": name,
        "canonical_solution": f"    return x + {more}\n",
        "test": f"def check(it):\n    assert it(3) == {3 + more}\n    assert it(-1) == {more - 1}\n",
    }
    for number, (name, what, more) in enumerate([("raised", "one more than x", 1), ("twice_raised", "two more", 2)])
]
MBPP = [
    {
        "task_id": 600 + number,
        "text": f"Write a function to {what} of a list of numbers.",
        "code": f"def {name}(values):\n    return {name[:3]}(values)",
        "test_list": [f"assert {name}([1, 2]) == {first}", f"assert {name}([4, 2]) == {second}"],
    }
    for number, (name, what, first, second) in enumerate(
        [("sum_of", "find the sum", 3, 6), ("min_of", "find the least", 1, 2), ("max_of", "find the greatest", 2, 4)]
        * 8
    )
]
COSQA = [
    (f"python {verb} the {thing} of a file", f"def {verb}_{thing}(file):\n    return file.{thing}.{verb}()\n")
    for verb in ("read", "write", "sort", "check")
    for thing in ("lines", "words", "names", "dates", "bytes")
]


def write_toys(folder: Path) -> None:
    """Write all of them."""
    for name in ("hono", "click"):
        last = write_repository(folder / "co" / name)
        write_truth(folder / "few" / f"{name}.csv", QUESTIONS)
        write_truth(folder / "sets" / f"{name}.csv", ((question, QUESTIONS[0][1]) for question in translated(name)))
    write_truth(folder / "sets" / "click_docs.csv", [("which setting bounds the time of a server", "README.md:5-7:3")])
    write_table(folder / "foreign.csv", ("query", "writer"), [(text, "J") for text in FOREIGN])
    asked = {"repo": "click", "kind": "what", "query": "what is send_mail"}
    write_lines(folder / "asked.jsonl", [{**asked, "answers": [{"path": "mail/send.py", "line": 6}]}])
    named = {"repository": "click", "kind": "function", "query": "send_mail", "places": ["mail/send.py:6"]}
    write_lines(folder / "kinds.jsonl", [named])
    write_table(folder / "described.tsv", ("0" * 16, "send_mail", "Sends a letter."), [], "\t")
    (folder / "roots.txt").write_text("".join(f"{folder}/co/{name}\n" for name in ("click", "hono")))
    (folder / "java").mkdir()
    (folder / "java" / "Shop.java").write_text(JAVA)
    patch = "--- a/mail/send.py\n+++ b/mail/send.py\n@@ -6,2 +6,2 @@\n-def send_mail(server, message, attempts=3):\n"
    patch += "+def send_mail(server, message, attempts=4):\n     for attempt in range(attempts):\n"
    issue = {
        "instance_id": "one",
        "repo": "co/click",
        "base_commit": last,
        "patch": f"diff --git a/mail/send.py b/mail/send.py\n{patch}",
    }
    issue |= {
        "problem_statement": "Mail is sent three times only\n\nA busy server is given up too soon.",
        "created_at": "2024-01-01",
    }
    lines = {
        "issues.jsonl": [issue],
        "tasks.jsonl": TASKS,
        "samples.jsonl": programs(),
        "pairs.jsonl": [pair(number, query, code) for number, (query, code) in enumerate(COSQA[:6])],
        "gold.jsonl": [{"query_id": f"q{number}", "code_id": f"c{number}", "label": number % 2} for number in range(6)],
        "mbpp.jsonl": MBPP,
        "mbpp_programs.jsonl": [
            {"task_id": f"Mbpp/{row['task_id']}", "code": row["code"].replace("return", how), "label": label}
            for row in MBPP
            for how, label in (("return", 1), ("return -", 0))
        ],
    }
    for name, rows in lines.items():
        write_lines(folder / name, rows)
    (folder / "po").mkdir()
    (folder / "po" / "de.po").write_text(CATALOG, encoding="utf-8")
    write_semble(folder / "semble")
    write_octocode(folder / "octocode")
    write_agent_tasks(folder / "asked.json", last)
    write_cosqa(folder / "cosqa")
    shutil.copytree(folder / "co" / "click", folder / "clones" / "pallets+click")
    url = f"https://github.com/pallets/click/blob/{last}/mail/send.py#L1-L2"
    write_table(folder / "annotations.csv", ("Language", "GitHubUrl"), [("Python", url)])


def write_semble(folder: Path) -> None:
    """Write one of the repositories of semble's benchmark, with one question."""
    revision = write_repository(folder / "click" / "src" / "click")
    asked = {"query": QUESTIONS[0][0], "relevant": ["src/click/mail/send.py"], "secondary": [], "category": "semantic"}
    (folder / "click.json").write_text(json.dumps([asked]))
    known = {"name": "click", "language": "python", "url": "", "revision": revision, "benchmark_root": "src/click"}
    (folder / "repos.json").write_text(json.dumps([known]))


def write_octocode(folder: Path) -> None:
    """Write a repository with as many questions as octocode's, whose commit nobody has."""
    write_repository(folder)
    for name in ("code", "docs"):
        rows = ((f"{QUESTIONS[0][0]} {number}", QUESTIONS[0][1]) for number in range(127))
        write_table(folder / "benchmark" / f"{name}.csv", ("query", "result1"), rows)
    shutil.rmtree(folder / ".git")


def write_repository(root: Path) -> str:
    """Write a repository of three commits, and return the last one."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "--quiet", "--initial-branch", "main")
    commit(root, "Send mail")
    for number, what in enumerate(
        ("Mail to a busy server is sent again later", "Routes of requests are found by path")
    ):
        (root / f"more{number}.py").write_text(f'def more_{number}():\n    """{what}."""\n    return {number}\n')
        with (root / "CHANGES.md").open("a") as file:
            file.write(f"\n- {what}, as people asked for it.\n")
        commit(root, what.split(" is ")[0])
    git(root, "clone", "--quiet", "--bare", str(root), str(root.with_suffix(".git")))
    return git(root, "rev-parse", "HEAD")


def commit(root: Path, message: str) -> None:
    git(root, "add", "--all")
    git(root, "-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "--quiet", "-m", message)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout.strip()


def translated(repository: str) -> list[str]:
    """Return the questions about a repository that have translations."""
    with (LANGUAGES / "development.csv").open(encoding="utf-8", newline="") as file:
        return [row["query"] for row in csv.DictReader(file) if row["repository"] == repository]


def write_truth(file: Path, rows: Iterable[tuple[str, str]]) -> None:
    write_table(file, ("query", "kind", "result1"), [(question, "standard", place) for question, place in rows])


def write_table(file: Path, heads: Iterable[str], rows: Iterable[Iterable[str]], between: str = ",") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter=between).writerows([heads, *rows])


def write_lines(file: Path, rows: Iterable[Mapping[str, object]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def programs() -> list[dict[str, object]]:
    """Return three programs of each task: right, wrong, broken."""
    bodies = ("return x + {0}", "return x - {0}", "return y")
    return [
        {"task_id": task["task_id"], "code": f"def {task['entry_point']}(x):\n    {body.format(number + 1)}\n"}
        for number, task in enumerate(TASKS)
        for body in bodies
    ]  # fmt: skip


def pair(number: int, query: str, code: str) -> dict[str, object]:
    return {"query_id": f"q{number}", "query": query, "code_id": f"c{number}", "code": code}


def write_agent_tasks(file: Path, commit: str) -> None:
    """Write one task about a toy repository."""
    targets = [{"path": "mail/send.py", "start": 6, "end": 12}]
    asked = [{"tool": "search", "arguments": {"query": QUESTIONS[0][0]}}]
    task = {"id": "click-1", "set": "known", "repository": "click", "question": QUESTIONS[0][0], "targets": targets}
    task |= {"grep": ["grep -rn busy ."], "assay": asked}
    file.write_text(json.dumps({"repositories": {"click": {"url": "", "commit": commit}}, "tasks": [task]}))


def write_cosqa(folder: Path) -> None:
    """Write CoSQA as CoIR lays it out, and the lists of pairs beside it."""
    folder.mkdir()
    held = len(COSQA) - 5
    tables: dict[str, list[dict[str, object]]] = {
        "queries": [{"_id": f"q{at}", "text": query} for at, (query, _) in enumerate(COSQA)],
        "corpus": [{"_id": f"c{at}", "text": code} for at, (_, code) in enumerate(COSQA)],
        "train": [{"query-id": f"q{at}", "corpus-id": f"c{at}", "score": 1} for at in range(held)],
        "valid": [{"query-id": f"q{at}", "corpus-id": f"c{at}", "score": 1} for at in range(held, len(COSQA))],
    }
    for name, rows in tables.items():
        parquet.write_table(pa.Table.from_pylist(rows), folder / f"{name}-00000-of-00001.parquet")
    listed = [
        {"idx": f"d{at}", "doc": query, "code": code, "label": 1} for at, (query, code) in enumerate(COSQA[held:])
    ]
    for name in ("cosqa-dev", "cosqa-retrieval-dev-500"):
        (folder / f"{name}.json").write_text(json.dumps(listed))
