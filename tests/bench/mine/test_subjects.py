from __future__ import annotations

from assay.corpus.git_history import Commit
from assay.truth import mine_history
from assay.truth.minable import kind_of
from assay.values import Chunk


def test_the_marks_of_conventions_go():
    cleaned = {
        "fix(core)!: keep the order of headers (#123)": "keep the order of headers",
        "✨ feat: Stream large answers": "Stream large answers",
        ":bug: Stream large answers": "Stream large answers",
        "KAFKA-17847 Avoid a copy (#17578)": "Avoid a copy",
        "[build] gh-12: Keep going.": "Keep going",
        "Keep the root cause, fixes #12": "Keep the root cause",
        "rt: keep going": "rt: keep going",
        "Parse `a: b` as a pair": "Parse `a: b` as a pair",
        "修复 解析 错误": "修复 解析 错误",
        "@types are read": "@types are read",
    }
    assert {subject: mine_history.cleaned(subject) for subject in cleaned} == cleaned


RELEASE, TRIVIAL = "a release or a new version of something", "a trivial subject"


def test_who_asks_for_nothing():
    reasons = {
        "Resolve the pager command once": "",
        "修复解析器在读取大文件时的错误": "",
        "Не терять заголовки ответа сервера": "",  # noqa: RUF001
        "Update the thing": "a subject of too few telling words",
        "v1.2.3": RELEASE,
        "1.4.2": RELEASE,
        "release: 4.13.3": TRIVIAL,
        "Fix typo in delivery of letters": TRIVIAL,
        "chore: sleep delivery attempts longer": TRIVIAL,
        "Bump netty from 4.1 to 4.2": RELEASE,
        "Satisfy clippy in the router module": TRIVIAL,
        "Keep headers in order\n\nThis reverts commit abc.": "a revert",
        "Revert how long delivery attempts wait": "a revert",
        "Back out header ordering in proxies": "a revert",
        "Update release notes of the next version": RELEASE,
    }
    assert {message: mine_history.why_not(commit(message)) for message in reasons} == reasons
    for name in ("dependabot <a@b>", "greeter[bot] <a@b>", "x <49699333+renovate[bot]@users.noreply.github.com>"):
        assert mine_history.why_not(commit("Resolve the pager command once", author=name)) == "a bot"
        assert mine_history.why_not(commit("Resolve the pager command once", committer=name)) == "a bot"
    person = "Abbot Botham <bothie@example.org>"
    assert not mine_history.why_not(commit("Resolve the pager command once", author=person))


def test_merges_have_the_titles_of_their_pull_requests():
    titles = {
        "Merge pull request #1 from a/b\n\nKeep headers": "Keep headers",
        "Keep headers (#1)\n\nbody": "Keep headers (#1)",
        "Merge branch 'a' into b\n\nbody": "",
        "Merge pull request #1 from a/b": "",
    }
    assert {message: mine_history.title(commit(message, parents=("1", "2"))) for message in titles} == titles


def test_a_body_is_its_prose():
    prose = "The cache was asked twice for every key, which cost a second on each call of a slow disk."
    noise = "* one\n* two\n\n```\ncode code\n```\n\n## Heading\n\nFixes: #1\nSigned-off-by: A <a@b>\nCloses #2"
    assert mine_history.described(commit(f"Ask once\n\n{prose}\n\n{noise}")) == prose
    assert mine_history.described(commit("Ask once\n\nToo short.")) == ""
    long = mine_history.described(commit("Ask once\n\n" + "One more sentence about it. " * 60))
    assert long.endswith("about it.")
    assert len(long.split()) <= 120


def test_kinds():
    method = Chunk("1", "", "python", "src/web/request.py", 1, 9, "parse_headers", "method", "Request")
    units = [method, Chunk("2", "", "python", "src/web/router.py", 1, 9, "Router", "class")]
    kinds = {
        "Let parse_headers keep the order": "symbol",
        "`Router` loses its way": "symbol",
        "Keep the order of every header": "standard",
        "Keep things sorted as they arrived": "hard",
        "Lost router finds its way": "standard",
    }
    assert {text: kind_of(text, units) for text in kinds} == kinds


def commit(
    message: str, *, parents: tuple[str, ...] = ("1",), author: str = "A <a@b>", committer: str = "A <a@b>"
) -> Commit:
    return Commit("0" * 40, parents, author, committer, "2020-01-01T00:00:00+00:00", message)
