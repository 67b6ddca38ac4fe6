from __future__ import annotations

import base64
import gzip
import json
import pickle
import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.programs.samples import references
from assay.programs.tasks.task_file import form_of, read_tasks
from assay.values import Call, Pytest, Script, Stdin

HUMANEVAL = {
    "task_id": "Demo/0",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
}
EVALPLUS = {
    **{name: HUMANEVAL[name] for name in ("task_id", "prompt", "entry_point", "canonical_solution")},
    "base_input": [[1, 2]],
    "plus_input": [[3, 4], [[5], [6]]],
    "contract": "    assert a\n",
    "atol": 0,
}
MBPP = {
    "task_id": 7,
    "text": "Add two numbers.",
    "code": "def helper(a):\n    return a\n\ndef add(a, b):\n    return helper(a) + b\n",
    "test_setup_code": "x = 1",
    "test_list": ["assert add(x, 2) == 3", "assert add(0, 0) == 0"],
    "challenge_test_list": ["assert add(-1, 1) == 0"],
}
APPS = {
    "id": 5,
    "question": "Add.",
    "input_output": json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]}),
    "starter_code": "",
}
BIGCODE = {
    "task_id": "BigCodeBench/7",
    "complete_prompt": 'import math\ndef task_func(n):\n    """Round down."""\n',
    "code_prompt": "import math\ndef task_func(n):\n",
    "canonical_solution": "    return math.floor(n)\n",
    "test": (
        "import unittest\nclass TestCases(unittest.TestCase):\n    def test_down(self):\n"
        "        self.assertEqual((task_func(1.5), os.sep), (1, '/'))\n"
    ),
    "entry_point": "task_func",
    "libs": "['math']",
}
LIVE = {
    "question_id": "2777",
    "question_content": "Double each.",
    "starter_code": "class Solution:\n    def twice(self, xs: List[int], by: int) -> List[int]:\n        ",
    "public_test_cases": json.dumps([{"input": "[1, 2]\n2", "output": "[2, 4]", "testtype": "functional"}]),
    "private_test_cases": "[]",
    "metadata": '{"func_name": "twice"}',
}
OWN = {"id": "a", "prompt": "Add.", "entry_point": "add", "tests": [{"args": [1, 2], "expected": 3}]}


FORMATS = (
    *((HUMANEVAL, "humaneval"), (BIGCODE, "bigcodebench"), (EVALPLUS, "evalplus"), (MBPP, "mbpp")),
    *((APPS, "apps"), (LIVE, "livecodebench"), (OWN, "own")),
)


@pytest.fixture
def tasks(tmp_path: Path):
    def make(*rows: object, form: str = "", name: str = "tasks.jsonl"):
        file = tmp_path / name
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return read_tasks(file, form)

    return make


def test_a_format_is_told_by_its_fields_whatever_the_name(tasks, tmp_path: Path):
    for row, form in FORMATS:
        packed = tmp_path / "packed"
        packed.write_bytes(gzip.compress(json.dumps([row]).encode()))
        assert (tasks(row).form, form_of(packed), tasks("{", row).form) == (form, form, form)


def test_humaneval(tasks):
    (task,) = tasks(HUMANEVAL).tasks
    assert (task.id, task.entry_point, task.prompt) == ("Demo/0", "add", "def add(a, b):\n")
    assert task.tests == (Script(HUMANEVAL["test"]),)
    assert task.reference == "def add(a, b):\n    return a + b\n"


def test_evalplus_has_inputs_and_no_tests_yet(tasks):
    found = tasks(EVALPLUS, {**EVALPLUS, "task_id": 3, "plus_input": {}})
    assert [(task.id, task.tests) for task in found.tasks] == [("Demo/0", ()), ("Mbpp/3", ())]
    inputs = {name: each.args for name, each in found.inputs.items()}
    assert inputs == {"Demo/0": ((1, 2), (3, 4), ([5], [6])), "Mbpp/3": ((1, 2),)}
    assert found.problems == ()


def test_mbpp_has_a_test_for_each_assert(tasks):
    (task,) = tasks(MBPP).tasks
    assert (task.id, task.entry_point, task.setup) == ("Mbpp/7", "add", "x = 1")
    assert task.tests == tuple(Script(each) for each in MBPP["test_list"] + MBPP["challenge_test_list"])


def test_sanitized_mbpp_is_one_list_of_objects_over_many_lines(tmp_path: Path):
    row = {"task_id": 7, "prompt": "Add.", "code": MBPP["code"], "test_imports": ["import math", "import re"]}
    file = tmp_path / "sanitized.json"
    file.write_text(json.dumps([{**row, "test_list": ["assert add(1, 2) == 3"]}, {**row, "task_id": 8}, 9], indent=1))
    found = read_tasks(file)
    assert found.tasks[0].setup == "import math\nimport re"
    assert [str(problem) for problem in found.problems] == [
        "sanitized.json:14: no field 'test_list'",
        "sanitized.json:23: wanted a JSON object, found int '9'",
    ]


def test_apps_programs_read_input_or_are_called_and_a_list_around_each_answer_is_taken_off(tasks):
    (task,) = tasks(APPS).tasks
    assert (task.id, task.entry_point, task.tests) == ("APPS/5", "", (Stdin("1 2\n", "3\n"),))
    for outputs, expected in (([[3], [4]], [3, 4]), ([[3], [4, 5]], [[3], [4, 5]]), ([3, 4], [3, 4])):
        told = {"fn_name": "add", "inputs": [[1, 2], [2, 2]], "outputs": outputs}
        (task,) = tasks({**APPS, "input_output": told, "starter_code": "def add(a, b):"}).tasks
        assert (task.entry_point, task.tests) == ("add", (Call((1, 2), expected[0]), Call((2, 2), expected[1])))


METHOD = "class Solution:\n    def pairs(self, n): return "


def test_apps_methods_are_called_on_an_instance_and_a_tuple_is_a_list_however_deep(tasks, outcome):
    told = {"fn_name": "pairs", "inputs": [[7]], "outputs": [[[[7, 7], [1, 2]]]]}
    answers = {"((n, n), (1, 2))": "correct", "[(n, n), [1, 2]]": "correct", "((n, n), (1, 3))": "IntSmallError"}
    for head, (answer, fault) in product(("def pairs(n): return ", METHOD), answers.items()):
        (task,) = tasks({**APPS, "input_output": told, "starter_code": head.removesuffix(" return ")}).tasks
        assert task.tags["values"] == "json"
        seen = outcome(head + answer, *task.tests, entry=task.entry_point, tags=task.tags)
        assert (str(seen.fault), seen.tests_run) == (fault, 1), head + answer


def test_apps_in_the_flat_layout(tasks):
    pairs = [{"input": "1", "output": [[2, 5]]}, {"input": "2", "output": ["a", True]}]
    row = {"id": 1, "description": "Do.", "starter_code": "def f(n):", "test_list": pairs, "solutions": ["print(1)"]}
    (task,) = tasks(row).tasks
    assert task.tests == (Stdin("1", "[2, 5]"), Stdin("2", "a\nTrue"))
    assert (task.reference, task.tags["starter_code"]) == ("print(1)", "def f(n):")


def test_a_benchmark_puts_code_before_each_program(tasks, outcome):
    for row, body, fault in (
        (BIGCODE, "def task_func(n):\n    return math.floor(n)", "correct"),
        (BIGCODE, "def task_func(n):\n    return math.ceil(n)", "IntSmallError"),
        (LIVE, LIVE["starter_code"] + "return tuple(map(lambda x: x * by, xs))", "correct"),
        (LIVE, LIVE["starter_code"] + "return deque(xs)", "OutputTypeError"),
        ({**LIVE, "metadata": "{}"}, "print(reduce(mul, [1, 2]), 4)\n", "OutputTypeError"),
    ):
        (task,) = tasks(row).tasks
        (program,) = references([replace(task, reference=body)]).programs
        seen = outcome(program.source, *task.tests, entry=task.entry_point, setup=task.setup, tags=task.tags)
        assert (str(seen.fault), seen.tests_run) == (fault, 1), body
    assert tasks(BIGCODE).tasks[0].reference == BIGCODE["complete_prompt"] + BIGCODE["canonical_solution"]


def test_a_pickle_is_read_as_one_text_or_not_at_all(tasks):
    def raw(pickled: bytes) -> str:
        return base64.b64encode(zlib.compress(pickled)).decode()

    def packed(value: object, protocol: int = 4) -> str:
        return raw(pickle.dumps(value, protocol))

    cases = [{"input": "1\n", "output": "2" * 70_000, "testtype": "stdin"}]
    for protocol in range(1, 6):
        (task,) = tasks({**LIVE, "metadata": "{}", "private_test_cases": packed(json.dumps(cases), protocol)}).tasks
        assert task.tests[1] == Stdin("1\n", "2" * 70_000)
    for value, what in (
        (packed(print), "field 'private_test_cases' is a pickle of more than one text (STACK_GLOBAL): not read"),
        (packed(["[]"]), "field 'private_test_cases' is a pickle of more than one text (EMPTY_LIST): not read"),
        (packed("[]")[:-8], "field 'private_test_cases' unpacks to more than 256 MiB, or is cut off"),
        (raw(b"\x80\x04" + b"\x94" * 99 + b"."), "field 'private_test_cases' is a pickle of more than one text: not"),
        ("eJ!", "field 'private_test_cases' is neither JSON nor a compressed pickle of it"),
        (packed("{"), "a test of a function has '{', which is not JSON"),
        ("[1]", "field 'private_test_cases' has items that are not objects"),
    ):
        found = tasks({**LIVE, "private_test_cases": value}, {**LIVE, "question_id": "good"})
        assert str(found.problems[0]).startswith(f"tasks.jsonl:1: {what}")
        assert len(found.tasks) == 1


def test_our_own_lines_hold_every_kind_of_test(tasks):
    tests = [
        {"script": "assert add(1, 2) == 3"},
        {"args": [1, 2], "expected": None, "atol": 0.5},
        {"call": "(1, {2})", "returns": "(3, b'x')"},
        {"call": "[1]", "returns": "1"},
        {"stdin": "1 2", "stdout": "3"},
        {"pytest": "def test_it(): ..."},
    ]
    row = {**OWN, "tests": tests, "setup": "x = 1", "reference": "y = 2", "timeout_s": 9, "tags": {"from": "me"}}
    (task,) = tasks(row).tasks
    calls = (Call((1, 2), None, 0.5), Call((1, {2}), (3, b"x")), Call(([1],), 1))
    assert task.tests == (Script("assert add(1, 2) == 3"), *calls, Stdin("1 2", "3"), Pytest("def test_it(): ..."))
    assert (task.setup, task.reference, task.timeout_s, task.tags) == ("x = 1", "y = 2", 9.0, {"from": "me"})


def test_pytest_files_are_tasks_and_import_the_program(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_sums.py").write_text(
        "from __future__ import annotations\nfrom sums import add\nimport sums\nimport sums as s\nimport sums2\n"
    )
    (tmp_path / "deep" / "sums.py").write_text("def add(a, b): ...\n")
    (tmp_path / "other_test.py").write_text("import solution\n")
    found = read_tasks(tmp_path)
    tests = [(task.id, task.reference) for task in found.tasks]
    assert tests == [("deep/test_sums", "def add(a, b): ...\n"), ("other_test", "")]
    imports = ["from solution import add", "import solution as sums", "import solution as s", "import sums2"]
    assert found.tasks[0].tests[0].source.splitlines()[1:] == imports
    assert read_tasks(tmp_path / "other_test.py").tasks[0].id == "other_test"
    (tmp_path / "test_a.py").write_bytes(b"\xff")
    found = read_tasks(tmp_path)
    assert ([problem.where for problem in found.problems], len(found.tasks)) == (["test_a.py"], 2)


def test_a_broken_record_is_told_with_its_line_and_field(tasks):
    for row, what in (
        ("{", "not JSON: Expecting property name"),
        ('"text"', "wanted a JSON object, found str 'text'"),
        ({**HUMANEVAL, "prompt": 1}, "field 'prompt' is 1, wanted text"),
        ({**HUMANEVAL, "task_id": ""}, "field 'task_id' is empty text, wanted an id"),
        ({**HUMANEVAL, "entry_point": None}, "no field 'entry_point'"),
        ({**HUMANEVAL, "task_id": "x", "test": " "}, "task 'x' has no tests: its programs stay undecided"),
        (HUMANEVAL, "there is a task 'Demo/0' already, and this is the same again"),
        ({**HUMANEVAL, "test": "1"}, "there is a task 'Demo/0' already, and this is another one: the first counts"),
    ):
        found = tasks(HUMANEVAL, row)
        assert (found.tasks[0].id, found.tasks[0].tests) == ("Demo/0", (Script(HUMANEVAL["test"]),))
        assert str(found.problems[0]).startswith(f"tasks.jsonl:2: {what}")
    for test, what in (
        (5, "field 'tests[0]' is 5, wanted an object"),
        ({}, "field 'tests[0]' is not a test: it needs one of script, args, call, stdin, pytest"),
        ({"script": "1", "atol": 1}, "field 'tests[0]': unknown field 'atol'"),
        ({"args": [1]}, "field 'tests[0]': no field 'expected'"),
        ({"args": 1, "expected": 1}, "field 'tests[0]': field 'args' is 1, wanted a list"),
        ({"args": [1], "expected": 1, "atol": -1}, "field 'tests[0]': field 'atol' is -1"),
        ({"call": "f()", "returns": "1"}, "field 'tests[0]': field 'call' is not a Python literal: 'f()'"),
        ({"stdin": "1"}, "field 'tests[0]': no field 'stdout'"),
    ):
        found = tasks(OWN, {**OWN, "id": "b", "tests": [test]})
        assert len(found.tasks) == 1
        assert str(found.problems[0]).startswith(f"tasks.jsonl:2: {what}")
    for fields, what in (
        ({"entry_point": ""}, "field 'tests[0]' is a call, which needs the task's 'entry_point'"),
        ({"tags": {"a": 1}}, "field 'tags' has values that are not texts"),
        ({"timeout_s": -1}, "field 'timeout_s' is -1, wanted a number of at least 0"),
    ):
        assert str(tasks(OWN, {**OWN, "id": "b", **fields}).problems[0]) == f"tasks.jsonl:2: {what}"
    for row, what in (
        ({**APPS, "input_output": "{"}, "field 'input_output' is '{', wanted an object"),
        ({**APPS, "input_output": {"inputs": [1], "outputs": []}}, "field 'input_output' needs lists"),
        ({**APPS, "input_output": {"fn_name": "f", "inputs": ["1"], "outputs": [1]}}, "field 'input_output' with"),
        ({**APPS, "input_output": ""}, "task 'APPS/5' has no tests"),
        ({**EVALPLUS, "base_input": [1]}, "fields 'base_input' and 'plus_input' need a list"),
    ):
        good = EVALPLUS if "atol" in row else {**APPS, "id": 6}
        found = tasks(row, {**good, "task_id": "good"})
        assert str(found.problems[0]).startswith(f"tasks.jsonl:1: {what}")
        assert found.tasks


def test_nothing_usable_is_an_error_that_says_why(tasks, tmp_path: Path):
    with pytest.raises(InputError, match=r"has no usable task: tasks.jsonl:1: no field 'prompt'"):
        tasks({**{name: HUMANEVAL[name] for name in ("task_id", "test", "entry_point")}, "prompt": None})
    with pytest.raises(InputError, match=r"cannot tell the format of .*fields: a, b"):
        tasks({"a": 1, "b": 2})
    with pytest.raises(InputError, match="unknown format 'humanevil'; did you mean 'humaneval'"):
        tasks(HUMANEVAL, form="humanevil")
    with pytest.raises(InputError, match="no such file or folder"):
        read_tasks(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no usable task"):
        read_tasks(tmp_path / "empty")
