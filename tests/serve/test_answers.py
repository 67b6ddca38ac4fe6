"""Answers that fit a context window: whole lines, whole functions, no more tokens than were asked for."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.serve import read_tools, related_tools, search_tools
from assay.serve.as_text import as_text
from assay.serve.cursor import cursor, offset_of
from assay.serve.engine import Waits
from assay.serve.search_tools import Page, SearchFilter
from assay.serve.session import Session
from assay.settings import SearchSettings, Settings

ALL = SearchFilter()
AWAY = "rerank:m@http://127.0.0.1:1/v1"
LONG = "\n".join(
    [
        "def retry_delivery(mail, attempts):",
        '    """Deliver mail again until the server takes it."""',
        *(f"    log.debug('attempt {number} of %s', attempts)" for number in range(60)),
        "",
        "    def wait(seconds):",
        *(f"        clock.sleep(seconds * {number})" for number in range(12)),
        "",
        *(f"    mail.mark({number})" for number in range(50)),
        "    return mail",
        "",
        "",
        "def short(mail):",
        "    return mail",
        "",
    ]
)


@pytest.fixture
def session(project: Path) -> Session:
    (project / "mail" / "retry.py").write_text(LONG)
    return Session({project: Settings()}, waits=Waits(fresh_s=60.0))


def search(
    session: Session, text: str = "deliver mail again", path: str = "", keep: SearchFilter = ALL, **page: object
):
    return search_tools.search(session, [text], path, keep=keep, page=Page(**page))


def lines_of(root: Path, path: str, first: int, last: int) -> str:
    return "".join((root / path).read_text().splitlines(keepends=True)[first - 1 : last])


def test_a_long_function_is_put_together_again(session: Session, project: Path):
    answer = search(session, "retry_delivery attempt", k=3)
    best = answer.hits[0]
    assert (best.path, best.symbol, best.start_line, best.end_line) == ("mail/retry.py", "retry_delivery", 1, 128)
    assert best.complete
    assert best.text == lines_of(project, best.path, best.start_line, best.end_line)
    assert not [hit for hit in answer.hits[1:] if hit.path == best.path and hit.start_line < best.end_line]


def test_where_it_does_not_fit_a_piece_says_that_it_is_one(session: Session, project: Path):
    best = search(session, "retry_delivery attempt", k=1, budget=1200).hits[0]
    assert not best.complete
    assert best.text == lines_of(project, best.path, best.start_line, best.end_line)
    part = search(session, "retry_delivery attempt", k=1, budget=500).hits[0]
    assert not part.complete
    assert part.end_line - part.start_line < best.end_line - best.start_line
    assert part.text == lines_of(project, part.path, part.start_line, part.end_line)


def test_of_a_line_that_no_budget_holds_the_beginning_is_shown(session: Session, project: Path):
    (project / "wide.py").write_text(f"def unmistakable(): return '{'x ' * 900}'\n")
    best = search(session, "unmistakable", budget=500).hits[0]
    assert (best.complete, best.text.startswith("def unmistakable()"), best.text.endswith("…\n")) == (False, True, True)


def test_a_page_of_nothing_or_of_too_much_is_refused(session: Session):
    for page in ({"budget": 10}, {"k": 0}, {"k": 1000}):
        with pytest.raises(InputError, match="wanted"):
            search(session, **page)


def test_another_language_is_read_or_refused_by_name(session: Session):
    german = search(session, "wo wird die Nachricht verschickt")
    assert (german.language, german.corrected, german.notes) == ("German", ["wo message sent"], [])
    assert "read as German: wo message sent" in as_text(german)
    korean = search(session, "메일은 어디서 보내나요")
    assert (korean.relevant, korean.language, korean.corrected) == (False, "", [])
    assert "questions in Korean are not read: ask in English" in as_text(korean)


@pytest.fixture(scope="module")
def tokenizer() -> Callable[[str], int]:
    """Return a byte-level BPE of 30,000 pieces, a third of what a language model has, learnt from code and its JSON."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.ByteLevelBPETokenizer()
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:160]
    texts = [file.read_text("utf-8", "replace") for file in files]
    made.train_from_iterator([*texts, *map(json.dumps, texts)], vocab_size=30_000, show_progress=False)
    return lambda text: len(made.encode(text).ids)


def test_an_explained_answer_keeps_to_its_budget(session: Session, tokenizer: Callable[[str], int]):
    for budget in range(2734, 2754):
        page = Page(8, budget, explain=True)
        answer = search_tools.search(session, ["mailbox"], "", keep=SearchFilter(mode="all"), page=page)
        assert tokenizer(json.dumps(asdict(answer), ensure_ascii=False)) <= budget


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    budget=st.integers(500, 5000),
    k=st.integers(1, 20),
    text=st.sampled_from(["deliver mail again", "mailbox", "route of a path", "configuration timeout"]),
)
def test_every_answer_keeps_to_its_budget_by_a_real_tokenizer(
    session: Session, tokenizer: Callable[[str], int], budget: int, k: int, text: str
):
    page = Page(k, budget, explain=k % 2 == 0)
    keep = SearchFilter(mode="all")
    answers = [
        search_tools.search(session, [text], "", keep=keep, page=page),
        related_tools.related(session, "mail/retry.py", 5, page=page),
        read_tools.outlines(session, "", [], page=page),
        read_tools.patterns(session, ("mail.$F($$$)", "python"), "", [], page=page),
    ]
    for answer in answers:
        assert tokenizer(json.dumps(asdict(answer), ensure_ascii=False)) <= budget
        assert tokenizer(as_text(answer)) <= budget


def test_pages_follow_one_another_without_a_gap(session: Session):
    keep = SearchFilter(mode="all")
    whole = search(session, "mail", keep=keep, k=50, budget=100_000)
    assert not whole.cursor
    spans = {(hit.path, line) for hit in whole.hits for line in range(hit.start_line, hit.end_line + 1)}
    paged, after = [], ""
    while True:
        answer = search(session, "mail", keep=keep, k=2, budget=3000, cursor=after)
        paged += answer.hits
        after = answer.cursor
        if not after:
            break
    assert {(hit.path, line) for hit in paged for line in range(hit.start_line, hit.end_line + 1)} == spans
    assert len(paged) >= len(whole.hits) > 5


def test_matches_and_outlines_are_paged(session: Session):
    for read in (
        lambda **page: read_tools.patterns(session, ("mail.mark($N)", "py"), "", [], page=Page(**page)),
        lambda **page: read_tools.outlines(session, "", [], page=Page(**page)),
    ):
        entries, after = [], ""
        while True:
            answer = read(k=3, cursor=after)
            entries += getattr(answer, "matches", None) or answer.files
            after = answer.cursor
            if not after:
                break
        assert entries == (getattr(read(k=100, budget=90_000), "matches", None) or read(k=100, budget=90_000).files)
        assert len(entries) > 3


def test_a_cursor_of_something_else_is_refused():
    given = cursor(3, ["a"], "v1")
    assert offset_of(given, ["a"], "v1") == 3
    assert offset_of("", ["a"], "v1") == 0
    with pytest.raises(InputError, match="of another question"):
        offset_of(given, ["b"], "v1")
    with pytest.raises(InputError, match="files changed"):
        offset_of(given, ["a"], "v2")


@given(st.text(max_size=300))
def test_any_text_that_is_no_cursor_is_refused(text: str):
    if text:
        with pytest.raises(InputError):
            offset_of(text, ["a"], "v")


def test_a_place_keeps_to_itself(session: Session):
    keep = SearchFilter(mode="all")
    assert {hit.path for hit in search(session, "mail", "mail/send.py", keep, k=20).hits} == {"mail/send.py"}
    assert {hit.path.partition("/")[0] for hit in search(session, "mail", "web", keep, k=20).hits} == {"web"}
    kept = search(session, "mail", "mail", SearchFilter(globs=("*.py", "!send.py")), k=20).hits
    assert {hit.path for hit in kept} == {"mail/address.py", "mail/retry.py"}
    assert [file.path for file in read_tools.outlines(session, "mail", ["s*.py"], page=Page()).files] == [
        "mail/send.py"
    ]


def test_a_pattern_that_matches_nothing_is_doubted_only_where_it_does_not_parse(session: Session):
    doubted = read_tools.patterns(session, ("def (", "python"), "", [], page=Page())
    assert doubted.note.startswith("the pattern is no python")
    assert not read_tools.patterns(session, ("nothing_of_this($A)", "python"), "", [], page=Page()).note


def test_status_says_what_is_held_and_left_out(session: Session, project: Path):
    assert not search_tools.status(session, "").indexed
    (project / "photo.py").write_bytes(b"\0\1")
    search(session)
    found = search_tools.status(session, "mail")
    assert (found.indexed, found.files, found.root) == (True, 5, str(project))
    assert found.left_out == {"binary": 1}
    assert found.examples == ["photo.py: binary"]


def test_programs_are_ordered():
    right, wrong = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    retrn a\n"
    order = search_tools.rank([wrong, right], "Add two numbers.", "add")
    assert [each.index for each in order.programs] == [1, 0]
    assert order.programs[0].score > order.programs[1].score
    with pytest.raises(InputError, match="0 programs"):
        search_tools.rank([])


def test_too_many_queries_and_an_unknown_mode_are_refused(session: Session):
    with pytest.raises(InputError, match="at most 10"):
        search_tools.search(session, ["a"] * 11, "", keep=SearchFilter(), page=Page())
    with pytest.raises(InputError, match="unknown mode 'cod'; did you mean 'code'"):
        search(session, keep=SearchFilter(mode="cod"))
    with pytest.raises(InputError, match="give a file"):
        related_tools.related(session, "mail", 1, page=Page())


def test_an_answer_without_its_reranker_says_so(project: Path):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    plain = search(Session({project: Settings()}))
    answer = search(Session({project: Settings(search=SearchSettings(reranker=AWAY))}))
    assert answer.hits == plain.hits
    assert not plain.notes
    (note,) = answer.notes
    assert note.startswith(f"not reranked by '{AWAY}': http://127.0.0.1:1/v1/rerank failed 2 times")
    assert note in as_text(answer)
