from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.settings import Settings, changed, load


def test_a_file_changes_the_defaults_then_texts_then_options(tmp_path: Path):
    file = tmp_path / "assay.toml"
    file.write_text('[search]\nlimit = 3\nexcerpt_lines = 4\n[encoder]\nspec = "hash"\n')
    settings = load(file, ["search.limit=5", "encoder.spec=hf:a/b"], {"search.limit": 7})
    assert (settings.search.limit, settings.search.excerpt_lines, settings.encoder.spec) == (7, 4, "hf:a/b")
    assert load() == Settings(), "nothing asked is the defaults"
    with pytest.raises(InputError, match=r"cannot read the settings file .*: No such file"):
        load(tmp_path / "none.toml")


NONSENSE = {
    "serch.limit=1": "unknown setting 'serch' in --set; did you mean 'search'?",
    "limit=3": "unknown setting 'limit' in --set; did you mean 'search.limit'?",
    "search.limt=1": "unknown setting 'search.limt' in --set; did you mean 'limit'?",
    "search.limit.x=1": "setting 'search.limit' in --set is {'x': 1}; wanted a whole number",
    "search.limit=many": "setting 'search.limit' in --set is 'many'; wanted a whole number",
    "search.limit=true": "setting 'search.limit' in --set is True; wanted a whole number",
    "search.limit=0": "setting 'search.limit' is 0; wanted 1 or more",
    "search.ranking=best": "setting 'search.ranking' is 'best'; wanted one of learned, fused, keywords, vectors",
    "search.fusion=z": "setting 'search.fusion' is 'z'; wanted one of rrf, linear",
    "search.vector_weight=-0.1": "setting 'search.vector_weight' is -0.1; wanted 0 or more",
    "search.keyword_weight=nan": "setting 'search.keyword_weight' is nan; wanted 0 or more",
    "search.rerank_depth=0": "setting 'search.rerank_depth' is 0; wanted 1 or more",
    "index.chunk_lines=0": "setting 'index.chunk_lines' is 0; wanted 1 or more",
    "index.section_lines=0": "setting 'index.section_lines' is 0; wanted 1 or more",
    "index.quantisation=int4": "setting 'index.quantisation' is 'int4'; wanted one of none, int8",
    "index.encoding=rot13": "setting 'index.encoding' is 'rot13'; wanted the name of an encoding of text, such as "
    "cp1251 or shift_jis",
    "encoder.reads=code": "setting 'encoder.reads' is 'code'; wanted one of auto, view, source",
    "encoder.spec=1": "setting 'encoder.spec' in --set is 1; wanted text",
    "search=1": "setting 'search' in --set is a section, not a value: write 'search.NAME = VALUE'",
    "search": "--set takes section.key=value, not 'search'",
    "=1": "--set takes section.key=value, not '=1'",
}


def test_a_change_that_makes_no_sense_says_what_would():
    found = {}
    for change in NONSENSE:
        with pytest.raises(InputError) as error:
            load(changes=[change])
        found[change] = str(error.value)
    assert found == NONSENSE
    edges = ["search.limit=1", "search.vector_weight=0"]
    assert load(changes=edges).search.limit == 1


def test_a_broken_file_is_one_line_that_names_it(tmp_path: Path):
    file = tmp_path / "assay.toml"
    for content, said in (
        (b"[search\nlimit = 3", "not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 8)"),
        (b"[search]\nlimit = \n", "not valid TOML: Invalid value (at line 2, column 9)"),
        (b"\xff\xfe", "not valid UTF-8: invalid start byte at byte 0"),
        (b"[search]\nlimits = 3", f"unknown setting 'search.limits' in {file}; did you mean 'limit'?"),
    ):
        file.write_bytes(content)
        with pytest.raises(InputError) as error:
            load(file)
        assert str(file) in str(error.value)
        assert said in str(error.value)
        assert "\n" not in str(error.value)


@dataclass(frozen=True)
class Other:
    """Settings of another kind."""

    rate: float = 0.5
    names: tuple[str, ...] = ()


def test_any_settings_can_be_changed_and_keep_their_types():
    changes = ["rate=2", "rate=0.1", 'names=["a", "b"]']
    found = [changed(Other(), [change]) for change in changes]
    assert found == [Other(rate=2.0), Other(rate=0.1), Other(names=("a", "b"))]
    for change in ("names=a", "names=[1]", "rate=fast", "rate=true"):
        with pytest.raises(InputError, match="wanted a"):
            changed(Other(), [change])
