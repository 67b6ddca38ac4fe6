from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.programs.modules.distributions import _OTHERWISE_NAMED, known, plain


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("cv2", "opencv-python-headless"),
        ("sklearn", "scikit-learn"),
        ("PIL", "pillow"),
        ("yaml", "pyyaml"),
        ("bs4", "beautifulsoup4"),
        ("dateutil", "python-dateutil"),
        ("numpy", "numpy"),
        ("more_itertools", "more-itertools"),
        ("torch", "torch"),
        ("fastjsonx", ""),
        ("requets", ""),
    ],
)
def test_a_module_is_brought_by_what_is_known_to_bring_it(module, distribution):
    assert known().distribution_of(module) == distribution


def test_91_what_is_not_on_the_list_is_not_allowed():
    names = known()
    assert names.allows("NumPy")
    assert not names.allows("torch"), "known, and too large"
    assert not names.allows("fastjsonx")


def test_names_are_compared_as_the_index_compares_them():
    assert plain("Ruamel.YAML__x") == "ruamel-yaml-x"
    assert all(plain(name) == name for name in (*known().allowed, *_OTHERWISE_NAMED.values()))


def test_a_file_adds_names_and_modules(tmp_path: Path):
    file = tmp_path / "allow.txt"
    file.write_text("# ours\nOur.Tools\n\nthing = the_thing  # named otherwise\ntorch\n")
    names = known(file)
    assert names.distribution_of("our_tools") == "our-tools"
    assert names.distribution_of("thing") == "the-thing"
    assert all(map(names.allows, ("our-tools", "the-thing", "torch", "numpy")))


@pytest.mark.parametrize("line", ["-r other.txt", "thing @ file:///thing", "--index-url x", "a==1", "a b", "= b"])
def test_a_line_that_is_no_name_is_told_with_its_place(tmp_path: Path, line: str):
    file = tmp_path / "allow.txt"
    file.write_text(f"fine\n{line}\n")
    with pytest.raises(InputError, match=r"allow.txt:2: .* is no name; wanted DISTRIBUTION"):
        known(file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="cannot read the list of allowed distributions"):
        known(tmp_path / "none.txt")
