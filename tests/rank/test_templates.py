"""Templates of prompts and samplers: what a model reads, an endpoint over HTTP, and files that go on."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ChatError, InputError, Notice
from assay.llm.endpoint import endpoint as endpoint_of
from assay.programs.samples import read
from assay.rank import samplers
from assay.rank.requests import SamplingOptions
from assay.rank.sample import SamplingPlan, sample, spent
from assay.rank.samplers import (
    Completions,
    EndpointSampler,
    FewShots,
    SamplingQuestion,
    ScoredToken,
    load_template,
    render,
)
from assay.values import Call, LogProbability, Stdin, Task
from endpoint_server import VARIABLES, EndpointServer, Play, serving

PROMPT = 'def add(a, b):\n    """Add two numbers {a} and {b}.\n\n    >>> add(1, 2)\n    3\n    """\n'
ADD = Task("add", PROMPT, "add", (Call((1, 2), 3),), tags={"starter_code": "def add(a, b):\n"})
READ = Task("read", "Print the sum.", "", (Stdin("1 2\n", "3\n"),))
SOLVED = [Task(f"s/{n}", f"Return {n}.", f"f{n}", reference=f"def f{n}():\n    return {n}\n") for n in range(5)]
SOLVED.append(Task("s/read", "Print one.", reference="print(1)"))


class Writer:
    """A model that says one thing, and keeps what it was asked."""

    name, whole = "m", False

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Any] = []

    def sample(self, question):
        self.asked.append(question)
        return Completions((self.text,) * question.options.n)


def test_the_plain_template_is_the_task_and_apps_says_how_a_program_gets_its_input():
    plain = load_template()
    assert render(plain, ADD) == PROMPT
    assert render(plain, ADD, chat=True).endswith(f"nothing else.\n\n{PROMPT}")
    unnamed = Task("add", "Add two numbers.", "add")
    assert render(plain, unnamed, chat=True).endswith("nothing else.\nName the function `add`.\n\nAdd two numbers.")
    assert plain.continues
    assert ">>>" not in render(plain, ADD, strip=True)
    apps = load_template("apps")
    assert render(apps, ADD) == (
        f"QUESTION:\n{PROMPT}\ndef add(a, b):\nUse call-based format: define `add`, which takes the inputs as "
        "arguments and returns the answer.\nANSWER:\n"
    )
    said = "Use standard input format: read the input from standard input and print the answer."
    assert render(apps, READ) == f"QUESTION:\nPrint the sum.\n{said}\nANSWER:\n"
    assert not apps.continues


def test_few_shots_show_solved_tasks_that_are_not_sampled():
    template = load_template("few-shot")
    shots = FewShots(SOLVED, 2, sampled=[SOLVED[0], Task("other", "Return   1.")])
    names = {each.id for task in (ADD, SOLVED[2], SOLVED[3]) for each in shots.of(task)}
    assert names <= {"s/2", "s/3", "s/4"}
    assert SOLVED[2] not in shots.of(SOLVED[2])
    assert shots.of(READ)[0].id == "s/read"
    text = render(template, ADD, shots=shots.text_of(ADD, template))
    assert (text.count("[TASK]"), text.count("[END]")) == (3, 2)
    assert text.endswith("[PROGRAM]\n")
    assert FewShots(SOLVED, 2, sampled=SOLVED).of(SOLVED[0])  # the file is the sampled one: all but the task itself
    with pytest.raises(InputError, match="6 tasks have a reference, and 7 are to be shown"):
        FewShots(SOLVED, 7)
    with pytest.raises(InputError, match="5 tasks are left to be shown before s/0"):
        FewShots(SOLVED, 6).of(SOLVED[0])


def test_what_a_template_ends_with_is_asked_for_and_cut_and_another_template_is_another_run(tmp_path: Path):
    plan = SamplingPlan(load_template("few-shot"), FewShots(SOLVED, 1))
    model = Writer("def add(a, b):\n    return a + b\n[END]\n[TASK]\nmore")
    sample([ADD], model, SamplingOptions(n=2), tmp_path / "s.jsonl", plan)
    assert model.asked[0].options.stop == ("[END]", "[TASK]")
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [row["code"] for row in rows] == ["def add(a, b):\n    return a + b\n"] * 2
    out = tmp_path / "other.jsonl"
    sample([ADD], Writer("pass"), SamplingOptions(n=1), out)
    for plan, named in (
        (SamplingPlan(load_template("apps")), "stop, template"),
        (SamplingPlan(strip_examples=True), "strip_examples"),
    ):
        with pytest.raises(InputError, match=f"another run: {named} differ"):
            sample([ADD], Writer("pass"), SamplingOptions(n=2), out, plan)


def test_a_file_that_is_wrong_says_where_and_shots_and_templates_have_to_fit(tmp_path: Path):
    file = tmp_path / "mine.md"
    for text, said in (
        ("{promt}", r"has the field \{promt}; did you mean 'prompt'"),
        ("Solve it.", r"<!-- prompt --> has no field \{prompt}"),
        ("<!-- shots -->\n{prompt}\n", "unknown part <!-- shots -->; did you mean 'shot'"),
        ("words\n<!-- prompt -->\n{prompt}\n", "wanted <!-- prompt --> at its beginning"),
        ("{shots}{prompt}", "no <!-- shot --> says how one is shown"),
        ("<!-- prompt -->\n{prompt}\n<!-- shot -->\n{prompt}\n", r"<!-- shot --> has no field \{program}"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=said):
            load_template(str(file))
    with pytest.raises(InputError, match="give --shots FILE"):
        SamplingPlan(load_template("few-shot"))
    with pytest.raises(InputError, match=r"has no \{shots\}"):
        SamplingPlan(load_template(), FewShots(SOLVED, 1))


def test_a_file_of_ones_own(tmp_path: Path):
    file = tmp_path / "mine.md"
    file.write_text(
        "<!-- prompt -->\nTask: {prompt}\n{examples}\n{tests}\n# {entry_point} {x y}\n<!-- stop -->\n\\n#\n"
    )
    template = load_template(str(file))
    assert template.stop == ("\n#",)
    (tmp_path / "plain").write_text("{prompt}")
    assert str(load_template("plain")) == "plain"
    assert str(load_template(str(tmp_path / "plain"))).startswith("plain "), "its hash tells it from the built-in one"
    text = render(template, ADD)
    assert text.endswith("assert add(1, 2) == 3\nassert add(1, 2) == 3\n# add {x y}")
    assert render(template, READ).endswith("Input:\n1 2\nOutput:\n3\n#  {x y}")
    with pytest.raises(InputError, match="no such file, nor a template; did you mean 'few-shot'"):
        load_template("few-shots")


def test_options_that_would_change_nothing_are_refused(assay, tmp_path: Path):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    asked = ["rank", "sample", tasks, "--out", tmp_path / "s.jsonl", "--model"]
    for given, said in (
        (["vllm:m", "--complete", "--template", "apps", "--stop", "none"], "--stop none: no rule ends the answers of"),
        (["vllm:m", "--stop", "evalplus"], "--stop evalplus: no rule ends the answers of"),
        (["vllm:m", "--shot-count", "2"], "give --shots FILE, or leave it out"),
    ):
        ran = assay(*asked, *given)
        assert (ran.status, said in ran.err) == (2, True), ran.err


pytest.importorskip("httpx", reason="the api extra is not installed")


def complete(*, completes: bool = True) -> EndpointSampler:
    return EndpointSampler(endpoint_of("openai", "m"), completes=completes, pause_s=0.001)


def chat() -> EndpointSampler:
    return complete(completes=False)


TASKS = [Task("t/0", "def f():\n", "f"), Task("t/1", "def g():\n", "g")]
FEW = SamplingOptions(n=5, temperature=0.5, seed=3)
BY_THREE = SamplingPlan(batch=3, in_flight=1)


def say(question: dict[str, Any]) -> Play:
    """Answer a prompt as a model for programs does, or a chat with a block of code."""
    if "messages" in question:
        return Play(text="Here:\n```python\ndef f():\n    return 1\n```\nDone.")
    return Play()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(say) as running:
        monkeypatch.setenv("ASSAY_API_BASE", running.base)
        yield running


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_completions_are_asked_for_in_batches_and_what_they_took_is_kept(endpoint: EndpointServer, tmp_path: Path):
    sample(TASKS, complete(), FEW, tmp_path / "s.jsonl", BY_THREE)
    took = spent(tmp_path / "s.jsonl")
    assert sorted(question["n"] for question in endpoint.questions) == [2, 2, 3, 3]
    assert set(endpoint.paths) == {"/v1/completions"}
    first = endpoint.questions[0]
    assert (first["model"], first["prompt"], first["temperature"], first["max_tokens"]) == ("m", "def f():\n", 0.5, 512)
    assert first["stop"] == ["\nclass", "\ndef", "\n#", "\nif"]
    assert len({question["seed"] for question in endpoint.questions}) == 4
    assert (took.samples, took.requests, took.prompt_tokens, took.completion_tokens) == (10, 4, 28, 40)
    samples = read(tmp_path / "s.jsonl", TASKS)
    assert not samples.problems
    assert samples.programs[0].source == "def f():\n    return 1\n"
    assert samples.programs[0].tags["temperature"] == "0.5"
    assert len({each.id for each in samples.programs}) == 10


def test_a_run_that_was_cut_off_asks_for_what_is_missing(endpoint: EndpointServer, tmp_path: Path):
    out = tmp_path / "s.jsonl"
    sample(TASKS[:1], complete(), FEW, out)
    half = out.read_bytes()
    out.write_bytes(half[: len(half) // 2])
    kept = half[: len(half) // 2].count(b"\n")
    endpoint.questions.clear()
    sample(TASKS, complete(), FEW, out)
    assert sorted(question["n"] for question in endpoint.questions) == [5 - kept, 5]
    gaps = [line for line in lines(out) if line["id"] not in {"t/0#1", "t/0#3", "t/1#4"}]
    out.write_text("".join(json.dumps(line) + "\n" for line in reversed(gaps)))
    endpoint.questions.clear()
    sample(TASKS, complete(), FEW, out)
    assert sorted(question["n"] for question in endpoint.questions) == [1, 2]
    assert sorted(line["id"] for line in lines(out)) == [f"{task.id}#{number}" for task in TASKS for number in range(5)]
    endpoint.questions.clear()
    sample(TASKS, complete(), FEW, out)
    fewer = sample(TASKS, complete(), SamplingOptions(n=3, temperature=0.5, seed=3), out)
    assert (endpoint.questions, fewer.samples) == ([], 0)
    with pytest.raises(InputError, match=r"another run: temperature differ"):
        sample(TASKS, complete(), SamplingOptions(n=5, temperature=0.9, seed=3), out)


def test_chat_answers_are_the_program_in_their_code_block(endpoint: EndpointServer, tmp_path: Path):
    sample(TASKS, chat(), SamplingOptions(n=1), tmp_path / "s.jsonl", BY_THREE)
    assert set(endpoint.paths) == {"/v1/chat/completions"}
    assert "def f():" in endpoint.questions[0]["messages"][0]["content"]
    assert "stop" not in endpoint.questions[0]
    assert endpoint.questions[0]["max_tokens"] == 512
    whole, part = lines(tmp_path / "s.jsonl")
    assert whole["code"] == "def f():\n    return 1\n"
    assert part["completion"].startswith("def f()")
    assert part["model"] == f"openai:m@{endpoint.base}"


def test_an_endpoint_that_gives_or_takes_fewer_samples_at_once_is_asked_again(endpoint: EndpointServer, tmp_path: Path):
    few = json.dumps({"choices": [{"text": "    return 1\n"}] * 2}).encode()
    endpoint.say = lambda question: Play(body=few if question["n"] > 2 else None)
    sample(TASKS[:1], complete(), FEW, tmp_path / "s.jsonl")
    assert [question["n"] for question in endpoint.questions] == [5, 3, 1]
    endpoint.questions.clear()
    refused = Play(status=400, body=b"Field 'n': Value must be between 1 <= value <= 4, but got 5")
    endpoint.say = lambda question: refused if question["n"] > 4 else Play()
    with pytest.warns(Notice, match="takes no n of 5: it is asked for 4 at a time"):
        sample(TASKS, complete(), FEW, tmp_path / "other.jsonl", SamplingPlan(batch=10, in_flight=1))
    assert [question["n"] for question in endpoint.questions] == [5, 4, 4, 1, 1]
    assert len(lines(tmp_path / "other.jsonl")) == 10


def test_what_is_under_way_is_written_when_another_question_fails(endpoint: EndpointServer, tmp_path: Path):
    meeting = threading.Barrier(2, timeout=60)

    def answer(_: dict[str, Any]) -> Play:
        if len(endpoint.questions) == 1:  # its answer makes room for two
            return Play()
        return Play(delay_s=0.05) if meeting.wait() else Play(status=401)

    endpoint.say = answer
    tasks = [Task("t/2", "def h():\n", "h"), *TASKS]
    with pytest.raises(ChatError, match="HTTP 401"):
        sample(tasks, complete(), FEW, tmp_path / "s.jsonl")
    assert sorted(Counter(line["task_id"] for line in lines(tmp_path / "s.jsonl")).values()) == [5, 5]


def test_a_prompt_that_is_refused_is_told_once_and_the_others_are_sampled(endpoint: EndpointServer, tmp_path: Path):
    long = Play(status=400, body=b"maximum context length is 2048 tokens")
    endpoint.say = lambda question: long if question["prompt"] == TASKS[0].prompt else Play()
    out, many = tmp_path / "s.jsonl", SamplingOptions(n=20)
    tally = sample(TASKS, complete(), many, out, SamplingPlan(batch=2, in_flight=4))
    assert [(problem.where, "maximum context" in problem.what) for problem in tally.problems] == [("t/0", True)]
    assert len(lines(out)) == 20
    assert sum(question["prompt"] == TASKS[0].prompt for question in endpoint.questions) <= 8
    tasks = [*TASKS, *(Task(f"t/{number}", TASKS[0].prompt, "f") for number in range(2, 40))]
    endpoint.questions.clear()
    again = sample(tasks, complete(), many, out, SamplingPlan(batch=100, in_flight=1))
    assert (len(again.problems), len(endpoint.questions), len(lines(out))) == (39, 39, 20)
    endpoint.questions.clear()
    with pytest.raises(InputError, match=r"25 tasks in a row were refused: .*maximum context"):
        sample(tasks[2:], complete(), FEW, tmp_path / "all.jsonl", SamplingPlan(in_flight=1))
    assert len(endpoint.questions) == 25


def test_every_line_that_is_written_can_be_read(endpoint: EndpointServer, tmp_path: Path):
    for number, values in enumerate(([], [0.0005, -0.00025], [0.25, -0.125], [float("nan")], [float("-inf")], [-1e30])):
        said = {"tokens": ["x"] * len(values), "token_logprobs": values}
        answer = json.dumps({"choices": [{"text": "x" * len(values), "logprobs": said}]}).encode()
        endpoint.say = lambda _, answer=answer: Play(body=answer)
        out = tmp_path / f"{number}.jsonl"
        sample(TASKS[:1], complete(), SamplingOptions(n=1, logprobs=True), out)
        read_again = read(out, TASKS)
        assert read_again.problems == ()
        known = LogProbability(0.0, len(values)) if number < 2 else None
        assert [program.logprob for program in read_again.programs] == [known]


def test_without_examples_the_prompt_that_is_stored_is_that_of_the_task_alone(endpoint: EndpointServer, tmp_path: Path):
    template = tmp_path / "mine.md"
    template.write_text("<!-- prompt -->\nGo on, please:\n{prompt}\n<!-- stop -->\nEND\n")
    endpoint.say = lambda _: Play(body=json.dumps({"choices": [{"text": "    return 1\nEND more"}]}).encode())
    task = Task("t", 'def f():\n    """One.\n\n    >>> f()\n    1\n    """\n', "f")
    plan = SamplingPlan(samplers.load_template(str(template)), strip_examples=True)
    sample([task], complete(), SamplingOptions(n=1), tmp_path / "s.jsonl", plan)
    assert endpoint.questions[0]["prompt"].startswith("Go on, please:\ndef f")
    (program,) = read(tmp_path / "s.jsonl", [task]).programs
    assert program.source.startswith("def f():")
    assert ">>>" not in program.source
    assert program.source.endswith('"""\n    return 1\n')


@pytest.mark.filterwarnings("ignore:.*asking again:assay.errors.Notice")
def test_refusals_and_answers_without_a_choice_are_shown(endpoint: EndpointServer):
    for play, said in (
        (Play(status=401), "HTTP 401"),
        (Play(body=b'{"choices": [{}]}'), "no choices"),
        (Play(body=b'{"choices": []}'), "no choice at all"),
        (Play(body=b'{"error": "upstream is gone"}'), "upstream is gone"),
        (Play(refusal="I will not"), "wrote no text: I will not"),
        (Play(body=b'{"choices": [{"message": {"content": [1]}, "finish_reason": "length"}]}'), "larger --max-tokens"),
        (Play(status=400, body=b'{"message": "no tools\\n"}'), "no tools"),
    ):
        endpoint.questions.clear()
        endpoint.say = lambda _, play=play: play
        with pytest.raises(ChatError, match=said):
            chat().sample(SamplingQuestion("p", SamplingOptions()))
    assert len(endpoint.questions) == 1, "the end of a line is no word about n"
    endpoint.say = lambda _: Play(status=400, body=b"unknown field logprobs")
    with pytest.raises(InputError, match="add --no-logprobs"):
        chat().sample(SamplingQuestion("p", SamplingOptions(logprobs=True)))


KINDS = {
    True: (["    return", " 1", "\n", "\nprint", "(2)"], (-7.0, 3), 1),
    False: (["Here:\n", "```\n", "x = ", "é", "\n```"], (-12.0, 2), True),
}
"""Tokens of an answer, the sum and the number of those of its program, and how they are asked for."""


def test_log_probabilities_are_those_of_the_program_alone_and_the_key_is_never_written(endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    values = [-1.0, -2.0, -4.0, -8.0, -16.0]
    for completes, (tokens, wanted, asked) in KINDS.items():
        said: dict[str, Any] = {"tokens": tokens, "token_logprobs": values}
        if not completes:
            said = {"content": [{"token": t, "logprob": v} for t, v in zip(tokens, values, strict=True)]}
        choice = {"text": "".join(tokens), "message": {"content": "".join(tokens)}, "logprobs": said}
        endpoint.say = lambda _, choice=choice: Play(body=json.dumps({"choices": [choice]}).encode())
        task = Task("t", "def f():\n", "f" if completes else "")
        out = tmp_path / f"{completes}.jsonl"
        sample([task], complete(completes=completes), SamplingOptions(n=1, logprobs=True), out)
        assert endpoint.questions[-1]["logprobs"] == asked
        (line,) = lines(out)
        assert (line["logprob_sum"], line["logprob_tokens"], line["logprob_covers"]) == (*wanted, "program")
        (program,) = read(out, [task]).programs
        assert program.logprob == LogProbability(*wanted)
        assert spent(out).scored == 1
        assert endpoint.keys[-1] == "Bearer sesame"
        assert "sesame" not in out.read_text()


def test_tokens_that_do_not_add_up_count_all_and_the_longest_block_is_the_program():
    tokens = [ScoredToken(b"?", -1.0), ScoredToken(b"b", -2.0)]
    assert samplers.logprob_in("ab", "b", tokens) == LogProbability(-3.0, 2, "answer")
    assert samplers.logprob_in("ab", "b", []) is None
    huge, odd = {"token": "a", "bytes": 10**12, "logprob": -(10**400)}, {"token": "a", "bytes": 1, "logprob": 3}
    for content in ([{"token": 3}], [huge], [odd]):
        assert samplers.tokens_of({"logprobs": {"content": content}}) is None
    assert samplers.tokens_of({"logprobs": None}) is None
    said = {"tokens": ["a", "b"], "token_logprobs": [None, -1]}
    assert samplers.tokens_of({"logprobs": said}) == [ScoredToken(b"b", -1.0)]
    blocks = ("```\na\n```\nor\n```py\nlonger = 1\n```", "```python\ncut off", "x = 1")
    assert [samplers.code_of(text) for text in blocks] == ["longer = 1\n", "cut off\n", "x = 1"]


@pytest.mark.usefixtures("endpoint")
def test_the_command_says_what_it_took(assay, tmp_path: Path):
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    out = tmp_path / "s.jsonl"
    chosen = ("--model", "openai:m", "--complete", "--n", "3")
    ran = assay("rank", "sample", tasks, *chosen, "--out", out)
    assert ran.status == 0, ran.err
    first, second, third = ran.out.splitlines()
    assert first == "3 samples in 1 request: 7 tokens in, 12 out"
    assert re.fullmatch(r"3 samples in \d s: [\d,.]+ a second", second)
    assert third == "3 of 3 have no log-probability: the model gave none"
    assert spent(out).samples == 3
    assert assay("rank", "sample", tasks, "--model", "openai", "--out", out).status == 2
    for spec, said in (("opnai:m", "did you mean 'openai'"), ("openai:m?seed=3", "seed has no effect here")):
        assert said in assay("rank", "sample", tasks, "--model", spec, "--out", out).err


@pytest.mark.usefixtures("endpoint")
def test_another_port_goes_on_with_the_samples_of_a_named_place(tmp_path: Path):
    out = tmp_path / "s.jsonl"
    for number in (1, 2):
        with serving(say) as server:
            model = samplers.sampler(f"openai:m@{server.base}?as=lab", completes=True)
            assert sample(TASKS, model, SamplingOptions(n=number), out).samples == 2
            assert [question["n"] for question in server.questions] == [1, 1]


def test_what_was_cut_is_marked_and_tokens_of_all_samples_are_counted(endpoint: EndpointServer, tmp_path: Path):
    said = {"text": " 1", "logprobs": {"content": [{"token": " 1", "logprob": -1.0}]}}
    choices = [{**said, "finish_reason": finish} for finish in ("stop", "length", "stop")]
    usage = {"prompt_tokens": -7, "completion_tokens": 10**400}
    endpoint.say = lambda _: Play(body=json.dumps({"choices": choices, "usage": usage}).encode())
    out = tmp_path / "s.jsonl"
    sample(TASKS[:1], complete(), SamplingOptions(n=3, logprobs=True), out)
    assert [line.get("finish") for line in lines(out)] == [None, "length", None]
    assert (spent(out).prompt_tokens, spent(out).completion_tokens) == (0, 3), "no such counts"
    assert not read(out, TASKS).problems
