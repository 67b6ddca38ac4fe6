from __future__ import annotations

import pytest

from assay.corpus.git_history import Commit
from assay.truth.mine import subjects
from assay.truth.mine.question_kinds import kind_of
from assay.types import Chunk


@pytest.mark.parametrize(
    ("subject", "cleaned"),
    [
        ("fix(core)!: keep the order of headers (#123)", "keep the order of headers"),
        ("✨ feat: Stream large answers", "Stream large answers"),
        (":bug: Stream large answers", "Stream large answers"),
        ("KAFKA-17847 Avoid a copy (#17578)", "Avoid a copy"),
        ("[build] gh-12: Keep going.", "Keep going"),
        ("Keep the root cause, fixes #12", "Keep the root cause"),
        ("rt: keep going", "rt: keep going"),
        ("Parse `a: b` as a pair", "Parse `a: b` as a pair"),
        ("修复 解析 错误", "修复 解析 错误"),
        ("@types are read", "@types are read"),
    ],
)
def test_the_marks_of_conventions_go(subject: str, cleaned: str):
    assert subjects.cleaned(subject) == cleaned


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Resolve the pager command once", ""),
        ("修复解析器在读取大文件时的错误", ""),
        ("Не терять заголовки ответа сервера", ""),  # noqa: RUF001
        ("Update the thing", "a subject of too few telling words"),
        ("v1.2.3", "a release or a new version of something"),
        ("release: 4.13.3", "a trivial subject"),
        ("Bump netty from 4.1 to 4.2", "a release or a new version of something"),
        ("Satisfy clippy in the router module", "a trivial subject"),
        ("Keep headers in order\n\nThis reverts commit abc.", "a revert"),
        ("Back out header ordering in proxies", "a revert"),
        ("Update release notes of the next version", "a release or a new version of something"),
    ],
)
def test_who_asks_for_nothing(message: str, reason: str):
    assert subjects.why_not(commit(message)) == reason


@pytest.mark.parametrize("name", ["dependabot[bot] <a@b>", "x <49699333+renovate[bot]@users.noreply.github.com>"])
def test_bots_are_told_by_name_and_mail(name: str):
    assert subjects.why_not(commit("Resolve the pager command once", author=name)) == "a bot"
    assert subjects.why_not(commit("Resolve the pager command once", committer=name)) == "a bot"


def test_a_person_named_abbot_is_no_bot():
    assert not subjects.why_not(commit("Resolve the pager command once", author="Abbot Botham <bothie@example.org>"))


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("Merge pull request #1 from a/b\n\nKeep headers", "Keep headers"),
        ("Keep headers (#1)\n\nbody", "Keep headers (#1)"),
        ("Merge branch 'a' into b\n\nbody", ""),
        ("Merge pull request #1 from a/b", ""),
    ],
)
def test_merges_have_the_titles_of_their_pull_requests(message: str, title: str):
    assert subjects.title(commit(message, parents=("1", "2"))) == title


def test_a_body_is_its_prose():
    prose = "The cache was asked twice for every key, which cost a second on each call of a slow disk."
    noise = "* one\n* two\n\n```\ncode code\n```\n\n## Heading\n\nFixes: #1\nSigned-off-by: A <a@b>\nCloses #2"
    assert subjects.described(commit(f"Ask once\n\n{prose}\n\n{noise}")) == prose
    assert subjects.described(commit("Ask once\n\nToo short.")) == ""
    long = subjects.described(commit("Ask once\n\n" + "One more sentence about it. " * 60))
    assert long.endswith("about it.")
    assert len(long.split()) <= 120


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Let parse_headers keep the order", "symbol"),
        ("`Router` loses its way", "symbol"),
        ("Keep the order of every header", "standard"),
        ("Keep things sorted as they arrived", "hard"),
        ("Lost router finds its way", "standard"),
    ],
)
def test_kinds(text: str, kind: str):
    method = Chunk("1", "", "python", "src/web/request.py", 1, 9, "parse_headers", "method", "Request")
    assert kind_of(text, [method, Chunk("2", "", "python", "src/web/router.py", 1, 9, "Router", "class")]) == kind


def commit(
    message: str, *, parents: tuple[str, ...] = ("1",), author: str = "A <a@b>", committer: str = "A <a@b>"
) -> Commit:
    return Commit("0" * 40, parents, author, committer, "2020-01-01T00:00:00+00:00", message)
