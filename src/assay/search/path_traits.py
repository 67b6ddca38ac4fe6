"""A path in, what sort of file it is out: of a test, of an example, or an aside.

An aside is about the project (changes, license), or nobody of the project wrote it by hand: a translation, a vendored
copy, a certificate, generated code.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|test[-_]\w+|fixtures?|mocks?|benchmarks?|benches)(?:/|$)"
    r"|(?:^|/)(?:tests?|test_[^/]*|conftest|[^/]*[._-](?:tests?|spec|bench))\.\w+$|(?:Tests?|Spec|IT)\.\w+$"
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)(?:/|$)|[._-]examples?\.\w+$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|contributing|code_of_conduct|security"
    r"|sponsor\w*|licen[cs]e|authors|migrat\w*|upgrad\w*)[^/]*\.(?:mdx?|rst|adoc|txt)$|(?:^|/)(?:i18n|locales?|translations?)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/"
    r"|(?:^|/)(?:vendor(?:ed)?|third[-_]?party|externals?|generated)/"
    r"|[-.]\d+(?:\.\d+)+(?:[-.]min)?\.(?:js|css)$|\.min\.(?:js|css)$|\.(?:po|pot|pem|crt|cer)$"
    r"|_pb2(?:_grpc)?\.pyi?$|\.pb\.(?:go|cc|h)$|[._]generated\.\w+$|(?:^|/)zz_generated[^/]*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def traits_of(path: str) -> tuple[bool, bool, bool]:
    """Say whether a path is of a test, of an example, of an aside."""
    return bool(_TEST.search(path)), bool(_EXAMPLE.search(path)), bool(_ASIDE.search(path))
