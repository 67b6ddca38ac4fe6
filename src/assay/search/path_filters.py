"""Keep paths by globs, and classify them as test, example or aside; without an index.

An aside is about the project (changes, license), or nobody of the project wrote it by hand: a translation, a vendored
copy, a certificate, generated code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from assay.corpus.languages import BY_EXTENSION

if TYPE_CHECKING:
    from assay.search.text_matches import TextMatch

PROSE = frozenset(("markdown", "restructuredtext", "asciidoc", "text"))
"""Languages that are documentation; every other one is code."""

_REST = r".*)\Z"
"""How a translated glob ends that ends in a star; what is before it is matched where it comes first."""
_SEVERAL = re.compile(r"(?:\*\*/)+")
_GLOB = re.compile(r"[*?[]")
_FOLDERS = "(?:.*/)?"


def kept_and_left_out(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the values of a filter: those to keep, and those that start with `!`, without it."""
    return [one for one in values if one[:1] != "!"], [one[1:] for one in values if one[:1] == "!"]


def keeping(paths: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate of paths by globs; those that start with `!` exclude; without globs all are kept."""
    wanted, unwanted = map(globs, kept_and_left_out(paths))
    return lambda path: (wanted is None or bool(wanted.match(path))) and not (unwanted and unwanted.match(path))


def as_glob(value: str) -> str:
    """Return the glob of a filter's value: one without wildcards is a part of a path, unless it is rooted."""
    return value if _GLOB.search(value) or value.startswith(("/", "./")) else f"/*{value}*"


def globs(globs: Sequence[str]) -> re.Pattern[str] | None:
    """Join globs; one without a slash is matched against the file's name, a folder's against all below it."""
    patterns = []
    for glob in map(as_glob, globs):
        anywhere = "" if "/" in glob.rstrip("/") else _FOLDERS
        from_root = glob.removeprefix("./").lstrip("/")
        patterns += [anywhere + _pattern(from_root), anywhere + _pattern(from_root.rstrip("/") + "/*")]
    return re.compile("|".join(patterns)) if patterns else None


def _pattern(glob: str) -> str:
    """Return a glob as a pattern; `**/` matches any folders or none, as in `.gitignore`.

    What stands between two of them is taken where it comes first and for good: any other place leaves less to the rest,
    and trying all of them would take a server as long as somebody likes.
    """
    *before, last = _SEVERAL.sub("**/", glob).split("**/")
    if not before:
        return translate(last)
    first, *between = (translate(piece + "*").removesuffix(_REST) for piece in before)
    return first + ")" + "".join(f"(?>(?:.*?/)??{piece}))" for piece in between) + _FOLDERS + translate(last)


_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|test[-_]\w+|fixtures?|mocks?|benchmarks?|benches)(?:/|$)"
    r"|(?:^|/)[\w.]+\.(?:Unit|Integration)?Tests?(?:\.\w+)*/"
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


class PathTraits(NamedTuple):
    """The class of a file by its path; a file with any of these is not the program itself."""

    is_test: bool
    is_example: bool
    is_aside: bool


@lru_cache(maxsize=65536)
def traits_of(path: str) -> PathTraits:
    """Classify a path."""
    return PathTraits(bool(_TEST.search(path)), bool(_EXAMPLE.search(path)), bool(_ASIDE.search(path)))


def reading_class(path: str) -> int:
    """Return 0 for code of the program, 1 for its tests and examples, 2 for documentation, 3 for what else there is."""
    is_test, is_example, is_aside = traits_of(path)
    is_prose = BY_EXTENSION.get(path.rpartition(".")[2].lower(), "") in PROSE
    return 3 if is_aside else 2 if is_prose else int(is_test or is_example)


def reading_order(place: TextMatch) -> tuple[int, TextMatch]:
    """Return the sort key of a place for a reader: first code of the program, then tests, documentation, the rest."""
    return reading_class(place.path), place
