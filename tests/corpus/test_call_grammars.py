from __future__ import annotations

import pytest

from assay.corpus.call_grammars import CALL_GRAMMARS
from assay.corpus.units import units


@pytest.mark.parametrize("language", CALL_GRAMMARS)
def test_every_node_kind_is_one_of_its_grammar(language):
    """The parser refuses a rule with a kind that its grammar lacks."""
    grammar = CALL_GRAMMARS[language]
    _, root = units("", 0, language, 100)
    for kind in {*grammar.calls, *grammar.typed, *grammar.imports, *grammar.closures}:
        root.find_all(kind=kind)
