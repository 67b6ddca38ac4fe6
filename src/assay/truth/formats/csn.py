"""Read CodeSearchNet's annotations: `Language,Query,GitHubUrl,Relevance,Notes`, with several annotators per pair.

One query a language, numbered as they come. Targets lie in many repositories: each is its URL below the host, with
its lines, `owner/name/blob/COMMIT/path:start-end`. The file names no annotator: the judge is the number of the
judgment among those of its pair, the reason what is noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from assay.errors import InputError
from assay.io import rows
from assay.truth.formats.shared import Gathered, Glimpse, fault_of, grade_of
from assay.truth.ground_truth import TruthFile
from assay.values import Judgment, Query

_COLUMNS = ("Language", "Query", "GitHubUrl", "Relevance", "Notes")
_HOST = "https://github.com/"
_URL = re.compile(r"https?://github\.com/([^#?]+/blob/[^#?]+)#L(\d+)(?:-L?(\d+))?")
_TARGET = re.compile(r"([^/]+/[^/]+/blob/.+):(\d+)-(\d+)", re.DOTALL)


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return glimpse.keys.issuperset(_COLUMNS[:4]) or all(
        name in glimpse.head.partition("\n")[0] for name in _COLUMNS[:4]
    )


def read(path: Path) -> TruthFile:
    """Read annotations."""
    gathered = Gathered(path)
    table = rows.cells(path, gathered.problems)
    first, header = next(table, (1, []))
    if missing := [name for name in _COLUMNS[:4] if name not in header]:
        raise InputError(f"{path}:{first}: no column '{missing[0]}'; found: {', '.join(header)}")
    for name in sorted(set(header) - set(_COLUMNS)):
        gathered.problem(first, f"unknown column '{name}': it is left out")
    ids: dict[tuple[str, str], str] = {}
    judged: Counter[tuple[str, str]] = Counter()
    for row, cells in table:
        if len(cells) > len(header):
            gathered.problem(row, f"{len(cells)} cells, wanted {len(header)}")
        else:
            _take(gathered, row, dict(zip(header, cells, strict=False)), ids, judged)
    return gathered.reading(about={})


def url_of(target: str) -> str:
    """Return the address of some lines of a file on GitHub; empty for any other target."""
    found = _TARGET.fullmatch(target)
    return f"{_HOST}{quote(found[1])}#L{found[2]}-L{found[3]}" if found else ""


def _take(
    gathered: Gathered,
    row: int,
    named: Mapping[str, str],
    ids: dict[tuple[str, str], str],
    judged: Counter[tuple[str, str]],
) -> None:
    language, text, url, grade, reason = (named.get(name, "") for name in _COLUMNS)
    value = grade_of(grade)
    target = _target(url)
    fault = "" if target else f"'{url}': wanted {_HOST}OWNER/NAME/blob/COMMIT/PATH#L1-L9"
    fault = fault or fault_of(target)
    if value is None:
        fault = f"relevance '{grade}', wanted a whole number from 0"
    elif not text.strip():
        fault = "the query is empty"
    if fault:
        gathered.problem(row, fault)
        return
    name = ids.setdefault((language, text), str(len(ids) + 1))
    if name not in gathered.queries:
        gathered.queries[name] = Query(name, text, tags={"language": language} if language else {})
    judged[name, target] += 1
    gathered.judgment(row, Judgment(name, target, value or 0, str(judged[name, target]), reason))


def _target(url: str) -> str:
    found = _URL.fullmatch(url.strip())
    if not found:
        return ""
    start, end = int(found[2]), int(found[3] or found[2])
    return f"{unquote(found[1])}:{start}-{end}" if 1 <= start <= end else ""
