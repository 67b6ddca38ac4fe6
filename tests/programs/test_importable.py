"""What programs can import decides about their outcomes, so a run whose sandbox has other modules is another run."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest

from assay.bench.program_ranking import RecordedRanker
from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError, OlderRun
from assay.judge.campaign import CampaignSettings
from assay.programs.modules.importable import changes, importable
from assay.programs.modules.install_missing import install_missing_modules
from assay.programs.run_samples import ready_tasks, run_samples
from assay.programs.samples import Samples
from assay.programs.tasks.task_file import TaskFile
from assay.runs.record import append_lines, begin, manifest_of
from assay.runs.run_manifest import stamp_of
from assay.types import Call, Program, Ranked, Task

TASK = Task("t", "", "f", tests=(Call((), 42),))
SAMPLES = Samples((Program("t", "import tinything\ndef f(): return tinything.x", "t#0"),))


def installed(folder: Path, name: str, version: str) -> None:
    """Put a distribution where pip would."""
    folder.mkdir(mode=0o755, exist_ok=True)
    (folder / f"{name}.py").write_text("x = 42\n")
    (folder / f"{name}-{version}.dist-info").mkdir()


def ran(place: Path, out: Path) -> list[str]:
    """Run the samples where programs import from a folder; return how each fared."""
    reading = TaskFile((TASK,))
    opened = partial(open_sandbox, workers=1, paths=[place])
    with install_missing_modules(opened, reading, SAMPLES, print) as room:
        rows = run_samples(reading, ready_tasks(reading, room), SAMPLES, room, out, Limits())
    return [str(row.outcome.fault) for row in rows]


def test_a_sandbox_says_what_programs_can_import(tmp_path: Path):
    tmp_path.chmod(0o755)
    for name in ("Some_Thing-1.0.dist-info", "old-2.1-py3.11.egg-info", "bare.egg-info", "nothing.txt"):
        (tmp_path / name).mkdir()
    (tmp_path / "after").mkdir()
    (tmp_path / "after" / "some_thing-9.0.dist-info").mkdir()
    with open_sandbox(workers=1, paths=[tmp_path, tmp_path / "after"]) as sandbox:
        found = importable(sandbox)
    assert {"some-thing==1.0", "old==2.1", "bare=="} <= set(found)
    assert any(each.startswith("cpython==3.") for each in found)


def test_what_came_went_and_changed_is_named():
    before, now = ("a==1", "b==1", "c==1"), ("b==1", "c==2", "d==3")
    assert changes(before, now) == "c 1 is now 2, d 3 was not there, a 1 is gone"
    assert changes((), [f"x{number}==1" for number in range(9)]).endswith("x4 1 was not there, and 4 more")


def test_a_run_is_not_continued_where_a_module_came(tmp_path: Path):
    tmp_path.chmod(0o755)
    out, place = tmp_path / "outcomes.jsonl", tmp_path / "site"
    installed(place, "other", "1.0")
    assert ran(place, out) == ["other execution error"]
    assert ran(place, out) == ["other execution error"]
    installed(place, "tinything", "2.0")
    with pytest.raises(InputError, match=r"importable \(tinything 2\.0 was not there\) differ; give another --out"):
        ran(place, out)
    assert ran(place, tmp_path / "other.jsonl") == ["correct"]


def test_a_run_of_an_earlier_version_goes_on_and_says_what_it_does_not_know(tmp_path: Path):
    out = tmp_path / "records.jsonl"
    settings = CampaignSettings("signals", config="", importable=("cpython==3.11.2",))
    append_lines(out, [{}])
    before = {name: value for name, value in asdict(settings).items() if name != "importable"}
    manifest_of(out).write_text(json.dumps({"settings": before}))
    begin(out, replace(settings, importable=()), "verdicts")
    manifest_of(out).write_text(json.dumps({"settings": before}))
    with pytest.warns(OlderRun, match="does not say what programs could import then"):
        begin(out, settings, "verdicts")
    begin(out, settings, "verdicts")
    with pytest.raises(InputError, match=r"importable \(cpython 3\.11\.2 is now 3\.12\.1\) differ"):
        begin(out, replace(settings, importable=("cpython==3.12.1",)), "verdicts")


class Counting:
    """A ranker that runs programs, as far as its name says."""

    name, asked = "examples", 0

    def rank(self, task, programs):  # noqa: ARG002
        self.asked += 1
        return [Ranked(program, 1.0) for program in programs]


def test_an_order_found_by_running_is_made_again_where_modules_changed(tmp_path: Path):
    ranker = Counting()
    for modules in (("a==1",), ("a==1",), ("a==2",)):
        with RecordedRanker(ranker, tmp_path / "orders.jsonl", modules) as recorded:
            recorded.rank(TASK, SAMPLES.programs)
    assert ranker.asked == 2


@pytest.mark.parametrize(
    "spec",
    [
        "{}",
        "{}?dtype=bf16",
        "{}+consensus",
        "consensus+{}?device=cpu",
        "chat:openai:m?first={}",
        "consensus:{}/weights?without=central",
        "logprob:hf:{}",
    ],
)
def test_an_order_is_made_again_where_a_file_changed_that_any_part_of_a_spec_names(tmp_path: Path, spec: str):
    ranker, folder = Counting(), tmp_path / "model"
    folder.mkdir()
    named = str(folder) if ":{}" in spec else f"neural:{folder}"
    ranker.name = spec.format(named)
    for weights in ("1", "1", "12"):
        if not (folder / "weights").is_file() or (folder / "weights").read_text() != weights:
            (folder / "weights").write_text(weights)
        with RecordedRanker(ranker, tmp_path / "orders.jsonl") as recorded:
            recorded.rank(TASK, SAMPLES.programs)
    assert ranker.asked == 2


def test_weights_and_prompts_of_the_package_are_part_of_its_stamp(tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "weights.json").write_text("1")
    before = stamp_of(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("2")
    assert stamp_of(tmp_path) == before
    (tmp_path / "data" / "prompt.md").write_text("3")
    assert stamp_of(tmp_path) != before
