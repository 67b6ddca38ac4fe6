"""Forty forms in which models give one right answer, for prompts that are code and for prompts that are prose."""

from __future__ import annotations

from textwrap import indent

import pytest

from assay.programs.extraction import Answer, code_of, is_code, program_of
from assay.programs.samples import STOPS

HUMANEVAL = """\
from typing import List


def total(xs: List[int]) -> int:
    '''Return the sum.

    >>> total([1, 2])
    3
    '''
"""
PROSE = "Write a function to return the sum of a list of numbers."
BODY = "    return sum(xs)\n"
DEF = "def total(xs):\n    return sum(xs)\n"
TYPED = "from typing import List\n\n\ndef total(xs: List[int]) -> int:\n    return sum(xs)\n"
STDIN = "n = int(input())\nprint(n * n)\n"

WHOLE_FORMS = {
    "as it is": DEF, "with its imports": TYPED, "fence": f"```python\n{DEF}```",
    "fence without a language": f"```\n{DEF}```\n", "fence py3": f"```py3\n{DEF}```\n",
    "fence with CRLF": f"```python\n{DEF}```\n".replace("\n", "\r\n"), "tildes": f"~~~python\n{DEF}~~~\n",
    "four backticks": f"````python\n{DEF}````\n",
    "indented in a list": f"1. Like this:\n\n{indent(f'```python{chr(10)}{DEF}```{chr(10)}', '   ')}",
    "opening fence alone": f"```python\n{DEF}", "closing fence alone": f"{DEF}```\n",
    "closing fence and prose": f"{DEF}```\n\nThis sums the numbers.\n",
    "sentence and fence": f"Here is the function:\n\n```python\n{DEF}```\n",
    "fence and explanation": f"```python\n{DEF}```\n\n**Explanation**: `sum` adds them. It's fast.\n",
    "example block behind": f"```python\n{DEF}```\n\nUsage:\n\n```python\nprint(total([1, 2]))\n```\n",
    "output block behind": f"```python\n{DEF}```\n\nOutput:\n\n```\n3\n```\n",
    "example block before": f"```python\n>>> total([1, 2])\n```\n\n```python\n{DEF}```\n",
    "a draft before": f"```python\ndef total(xs):\n    retrun 0\n```\nNo, better:\n```python\n{DEF}```\n",
    "shell block before": f"```bash\npip install nothing\n```\n\n```python\n{DEF}```\n",
    "sentence without a fence": f"Sure! Here is the code.\n\n{DEF}",
    "sentences around without a fence": f"You can use sum for this:\n\n{DEF}\nThis returns the sum of all.\n",
    "thinking": f"<think>\nThe sum. def total(x): maybe\n</think>\n{DEF}",
    "thinking and fence": f"<think>\nUse ```sum```.\n</think>\n\n```python\n{DEF}```\n",
    "end of thinking alone": f"so sum it is.\n</think>\n\n{DEF}", "end of text": f"{DEF}<|endoftext|>",
    "end of text and more": f"{DEF}<|endoftext|>import os\nimport sys.\nfoo bar\n", "</s>": f"<s> {DEF}</s>",
    "im_end": f"<|im_start|>assistant\n{DEF}<|im_end|>", "eot_id": f"{DEF}<|eot_id|>",
    "DeepSeek's end": f"{DEF}<\uff5cend\u2581of\u2581sentence\uff5c>", "byte order mark": f"\ufeff{DEF}",
    "BEGIN and DONE": f"[BEGIN]\n{DEF}[DONE]\n", "DONE alone": f"{DEF}[DONE]\nProblem 2: another one\n",
    "PYTHON": f"[PYTHON]\n{DEF}[/PYTHON]\n",
    "transcript": ">>> def total(xs):\n...     return sum(xs)\n...\n>>> total([1, 2])\n3\n",
    "diff": "--- a/total.py\n+++ b/total.py\n@@ -1,2 +1,2 @@\n def total(xs):\n-    return 0\n+    return sum(xs)\n",
    "fence inside a string": f'NOTE = """\n```python\nbroken(\n```\n"""\n{DEF}',
    "helper behind": "def total(xs):\n    return add(xs)\n\n\ndef add(xs):\n    return sum(xs)\n",
    "class around": "class Solution:\n    def total(self, xs):\n        return sum(xs)\n\n\ntotal = Solution().total\n",
    "lambda": "total = lambda xs: sum(xs)\n",
}  # fmt: skip
COMPLETIONS = {
    "body": BODY, "body with a helper behind": "    return helper(xs)\n\n\ndef helper(xs):\n    return sum(xs)\n",
    "body and a cut function": f"{BODY}\n\ndef other(x):\n    return (x +\n",
    "body and an end token": f"{BODY}<|endoftext|>", "body in a fence": f"```python\n{BODY}```\n",
    "the prompt again": f"{HUMANEVAL}{BODY}", "the prompt again in a fence": f"```python\n{HUMANEVAL}{BODY}```\n",
}  # fmt: skip


def holds(source: str) -> bool:
    names: dict = {}
    exec(compile(source, "program", "exec"), names)  # ours
    return names["total"]([1, 2, 3]) == 6


@pytest.mark.parametrize("form", WHOLE_FORMS)
def test_each_form_of_a_right_answer_is_a_right_program(form: str):
    text = WHOLE_FORMS[form]
    prompted = [program_of(text, "total", prompt, STOPS["human-eval"]) for prompt in (PROSE, HUMANEVAL)]
    for found in (alone := program_of(text, "total"), *prompted):
        assert holds(found.source), found
    assert holds(code_of(text, "total"))
    assert alone.edits or holds(text)


def test_each_form_of_a_completion_goes_on_where_its_prompt_ends():
    for form, text in COMPLETIONS.items():
        assert holds(program_of(text, "total", HUMANEVAL, STOPS["human-eval"]).source), form


def test_a_program_that_reads_input_is_the_longest_block_that_is_python():
    told = f"Read it:\n\n```python\n{STDIN}```\n\nInput:\n```\n5\n```\nOutput:\n```\n25\n```\n"
    assert program_of(told, "").source == STDIN
    assert program_of(f"Here you go.\n\n{STDIN}", "", "Print the square.").source == STDIN


def test_what_is_python_is_never_touched_and_what_no_way_makes_python_runs_as_it_is():
    for text in (DEF, STDIN, "", "\0", "x = '<|endoftext|>'\n", "# ```\nx = 1\n"):
        assert program_of(text, "") == Answer(text)
    broken = "def total(xs):\n    return sum(xs\n"
    assert program_of(broken, "total") == Answer(broken), "a fault of the program stays one"
    old = f"{DEF}\nprint total([1, 2])\nassert total([1, 2]) = 3\n"
    assert program_of(old, "total") == Answer(old), "Python 2 is no sentence"
    assert program_of("int main() { return 0; }", "total").source == "int main() { return 0; }"
    assert program_of(BODY, "total", PROSE).edits == ("alone, the prompt is prose",)
    for long in ("```python\n" + "x = 1\n" * 50_000 + "```", "```\n" * 500, "A sentence is here.\n" * 9_000):
        assert program_of(long, "total") == Answer(long), "so many lines are not told apart"


def test_a_prompt_is_code_or_prose():
    assert all(map(is_code, (HUMANEVAL, "x = ", "def f():\n", "import os\n", "def f():\n    # sum\n")))
    assert not any(map(is_code, (PROSE, "Given n, print n * n.\n\nInput\n\n5\n")))


def test_what_was_done_is_said():
    said = {form: program_of(text, "total").edits for form, text in WHOLE_FORMS.items()}
    assert said["thinking and fence"] == ("without what was thought first", "taken out of a fence")
    assert said["sentence without a fence"] == ("without sentences around them",)
    assert said["fence inside a string"] == ()
    assert said["diff"] == ("taken out of a diff",)


def test_reading_warns_of_nothing_that_strangers_wrote(recwarn: pytest.WarningsRecorder):
    assert program_of("'\\d'\n" + DEF, "total").edits == ()
    assert program_of("```\n'\\d' is 1\n" + DEF + "```", "total").edits
    assert not recwarn.list
