"""Answers that fit a context window: whole lines, whole functions, no more tokens than were asked for."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.operations import read
from assay.operations import search as searching
from assay.operations.hits import as_text, cursor, offset_of
from assay.operations.related import related
from assay.operations.requests import Outline, PatternSearch, Related, Search, SearchFilter, StatusOf
from assay.operations.status import status
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import Settings

EVERY = SearchFilter(mode="all")
LONG = (
    'def retry_delivery(mail, attempts):\n    """Deliver mail again until the server takes it."""\n'
    + "".join(f"    log.debug('attempt {number} of %s', attempts)\n" for number in range(60))
    + "\n    def wait(seconds):\n"
    + "".join(f"        clock.sleep(seconds * {number})\n" for number in range(12))
    + "\n"
    + "".join(f"    mail.mark({number})\n" for number in range(50))
    + "    return mail\n\n\ndef short(mail):\n    return mail\n"
)


@pytest.fixture
def session(project: Path) -> Session:
    (project / "mail" / "retry.py").write_text(LONG)
    return Session({project: Settings()}, waits=Waits(fresh_s=60.0))


def search(
    session: Session,
    text: str = "deliver mail again",
    path: str = "",
    keep: SearchFilter = SearchFilter(),  # noqa: B008  it is frozen
    **page: object,
):
    return searching.search(Search(text, path=path, keep=keep, **page), session)


def lines_of(root: Path, hit: Any) -> str:
    return "".join((root / hit.path).read_text().splitlines(keepends=True)[hit.start_line - 1 : hit.end_line])


def pages(read: Callable[..., Any], **page: object) -> Iterator[Any]:
    after = ""
    while True:
        answer = read(**page, cursor=after)
        yield answer
        after = answer.cursor
        if not after:
            return


def test_a_long_function_is_joined_and_a_piece_of_it_is_marked(session: Session, project: Path):
    answer = search(session, "retry_delivery attempt", limit=3)
    best = answer.hits[0]
    assert (best.path, best.symbol, best.start_line, best.end_line) == ("mail/retry.py", "retry_delivery", 1, 128)
    assert (best.complete, best.text) == (True, lines_of(project, best))
    assert not [hit for hit in answer.hits[1:] if hit.path == best.path and hit.start_line < best.end_line]
    sizes = [127]
    for budget in (1200, 500):
        part = search(session, "retry_delivery attempt", limit=1, budget=budget).hits[0]
        assert (part.complete, part.text) == (False, lines_of(project, part))
        sizes.append(part.end_line - part.start_line)
    assert sizes == sorted(set(sizes), reverse=True)
    (project / "wide.py").write_text(f"def unmistakable(): return '{'x ' * 900}'\n")
    best = search(Session({project: Settings()}), "unmistakable", budget=500).hits[0]
    assert (best.complete, best.text.startswith("def unmistakable()"), best.text.endswith("…\n")) == (False, True, True)


@pytest.fixture(scope="module")
def tokenizer() -> Callable[[str], int]:
    """Return a byte-level BPE of 30,000 pieces, a third of what a language model has, learnt from code and its JSON."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.ByteLevelBPETokenizer()
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:160]
    texts = [file.read_text("utf-8", "replace") for file in files]
    made.train_from_iterator([*texts, *map(json.dumps, texts)], vocab_size=30_000, show_progress=False)
    return lambda text: len(made.encode(text).ids)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    budget=st.integers(500, 5000),
    limit=st.integers(1, 20),
    text=st.sampled_from(["deliver mail again", "mailbox", "route of a path", "configuration timeout"]),
)
def test_every_answer_fits_its_budget_by_a_real_tokenizer(
    session: Session, tokenizer: Callable[[str], int], budget: int, limit: int, text: str
):
    page = {"limit": limit, "budget": budget}
    explain = limit % 2 == 0 and budget > 1000  # below that reasons may leave no room for a line, which is an error
    answers = [
        search(session, text, keep=EVERY, explain=explain, **page),
        related(Related(path="mail/retry.py", line=5, **page), session),
        read.outlines(Outline(**page), session),
        read.patterns(PatternSearch("mail.$F($$$)", lang="python", **page), session),
    ]
    for answer in answers:
        assert tokenizer(json.dumps(asdict(answer), ensure_ascii=False)) <= budget
        assert tokenizer(as_text(answer)) <= budget
    for exact in range(2734, 2754, 4):  # an answer that was a few tokens too long
        answer = search(session, "mailbox", keep=EVERY, budget=exact, explain=True)
        assert tokenizer(json.dumps(asdict(answer), ensure_ascii=False)) <= exact


def test_pages_follow_one_another_without_a_gap(session: Session):
    whole = search(session, "mail", keep=EVERY, limit=50, budget=100_000)
    assert not whole.cursor
    paged = [
        hit
        for answer in pages(lambda **page: search(session, "mail", keep=EVERY, **page), limit=2, budget=3000)
        for hit in answer.hits
    ]

    def lines(hits: list[Any]) -> set[tuple[str, int]]:
        return {(hit.path, line) for hit in hits for line in range(hit.start_line, hit.end_line + 1)}

    assert lines(paged) == lines(whole.hits)
    assert len(paged) >= len(whole.hits) > 5
    for name, listed in (
        ("matches", lambda **page: read.patterns(PatternSearch("mail.mark($N)", lang="py", **page), session)),
        ("files", lambda **page: read.outlines(Outline(**page), session)),
    ):
        entries = [each for answer in pages(listed, limit=3) for each in getattr(answer, name)]
        assert entries == getattr(listed(limit=100, budget=90_000), name)
        assert len(entries) > 3


@settings(max_examples=50)
@given(st.text(min_size=1, max_size=300))
def test_a_cursor_of_something_else_is_refused(text: str):
    given = cursor(3, ["a"], "v1")
    assert (offset_of(given, ["a"], "v1"), offset_of("", ["a"], "v1")) == (3, 0)
    with pytest.raises(InputError, match="belongs to another question"):
        offset_of(given, ["b"], "v1")
    with pytest.raises(InputError, match="files changed"):
        offset_of(given, ["a"], "v2")
    with pytest.raises(InputError):
        offset_of(text, ["a"], "v")


def test_a_place_limits_an_answer(session: Session):
    assert {hit.path for hit in search(session, "mail", "mail/send.py", EVERY, limit=20).hits} == {"mail/send.py"}
    assert {hit.path.partition("/")[0] for hit in search(session, "mail", "web", EVERY, limit=20).hits} == {"web"}
    kept = search(session, "mail", "mail", SearchFilter(file=("*.py", "!send.py")), limit=20).hits
    assert {hit.path for hit in kept} == {"mail/address.py", "mail/retry.py"}
    outlined = read.outlines(Outline(path="mail", file=("s*.py",)), session).files
    assert [file.path for file in outlined] == ["mail/send.py"]
    with pytest.raises(InputError, match="give a file"):
        related(Related(path="mail", line=1), session)


def test_only_a_pattern_that_does_not_parse_is_doubted(session: Session):
    doubted = read.patterns(PatternSearch("def (", lang="python"), session)
    assert doubted.note.startswith("the pattern alone is not valid python")
    assert not read.patterns(PatternSearch("nothing_of_this($A)", lang="python"), session).note


def test_status_names_files_left_out_and_stale(session: Session, project: Path):
    assert not status(StatusOf(), session).indexed
    (project / "photo.py").write_bytes(b"\0\1")
    search(session)
    found = status(StatusOf(path="mail"), session)
    assert (found.indexed, found.files, found.root) == (True, 5, str(project))
    assert (found.left_out, found.examples) == ({"binary": 1}, ["photo.py: binary"])
    (project / "web" / "router.js").unlink()
    assert status(StatusOf(), session).stale == ["removed: web/router.js"]
