from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay import plugins
from assay.encode.cached_encoder import CachedEncoder
from assay.encode.view import source, text_for, view
from assay.errors import InputError, MissingExtra, ModelUnavailable
from assay.extras import install_command
from assay.operations.workspace import open_workspace
from assay.protocols import Encoder, is_quick, reads_order
from assay.search.ranking import weights_file
from assay.settings import load
from assay.values import Chunk, Query


def test_every_built_in_part_stands_where_the_table_says():
    for kind, parts in plugins.BUILT_IN.items():
        for name, target in parts.items():
            module, _, attribute = target.partition(":")
            spec = find_spec(module)
            assert spec, f"{kind} '{name}'"
            assert spec.origin
            assert attribute in Path(spec.origin).read_text(encoding="utf-8")
    encoder = plugins.make("encoder", "hash")
    assert isinstance(encoder, Encoder)
    assert encoder.encode(["one text"], "query").shape == (1, encoder.dimension)


def test_what_is_not_there_is_said():
    with pytest.raises(InputError, match="unknown encoder 'statik'; did you mean 'static'"):
        plugins.make("encoder", "statik:default")
    for model in ("none/of/them", "./reranker", "/no/reranker"):
        with pytest.raises(ModelUnavailable, match=rf"^no folder '{model}'; wanted a folder with a cross-encoder, or"):
            plugins.make("scorer", f"cross:{model}")


def test_an_installed_entry_point_is_a_part_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _install(tmp_path, "greeting", "def made(text='nobody'):\n    return 'hello ' + text\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.make("encoder", "greeting:world") == "hello world"
    assert plugins.make("encoder", "greeting") == "hello nobody"
    assert "greeting" in plugins.names("encoder")


SAYS = "    reads_order, is_quick = False, True\n"
SOURCE = """import numpy as np


class made:
    name, dimension = "NAME", 8

    def encode(self, texts, role):
        return np.eye(8, dtype=np.float32)[[len(text) % 8 for text in texts]]
"""


def test_an_installed_encoder_says_itself_what_it_is(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch):
    for name, more, weights in (("quick", SAYS, "code.json"), ("plain", "", "code-contextual.json")):
        _install(tmp_path / name, name, SOURCE.replace("NAME", name) + more)
        monkeypatch.syspath_prepend(tmp_path / name)
        workspace = open_workspace(project, load(options={"encoder.spec": name}))
        encoder = workspace.index.encoder
        assert isinstance(encoder, CachedEncoder) is not bool(more), "what is faster than a cache has none"
        assert is_quick(encoder) is bool(more)
        assert weights_file("code", reads_order=reads_order(encoder)) == weights
        assert workspace.corpus_search.search([Query("1", "send mail")], 1)[0]
        chunk = Chunk("1", "def a(): pass", "python", "a.py", 1, 1, "a", "function")
        assert text_for(encoder, chunk) == (view(chunk) if more else source(chunk))


def test_a_missing_library_names_the_extra_that_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _install(tmp_path, "wanting", "import a_library_that_nobody_has.part\n")
    monkeypatch.syspath_prepend(tmp_path)
    step = re.escape(install_command("wanting"))
    with pytest.raises(MissingExtra, match=rf"wanting.* needs a_library_that_nobody_has.*{step}"):
        plugins.make("encoder", "wanting:x")


def test_the_libraries_of_an_extra_are_known_from_the_package_itself():
    assert plugins.missing("static") == []
    assert ("httpx" in plugins.missing("api")) == (find_spec("httpx") is None)


def _install(folder: Path, name: str, source: str) -> None:
    """Lay out what installing a package with an entry point would."""
    folder.mkdir(exist_ok=True)
    (folder / f"part_{name}.py").write_text(source)
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[assay.encoder]\n{name} = part_{name}:made\n")
    sys.modules.pop(f"part_{name}", None)
