from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.truth import mine_units as miner
from assay.truth.minable import Files

PYTHON = """
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
GO = """package a

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
RUST = """
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
JAVA = """
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
    "python": ("http.py", PYTHON, "test_http.py", PYTHON_TESTS, "parse cookie with comma", "http.py:2-5"),
    "typescript": (
        *("body.ts", TYPESCRIPT, "body.test.ts", TYPESCRIPT_TESTS),
        *("parse body keeps the last of equal keys", "body.ts:2-5"),
    ),
    "go": ("tree.go", GO, "tree_test.go", GO_TESTS, "longest common prefix of empty", "tree.go:3-6"),
    "rust": ("reader.rs", RUST, "lib.rs", "", "read record unequal fails", "reader.rs:2-5"),
    "java": (
        *("Entities.java", JAVA, "EntitiesTest.java", JAVA_TESTS),
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
