"""A path in, what sort of file it is out: of a test, of an example, or an aside, which is about the project."""

from __future__ import annotations

import re
from functools import lru_cache

_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|test[-_]\w+|fixtures?|mocks?|benchmarks?|benches)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*[._-](?:tests?|spec|bench))\.\w+$|(?:Tests?|Spec|IT)\.\w+$"
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)(?:/|$)|[._-]examples?\.\w+$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|contributing|code_of_conduct|security"
    r"|sponsor\w*|licen[cs]e|authors|migrat\w*|upgrad\w*)[^/]*\.(?:mdx?|rst|adoc|txt)$|(?:^|/)(?:i18n|locales?|translations?)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/",
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def traits_of(path: str) -> tuple[bool, bool, bool]:
    """Say whether a path is of a test, of an example, of an aside: what changed, who may contribute, a translation."""
    return bool(_TEST.search(path)), bool(_EXAMPLE.search(path)), bool(_ASIDE.search(path))
