"""Write, small, every file that a page or the example of a help names, beside the project: `page_inputs.py FOLDER`."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree


def rows(name: str, made: list[dict[str, object]]) -> None:
    """Write JSON lines."""
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in made))


def tasks() -> None:
    """Write twenty tasks in three formats, and three programs for each: right, wrong, broken."""
    human, own, samples = [], [], []
    for more in range(1, 21):
        head = f'def more(a):\n    """Add {more} to a number.\n\n    >>> more(1)\n    {1 + more}\n    """\n'
        task = {"task_id": f"HumanEval/{more}", "prompt": head, "entry_point": "more"}
        test = f"def check(candidate):\n    assert candidate(2) == {2 + more}\n"
        human.append({**task, "test": test, "canonical_solution": f"    return a + {more}\n"})
        tests = [{"args": [2], "expected": 2 + more}]
        own.append({"id": task["task_id"], "prompt": head, "entry_point": "more", "tests": tests})
        for name, body in {"right": f"a + {more}", "wrong": f"a - {more}", "broken": f"b + {more}"}.items():
            sample = {"task_id": task["task_id"], "id": f"{name}-{more}", "code": f"def more(a):\n    return {body}\n"}
            samples.append({**sample, "model": "codegen", "config": "t0.8"})
    for name in ("HumanEval", "MBPP", "TASKS", "SOLVED"):
        rows(f"{name}.jsonl", human)
    rows("tasks.jsonl", own)
    for name in ("samples", "SAMPLES", "beginnings", "mbpp"):
        rows(f"{name}.jsonl", samples)
    for name in ("HumanEval", "samples"):
        Path(f"{name}.jsonl.gz").write_bytes(gzip.compress(Path(f"{name}.jsonl").read_bytes()))
    for name in ("TASKS", "SAMPLES", "SOLVED"):
        Path(f"{name}.jsonl").rename(name)
    for name in ("tries", "tests"):
        Path(name).mkdir()
    Path("tries/one.py").write_text("def more(a):\n    return a + 1\n")
    Path("tries/two.py").write_text("def more(a):\n    return b + 1\n")
    Path("tests/test_more.py").write_text("from solution import more\n\n\ndef test_more():\n    assert more(1) == 2\n")
    rows("programs.jsonl", [{"task_id": "test_more", "code": "def more(a):\n    return a + 1\n"}])


def pairs() -> None:
    """Write pairs of query and code, what people say of them, and what they are made of."""
    words = "add subtract join split sort count reverse double square shift print open".split()
    made = [
        {"query": f"{word} the {at} numbers", "code": f"def {word}_{at}(a, b):\n    return a\n", "label": at % 2}
        for at, word in enumerate(words * 10)
    ]
    for number, name in enumerate(("pairs", "judged", "web", "forum")):
        each = [{**row, "id": f"q{at}", "query": f"{row['query']} {number}"} for at, row in enumerate(made)]
        each = [{**row, "code": row["code"].replace("(a", f"_{number}(a")} for row in each]
        rows(f"{name}.jsonl", each)
    other = [
        {"idx": f"q{at}", "doc": f"{row['query']} 0", "code": f"pass  # {at}", "label": 1}
        for at, row in enumerate(made)
    ]
    Path("cosqa.json").write_text(json.dumps(other))
    for name in ("people", "gold", "a", "b", "c"):
        labels = [f"q{at},q{at},{(at + (name == 'c')) % 2}\n" for at in range(40)]
        Path(f"{name}.csv").write_text("query_id,code_id,label\n" + "".join(labels))
    right = [{"query": row["query"], "code": row["code"], "source": f"s{at % 24}"} for at, row in enumerate(made)]
    rows("right.jsonl", right)
    rows("test.jsonl", made[:4])
    rows("queries.jsonl", [{"id": f"q{at}", "query": row["query"]} for at, row in enumerate(made[:6])])
    rows("codes.jsonl", [{"id": f"c{at}", "code": row["code"]} for at, row in enumerate(made[:6])])
    Path("web.txt").write_text("send mail again when the server is busy\n")


def truth() -> None:
    """Write ground truth about the project, and about two checkouts."""
    lines = "query,kind,result1\nsend again when the server is busy,standard,mail/send.py:6-12:2\n"
    lines += "which mailbox is valid,hard,mail/address.py:11-13:2\n"
    for name in ("queries.csv", "truth.csv", "truth/gin.csv", "truth/fd.csv", "click.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(lines)
    docs = "query,kind,result1\nhow long may a server take,docs,README.md:5-7:2\n"
    for name in ("gin", "fd"):
        Path(f"truth/{name}_docs.csv").write_text(docs)
    Path("more.txt").write_text("six\n")
    about = {"type": "judgment", "query_id": "1", "target": "mail/send.py:6-12", "grade": 1}
    rows("assay-truth.jsonl", [{"type": "query", "id": "1", "text": "send again when the server is busy"}, about])


def history() -> None:
    """Make a repository of the folder, with four commits."""
    git = "git -c user.name=ann -c user.email=ann@example.com"
    run_shell("git init --quiet --initial-branch main && git remote add origin https://github.com/owner/name")
    run_shell(f"git add README.md mail web && {git} commit --quiet --message 'Send mail'")
    send = Path("mail/send.py")
    for part, what in enumerate(("limit the retries of a busy server", "complete words of a shell", "say who sent it")):
        code = f'def part_{part}(server):\n    """Find what is needed to {what}."""\n    return server.part({part})\n'
        send.write_text(f"{send.read_text()}\n\n{code}")
        run_shell(f"{git} commit --quiet --all --message 'Retries: {what}'")


def run_shell(line: str) -> None:
    """Run a line of a shell, and stop where it fails."""
    subprocess.run(["bash", "-c", line], check=True)


def session(folder: Path, root: Path) -> None:
    """Write a session of Claude Code that searched and edited a repository."""
    lines: list[dict[str, object]] = [
        {"type": "user", "message": {"role": "user", "content": "try again when the server is busy"}}
    ]
    for tool, given in {"Grep": {"pattern": "busy"}, "Edit": {"file_path": f"{root}/mail/send.py"}}.items():
        call = {"type": "tool_use", "id": tool, "name": tool, "input": given}
        back = {"type": "tool_result", "tool_use_id": tool, "content": "mail/send.py:7"}
        lines.append({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
        lines.append({"type": "user", "message": {"role": "user", "content": [back]}})
    folder.mkdir(parents=True, exist_ok=True)
    about = {"sessionId": "s", "cwd": str(root), "timestamp": "2099-01-01T00:00:00Z"}
    rows(f"{folder}/s.jsonl", [{**line, **about} for line in lines])


def made() -> None:
    """Write what commands make of the others."""
    run_shell("assay exec TASKS SAMPLES --out mbpp.outcomes.jsonl && assay judge run pairs.jsonl --out earlier.jsonl")
    run_shell("assay rank data TASKS SAMPLES --out a.jsonl && cp a.jsonl apps.jsonl && cp a.jsonl data.jsonl")
    run_shell("assay candidates queries.jsonl codes.jsonl --k 2 && assay judge export earlier.jsonl --to bench")
    Path("made").mkdir()  # what a page makes itself, for single lines
    run_shell("cp mbpp.outcomes.jsonl made/outcomes.jsonl && assay rank mix a.jsonl --out made/data.parquet")
    run_shell("cp made/data.parquet made/mbpp.parquet && assay truth convert truth.csv made/truth.jsonl")
    run_shell("for name in records a b gold; do cp earlier.jsonl made/$name.jsonl; done; mv queries.csv made")
    Path("made/assay.toml").write_text("[search]\nweights = 'weights'\n")
    matrix = "[sets.own]\ntruth = 'truth.csv'\ncorpus = '.'\n\n[systems.assay]\nspec = 'assay'\n"
    Path("made/matrix.toml").write_text(matrix)
    ranking = "[sets.own]\nsamples = 'SAMPLES'\noutcomes = 'outcomes.jsonl'\n\n[rankers.gate]\nspec = 'gate'\n"
    Path("made/rankers.toml").write_text(ranking)
    run_shell("sed 's:HumanEval:h:' a.jsonl >humaneval.jsonl")
    run_shell("sed 's:HumanEval:b:' a.jsonl >b.jsonl && sed 's:HumanEval:c:' a.jsonl >c.jsonl")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    history()
    # what stands beside is not searched
    Path(".git/info/exclude").write_text("/*\n!/mail\n!/web\n!/src\n!/README.md\n")
    Path("src").mkdir()
    Path("src/app.py").write_text('class Task:\n    """A piece of work."""\n\n    def retry(self):\n        return 1\n')
    for name in "api PATH checkout CHECKOUTS/gin CHECKOUTS/fd CHECKOUTS/click ../code/app ../code/library".split():
        copytree("mail", f"{name}/mail")
        copy("README.md", name)
    tasks()
    pairs()
    truth()
    run_shell("git clone --quiet . app")
    session(Path("sessions"), Path("app").resolve())
    session(Path.home() / ".claude/projects/-home-me-app", Path.cwd())
    made()
