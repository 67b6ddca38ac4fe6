"""The GitHub Action and the pre-commit hooks: what they run is run, on a small project."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from git_repositories import commit, git

yaml = pytest.importorskip("yaml", reason="PyYAML reads the files of actions and hooks")

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "integrations" / "github-action" / "action.yml"
TRUTH = """{"type": "query", "id": "again", "text": "deliver a message again when the server is busy"}
{"type": "judgment", "query_id": "again", "target": "mail/send.py::send_mail", "grade": 1}
"""
MORE = """{"type": "query", "id": "valid", "text": "which mailbox is valid"}
{"type": "judgment", "query_id": "valid", "target": "mail/address.py::Address.is_valid", "grade": 1}
"""
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+)(?: \|\| github\.event\.pull_request\.base\.sha)? \}\}")
Ran = subprocess.CompletedProcess[str]


@pytest.fixture
def environment(first: str, project: Path, tmp_path: Path) -> dict[str, str]:
    """Return an environment with this program on PATH, and questions in the project."""
    (project / "questions.jsonl").write_text(TRUTH)
    (project / ".assayignore").write_text("questions.jsonl\n")
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return {**os.environ, "PATH": f"{first}{os.pathsep}{os.environ['PATH']}", **files}


def run(command: list[str], environment: dict[str, str], project: Path) -> Ran:
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def act(environment: dict[str, str], project: Path, **inputs: str) -> Ran:
    """Run the steps of the action as a runner does, all but the installation, up to the first that fails."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    given = {name: about.get("default", "") for name, about in action["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    for step in action["runs"]["steps"][1:]:
        values = {name: INPUT.sub(lambda found: given[found[1]], value) for name, value in step["env"].items()}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = run(command, {**environment, **values}, project)
        if done.returncode:
            break
    return done


def test_the_action_measures_passes_or_fails_and_says_where_the_report_is(environment: dict[str, str], project: Path):
    done = act(environment, project, truth="questions.jsonl", fail_under="Hit@5=0.9\nMRR=0.9\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(environment["GITHUB_OUTPUT"]).read_text() == "report=assay-bench/report.html\n"
    assert "### assay bench" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    (project / "assay-bench" / "results.json").rename(project / "baseline.json")
    inputs = {"baseline": "baseline.json", "out": "second", "fail_under": "Precision@5=0.9"}
    done = act(environment, project, truth="questions.jsonl", **inputs)
    assert (done.returncode, "Precision@5" in done.stdout) == (1, True)
    assert "::error title=Search quality::questions: assay has Precision@5" in done.stdout
    assert "::" not in Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert (project / "second" / "RESULTS.md").exists()  # the page beside it is not drawn here
    (project / "mail" / "send.py").unlink()
    assert act(environment, project, truth="questions.jsonl").returncode == 2, "every place of the truth is gone"


def test_a_pull_request_is_compared_with_its_base(environment: dict[str, str], project: Path):
    base = commit(project, {"mail/__init__.py": ""}) if git(project, "init", "--quiet") == "" else ""
    (project / "questions.jsonl").write_text(TRUTH + MORE)
    commit(project, {"mail/send.py": (project / "mail" / "send.py").read_text().replace("send_mail", "f")})
    done = act(environment, project, truth="questions.jsonl", baseline=base)
    assert (done.returncode, "::error title=Search quality::a right place" in done.stdout) == (1, True), done.stdout
    assert act(environment, project, truth="questions.jsonl", baseline="none").returncode == 1, "truth check says so"


def test_the_action_takes_no_code_from_its_inputs(environment: dict[str, str], project: Path):
    steps = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    read = {name for step in steps["runs"]["steps"] for value in step["env"].values() for name in INPUT.findall(value)}
    assert read == set(steps["inputs"]), "it declares what it reads"
    assert not [step for step in steps["runs"]["steps"] if "${{" in step["run"]], "inputs are given as variables"
    done = act(environment, project, truth='"; touch owned; "', fail_under="$(touch owned)")
    assert done.returncode
    assert not (project / "owned").exists()


def test_the_hooks_check_the_truth_and_measure_again_after_a_change(environment: dict[str, str], project: Path):
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = {one["id"]: shlex.split(one["entry"]) for one in hooks}

    def hook(name: str, *arguments: str) -> int:
        return run([*entries[name], *arguments], environment, project).returncode

    assert hook("assay-truth", "questions.jsonl") == 0
    assert hook("assay-truth", "missing.jsonl") == 2
    assert hook("assay-bench", "questions.jsonl", "--fail-under", "MRR=0.9") == 0
    (project / "mail" / "send.py").write_text("def unrelated():\n    return 1\n")
    (project / "questions.jsonl").write_text(TRUTH.replace("send_mail", "unrelated"))
    assert hook("assay-bench", "questions.jsonl", "--fail-under", "MRR=0.9") == 1
