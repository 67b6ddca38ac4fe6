from __future__ import annotations

from pathlib import Path

from assay.truth import mine_units
from assay.truth.minable import Files

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
