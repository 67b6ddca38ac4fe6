"""What is posted, each field with its limits; a field that is not known is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from assay.assemble.answer import LONGEST_QUERY
from assay.serve.http.params import LONGEST_PATH
from assay.serve.search_tools import MOST_PROGRAMS

HIGHEST_GRADE = 1


def _number(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError(f"wanted a number, not {value!r:.40}")  # noqa: TRY004  what pydantic takes
    return value


Grade = Annotated[int, Field(ge=0, le=HIGHEST_GRADE), BeforeValidator(_number)]
_EXACT = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate programs for one task."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _EXACT

    programs: Annotated[list[str], Field(min_length=1, max_length=MOST_PROGRAMS)]
    """Python sources that try to solve the task."""
    prompt: str = ""
    """The task."""
    entry_point: str = ""
    """The function that is to be written."""


@dataclass(frozen=True, slots=True)
class Label:
    """One judgment: whether an answer is right."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _EXACT

    query: Annotated[str, Field(max_length=LONGEST_QUERY, pattern=r"\w")]
    """The question."""
    target: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]
    """The answer, as `path:start-end` or `path::Symbol.name`, relative to the root; lines are kept by their name."""
    grade: Grade | None
    """1 is right, 0 wrong; null takes back what was said."""
    path: Annotated[str, Field(max_length=LONGEST_PATH)] = ""
    """The root, or any path in it; empty where one folder is served."""
