from __future__ import annotations

from pathlib import Path

import pytest

from assay import plugins
from assay.errors import InputError


@pytest.mark.parametrize("model", ["none/of/them", "./reranker", "/no/reranker"])
def test_a_folder_that_is_not_there_is_named_with_what_makes_it(model: str) -> None:
    with pytest.raises(InputError, match=rf"^no folder '{model}': assay train reranker --out '{model}' makes one"):
        plugins.make("scorer", f"cross:{model}")


def test_a_record_that_describes_no_reranker_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    (tmp_path / "reranker.json").write_text('{"version": "1"}')
    with pytest.raises(InputError, match=r"reranker.json' does not describe a reranker .*: assay train reranker"):
        plugins.make("scorer", f"cross:{tmp_path}")
