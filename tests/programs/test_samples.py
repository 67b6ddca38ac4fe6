from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.programs.extraction import cut
from assay.programs.requests import ReadingOptions
from assay.programs.samples import STOPS, read, references
from assay.values import Task

ADD = Task("Demo/1", 'def add(a, b):\n    """Add."""\n', "add", reference="def add(a, b):\n    return a + b\n")
SUB = Task("Demo/2", "def sub(a, b):\n", "sub")


@pytest.fixture
def samples(tmp_path: Path):
    def make(*rows: object, stop: str = "", extract: str = "auto", tasks=(ADD, SUB)):
        file = tmp_path / "samples.jsonl"
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return read(file, tasks, ReadingOptions(stop=stop, extract=extract))

    return make


def test_each_format_gives_a_whole_program(samples):
    for row, source in (
        ({"completion": "    return 1\n"}, ADD.prompt + "    return 1\n"),
        ({"completion": "    return 1\nprint(2)\n"}, ADD.prompt + "    return 1\nprint(2)\n"),
        ({"completion": "    return 1\nprint(2"}, ADD.prompt + "    return 1"),
        ({"prompt": "def add(a, b):\n", "completion": "    return 1"}, "def add(a, b):\n    return 1"),
        ({"completion": "    return 1", "source": "some model"}, ADD.prompt + "    return 1"),
        ({"solution": "def add(a, b): ..."}, "def add(a, b): ..."),
        ({"code": "def add(a, b): ...", "source": "some model"}, "def add(a, b): ..."),
        ({"source": "def add(a, b): ..."}, "def add(a, b): ..."),
        ({"solution": "x = 1\nprint(x)\n"}, "x = 1\nprint(x)\n"),
        ({"code": ""}, ""),
        ({"code": "\0"}, "\0"),
    ):
        read = samples({"task_id": "Demo/1", **row})
        assert ([program.source for program in read.programs], read.problems) == ([source], ()), row


def test_a_task_is_found_by_its_id_in_other_letters_or_its_number(samples):
    for name in ("Demo/1", "demo/1", "DEMO/1", "1", 1):
        assert samples({"task_id": name, "code": ""}).programs[0].task_id == "Demo/1"
    found = samples({"task_id": "1", "code": ""}, tasks=(ADD, Task("Other/1", "")))
    assert (found.programs, found.unknown) == ((), 1), "a number that two tasks have is none of them"


def test_a_sample_without_an_id_is_found_by_its_prompt(samples):
    found = samples({"prompt": ADD.prompt, "completion": "x"}, {"prompt": "unheard of", "completion": "x"})
    assert [program.task_id for program in found.programs] == ["Demo/1"]
    (problem,) = found.problems
    assert str(problem) == "samples.jsonl:2: no field 'task_id', and no task has this prompt"


def test_programs_have_an_id_and_say_how_often_they_were_sampled(samples):
    row = {"task_id": "Demo/1", "code": "a"}
    found = samples({**row, "n": 7, "model": "m"}, {"task_id": "Demo/2", "code": "b"}, {**row, "id": "mine"}, row)
    numbers = [(program.id, program.n) for program in found.programs]
    assert numbers == [("Demo/1#0", 7), ("Demo/2#0", 1), ("mine", 1), ("Demo/1#2", 1)]
    assert found.programs[0].tags == {"model": "m"}


def test_a_record_may_hold_the_programs_of_a_task_each_behind_what_its_benchmark_puts_there(samples):
    live = Task("LiveCodeBench/9", "", tags={"prelude": "import re\n"}, reference="pass")
    found = samples(
        {"question_id": "9", "code_list": ["a", "b"], "graded_list": [True, False]},
        {"question_id": "9", "code_list": ["c"]},
        {"question_id": "9", "code_list": ["d"], "graded_list": []},
        tasks=(live,),
    )
    assert [(each.id[-2:], each.source, each.tags.get("label")) for each in found.programs] == [
        ("#0", "import re\na", "1"), ("#1", "import re\nb", "0"), ("#2", "import re\nc", None),
    ]  # fmt: skip
    what = "fields 'code_list' and 'graded_list' need as many programs as grades, and one or more"
    assert [str(each) for each in found.problems] == [f"samples.jsonl:3: {what}"]
    assert references([live]).programs[0].source == "import re\npass"


def test_what_is_broken_is_told_and_the_rest_counts(samples):
    good, nowhere = {"task_id": "Demo/1", "code": "a"}, {"task_id": "Demo/9", "code": "a"}
    bad = ({"code": "a"}, {"task_id": "Demo/1"}, {"task_id": "Demo/1", "code": 5}, {**good, "n": 0}, nowhere, nowhere)
    found = samples("{", good, "[1]", *bad, {"task_id": "Demo/2", "code": "a"})
    assert len(found.programs) == 2
    assert found.unknown == 2
    told = [str(problem) for problem in found.problems]
    assert [line.split(":")[1] for line in told] == ["1", "3", "4", "5", "6", "7", "8"]
    assert told[3] == "samples.jsonl:5: no program: it needs a field code, solution, source, program or completion"
    assert told[4] == "samples.jsonl:6: field 'code' is 5, wanted text"
    assert told[6].startswith("samples.jsonl:8: there is no task 'Demo/9'; did you mean 'Demo/")


def test_whole_programs_are_cut_only_when_a_rule_is_named_and_behind_their_header(samples):
    source = "# a comment\nimport os\n\ndef add(a, b):\n    return a\n\nprint(add(1, 2))\n"
    row = {"task_id": "Demo/1", "code": source}
    assert samples(row).programs[0].source == source
    named = samples(row, stop="human-eval")
    assert named.programs[0].source == "# a comment\nimport os\n\ndef add(a, b):\n    return a\n"
    assert (samples(row).stop, named.stop) == ("auto", "human-eval+whole")


def test_a_rule_cuts_at_its_first_sequence_the_rule_none_nowhere_and_an_unknown_one_names_the_nearest(samples):
    assert set(STOPS) == {"human-eval", "codeparrot", "evalplus", "none"}
    for sequences in STOPS.values():
        for sequence in sequences:
            assert cut(f"    return 1{sequence} and more\ndef", sequences) == "    return 1"
    text = "    return 1\nprint(2)\n"
    assert samples({"task_id": "Demo/2", "completion": text}, stop="none").programs[0].source == SUB.prompt + text
    with pytest.raises(InputError, match="did you mean 'human-eval'"):
        samples(stop="humaneval")


def test_references_are_programs_and_a_task_without_one_is_told():
    found = references([ADD, SUB])
    assert [program.source for program in found.programs] == [ADD.reference]
    assert [str(problem) for problem in found.problems] == ["Demo/2: it has no reference to run"]
