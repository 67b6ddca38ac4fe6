"""What documentation, names of tests and subjects of commits ask for, language by language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.corpus.git_history import Commit
from assay.truth import mine_history, mine_units
from assay.truth import mine_units as miner
from assay.truth.minable import Files, kind_of
from assay.values import Chunk

PYTHON = '''def plain(x):
    """Turn a number
    into its mirror image.

    :param x: the number
    """
    y = -x
    return y


# Finds the shortest road between towns. Slowly.
def road(towns):
    best = towns
    return best


def one_line(x): "Says nothing of much interest to anybody."; return x


def open_the_gate(gate):
    """Open the gate."""
    gate.open()
    return gate


def promised(heir):
    """Return what every heir has to work out.

    Nobody knows it yet.
    """
'''
RUST = """impl<T> Basket<T> {
    /// Puts an apple on top of [`Pear`]s. Always works.
    ///
    /// # Panics
    #[inline]
    pub fn put(&mut self, apple: T) {
        self.apples.push(apple);
        self.count += 1;
    }

    fn weight(&self) -> usize {
        let each = 3;
        let all = self.apples.len();
        each * all
    }
}
"""
GO = """package fruit

// Peel takes the skin off every banana that is ripe.
func Peel(all []Banana) []Banana {
	peeled := strip(all)
	return peeled
}
"""
JAVA = """class Fruit {
    /**
     * Squeezes {@link Orange} juice into the glass
     * that stands nearest.
     *
     * @param glass where the juice goes
     */
    void squeeze(Glass glass) {
        glass.fill(this);
        glass.serve();
    }

    /**
     * Cuts the melon in half
     * @return both halves
     */
    List<Half> cut() {
        knife.use();
        return halves;
    }
}
"""
TS = """/**
 * Cuts the melon in half
 * @param knife sharp
 */
export const halve = (knife: Knife) => {
  knife.use()
  return halves
}
"""


MIRROR = "Turn a number into its mirror image"
SQUEEZES = "Squeezes Orange juice into the glass that stands nearest"


def test_first_sentences_with_the_lines_of_their_documentation(tmp_path: Path):
    for name, text, expected in (
        ("a.py", PYTHON, {MIRROR: "2-6", "Finds the shortest road between towns": "11-11"}),
        ("a.rs", RUST, {"Puts an apple on top of Pears": "2-4"}),
        ("a.go", GO, {"takes the skin off every banana that is ripe": "3-3"}),
        ("A.java", JAVA, {SQUEEZES: "2-7", "Cuts the melon in half": "13-16"}),
        ("a.ts", TS, {"Cuts the melon in half": "1-4"}),
    ):
        (tmp_path / name).write_text(text)
        told = mine_units.ask_docs(Files(tmp_path), [name], 99, 0)
        hidden = {query.text: target for query, target in zip(told.queries, told.hidden, strict=True)}
        assert hidden == {said: f"{name}:{lines}" for said, lines in expected.items()}
        if text == PYTHON:
            assert told.left_out["no sentence, or a short or very long one"] == 1
            assert told.left_out["a function without a body"] == 1


def test_functions_that_say_the_same_are_answers_to_one_question(tmp_path: Path):
    function = '''def {name}(x):\n    """Weigh every pebble on the beach."""\n    y = {name}(x)\n    return y\n'''
    for at in range(3):
        (tmp_path / f"f{at}.py").write_text(function.format(name=f"name{at}"))
    told = mine_units.ask_docs(Files(tmp_path), Files(tmp_path).sample(0), 99, 0)
    (query,) = told.queries
    assert [judgment.target for judgment in told.judgments] == ["f0.py:1-4", "f1.py:1-4", "f2.py:1-4"]
    assert query.tags["kind"] == "hard"
    for at in range(9):
        (tmp_path / f"g{at}.py").write_text(function.format(name=f"other{at}"))
    told = mine_units.ask_docs(Files(tmp_path), Files(tmp_path).sample(0), 99, 0)
    assert not told.queries
    assert told.left_out == {"the same sentence above too many functions": 1}


def test_files_take_turns_and_a_seed_draws(tmp_path: Path):
    many = "\n\n".join(
        f'def f{at}(x):\n    """Count the {word} pebbles of Brighton."""\n    y = x\n    return y'
        for at, word in enumerate("red green blue black white".split())
    )
    (tmp_path / "many.py").write_text(many)
    (tmp_path / "one.py").write_text('def g(x):\n    """Sing of lonely sailors at night."""\n    y = x\n    return y\n')
    files = Files(tmp_path)
    asked = [mine_units.ask_docs(files, files.sample(seed), 2, seed).queries for seed in range(8)]
    drawn = {tuple(query.text for query in queries) for queries in asked}
    assert all("Sing of lonely sailors at night" in texts for texts in drawn)
    assert len(drawn) > 2


PYTHON_CODE = """
def parse_cookie(text):
    name = text
    value = text
    return name, value


def dump_cookie(x):
    name = x
    value = x
    return name, value
"""
PYTHON_TESTS = """
def test_parse_cookie_with_comma():
    cookie = parse_cookie("a,b")
    for one in cookie:
        assert one


def test_there_and_back_again():
    there = dump_cookie("a")
    back = parse_cookie(there)
    assert back
"""
TYPESCRIPT = """
export const parseBody = (x: string) => {
  const y = x
  return y
}
"""
TYPESCRIPT_TESTS = """
describe('parseBody', () => {
  it('keeps the last of equal keys', () => {
    const all = parseBody('a=1&a=2')
    const one = all.a
    expect(one).toBe(2)
  })

  it('is fine with a file that is rather large', () => {
    const file = make()
    const other = make()
    const third = make()
    expect(file).toBe(other)
    expect(file).toBe(third)
    expect(other).toBe(third)
    expect(third).toBe(file)
  })
})
"""
GO_CODE = """package a

func longestCommonPrefix(a, b string) int {
	i := 0
	return i
}
"""
GO_TESTS = """package a

func TestLongestCommonPrefixOfEmpty(t *testing.T) {
	longestCommonPrefix("", "")
	t.Log()
}
"""
RUST_CODE = """
pub fn read_record(x: u8) -> u8 {
    let y = x;
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(x: u8) -> u8 {
        let y = x;
        let z = y;
        z
    }

    #[test]
    fn read_record_unequal_fails() {
        let x = read_record(b(1));
        let y = read_record(b(2));
        assert_eq!(x, 1);
        assert_eq!(y, 2);
    }
}
"""
JAVA_CODE = """
class Entities {
    private int some;
    private int other;

    static String escape(String x) {
        int y = 1;
        return x;
    }

    static String unescape(String x) {
        int y = 1;
        int u = 1;
        int v = 1;
        int z = 2;
        return x;
    }
}
"""
JAVA_TESTS = """
class EntitiesTest {
    @Test
    void escapeSupplementaryCharacters() {
        String text = Entities.escape("a");
        assertEquals("a", text);
    }

    @Test
    void nothingHappens() {
        String text = make("a");
        String other = make("b");
        String third = make("c");
        assertEquals(other, third);
        assertEquals(third, text);
        assertEquals(text, other);
    }
}
"""
CASES = {
    "python": ("http.py", PYTHON_CODE, "test_http.py", PYTHON_TESTS, "parse cookie with comma", "http.py:2-5"),
    "typescript": (
        *("body.ts", TYPESCRIPT, "body.test.ts", TYPESCRIPT_TESTS),
        *("parse body keeps the last of equal keys", "body.ts:2-5"),
    ),
    "go": ("tree.go", GO_CODE, "tree_test.go", GO_TESTS, "longest common prefix of empty", "tree.go:3-6"),
    "rust": ("reader.rs", RUST_CODE, "lib.rs", "", "read record unequal fails", "reader.rs:2-5"),
    "java": (
        *("Entities.java", JAVA_CODE, "EntitiesTest.java", JAVA_TESTS),
        *("escape supplementary characters", "Entities.java:6-9"),
    ),
}


@pytest.mark.parametrize("language", CASES)
def test_the_name_of_a_test_leads_to_its_function(tmp_path: Path, language: str):
    code_name, code, tests_name, tests, text, target = CASES[language]
    (tmp_path / code_name).write_text(code)
    (tmp_path / tests_name).write_text(tests)
    files = Files(tmp_path)
    told = miner.ask_tests(files, files.sample(0), 99, 0)
    assert [query.text for query in told.queries] == [text]
    assert [judgment.target for judgment in told.judgments] == [target]
    (hidden,) = told.hidden
    path, first, last = re.fullmatch(r"(.+):(\d+)-(\d+)", hidden).groups()
    shown = "\n".join((tmp_path / path).read_text().split("\n")[int(first) - 1 : int(last)]).lower()
    assert all(word in shown for word in text.removeprefix("parse body ").split())


SELL = "def sell_apple(x):\n    y = x\n    return y\n"


def test_doubt_leaves_a_test_out(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shop.py").write_text(SELL)
    (tmp_path / "test_all.py").write_text("def test_sell_apple_to_anyone():\n    assert sell_apple(1)\n")
    files = Files(tmp_path)
    told = miner.ask_tests(files, files.sample(0), 99, 0)
    assert not told.queries
    assert told.left_out == {"a test of several functions, or of none by its name": 1}


def test_no_function_has_more_than_a_few_tests(tmp_path: Path):
    (tmp_path / "shop.py").write_text(SELL)
    names = "anyone ladies lords dogs cats".split()
    tests = (f"def test_sell_apple_to_{name}():\n    assert sell_apple(1)\n" for name in names)
    (tmp_path / "test_shop.py").write_text("\n\n".join(tests))
    files = Files(tmp_path)
    told = miner.ask_tests(files, files.sample(0), 99, 0)
    assert len(told.queries) == miner.MAX_TESTS_PER_FUNCTION
    assert told.left_out["one more test of the same function"] == len(names) - miner.MAX_TESTS_PER_FUNCTION


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
        "Keep headers in order\n\nThis reverts commit_of abc.": "a revert",
        "Revert how long delivery attempts wait": "a revert",
        "Back out header ordering in proxies": "a revert",
        "Update release notes of the next version": RELEASE,
    }
    assert {message: mine_history.why_not(commit_of(message)) for message in reasons} == reasons
    for name in ("dependabot <a@b>", "greeter[bot] <a@b>", "x <49699333+renovate[bot]@users.noreply.github.com>"):
        assert mine_history.why_not(commit_of("Resolve the pager command once", author=name)) == "a bot"
        assert mine_history.why_not(commit_of("Resolve the pager command once", committer=name)) == "a bot"
    person = "Abbot Botham <bothie@example.org>"
    assert not mine_history.why_not(commit_of("Resolve the pager command once", author=person))


def test_merges_have_the_titles_of_their_pull_requests_and_a_body_is_its_prose():
    titles = {
        "Merge pull request #1 from a/b\n\nKeep headers": "Keep headers",
        "Keep headers (#1)\n\nbody": "Keep headers (#1)",
        "Merge branch 'a' into b\n\nbody": "",
        "Merge pull request #1 from a/b": "",
    }
    assert {message: mine_history.title(commit_of(message, parents=("1", "2"))) for message in titles} == titles
    prose = "The cache was asked twice for every key, which cost a second on each call of a slow disk."
    noise = "* one\n* two\n\n```\ncode code\n```\n\n## Heading\n\nFixes: #1\nSigned-off-by: A <a@b>\nCloses #2"
    assert mine_history.described(commit_of(f"Ask once\n\n{prose}\n\n{noise}")) == prose
    assert mine_history.described(commit_of("Ask once\n\nToo short.")) == ""
    long = mine_history.described(commit_of("Ask once\n\n" + "One more sentence about it. " * 60))
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


def commit_of(
    message: str, *, parents: tuple[str, ...] = ("1",), author: str = "A <a@b>", committer: str = "A <a@b>"
) -> Commit:
    return Commit("0" * 40, parents, author, committer, "2020-01-01T00:00:00+00:00", message)
