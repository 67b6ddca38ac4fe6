"""Read the rows of samples in the layouts of other tools: a file of rows, a folder, a log.

EvalPlus: a folder a task, called HumanEval_0, with a file a program. bigcode-evaluation-harness: `generations.json`, a
list a task, in the order of the tasks. lm-evaluation-harness: rows of `doc` and `filtered_resps`. Batches of OpenAI's
API: rows of `custom_id` and `response`. inspect_ai: a log as JSON, or the archive `.eval`. A row may hold several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.values import Problem, Task

Row = tuple[str, dict[str, Any]]
"""Where it stands, and its fields, as `assay.programs.samples` reads them."""
_MAX_BYTES = 1 << 30
"""Bytes of one file of an archive."""


def sample_rows(path: Path, tasks: Sequence[Task], problems: list[Problem]) -> Iterator[Row]:
    """Yield the rows of a file or folder of samples."""
    head = b"" if path.is_dir() or rows.suffix(path) != ".json" else rows.first_bytes(path).lstrip()
    if path.is_dir():
        yield from _folder(path, problems)
    elif path.suffix == ".eval":
        yield from _inspected(path, _archived(path))
    elif head.startswith(b"[["):
        yield from _generations(path, tasks)
    elif head.startswith(b"{") and b'"eval"' in head and b'"status"' in head:
        yield from _inspected(path, rows.value_of(path).get("samples") or ())
    else:
        for row, fields in rows.objects(path, problems):
            yield rows.place(path, row), _plain(fields)


def _folder(path: Path, problems: list[Problem]) -> Iterator[Row]:
    """Yield the programs in folders that are named after tasks: HumanEval_0 for HumanEval/0."""
    files = sorted(path.glob("*/*.py"), key=lambda file: (file.parent.name, len(file.stem), file.stem))
    if not files:
        raise InputError(f"'{path}' is a folder without TASK/NUMBER.py, as EvalPlus writes it; give a file of samples")
    for file in files:
        name = file.parent.name
        try:
            text = rows.text_of(file)
        except InputError as error:
            problems.append(Problem(f"{name}/{file.name}", str(error)))
            continue
        yield f"{name}/{file.name}", {"task_id": re.sub(r"_(?=\d+\Z)", "/", name), "solution": text}


def _generations(path: Path, tasks: Sequence[Task]) -> Iterator[Row]:
    every = rows.value_of(path)
    if len(every) > len(tasks):
        raise InputError(f"{path}: {len(every):,} lists of programs for {len(tasks):,} tasks: give all tasks, in order")
    for number, (task, texts) in enumerate(zip(tasks, every, strict=False)):
        yield f"{path.name}:[{number}]", {"task_id": task.id, "completion": texts}


def _archived(path: Path) -> Iterator[Mapping[str, Any]]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
                    if entry.file_size > _MAX_BYTES:
                        raise InputError(f"{path}: {entry.filename} is larger than {_MAX_BYTES:,} bytes")
                    yield json.loads(archive.read(entry))
    except (zipfile.BadZipFile, ValueError, OSError, RecursionError, NotImplementedError) as error:
        raise InputError(f"cannot read {path} as a log of inspect_ai: {error}") from error


def _inspected(path: Path, samples: Iterable[Any]) -> Iterator[Row]:
    for number, each in enumerate(samples):
        found = each if isinstance(each, dict) else {}
        name, output = str(found.get("id", "")), found.get("output")
        yield f"{path.name}:[{number}]", {"task_id": name, "completion": _choices(output)}


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a row of lm-evaluation-harness or of a batch with the field names of samples; any other unchanged."""
    doc, response = fields.get("doc"), fields.get("response")
    if isinstance(doc, dict) and ("filtered_resps" in fields or "resps" in fields):
        name = next((doc[key] for key in ("task_id", "question_id", "id", "name") if key in doc), fields.get("doc_id"))
        texts = fields.get("filtered_resps") or fields.get("resps")
        return {"task_id": str(name), "completion": texts}
    if "custom_id" in fields and "response" in fields:
        body = response.get("body") if isinstance(response, dict) else None
        return {"task_id": str(fields["custom_id"]), "completion": _choices(body)}
    return fields


def _choices(body: Any) -> list[str]:
    """Return the texts of the choices of an endpoint's answer."""
    choices = body.get("choices") if isinstance(body, dict) else None
    return [_text_of(each) for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []


def _text_of(choice: Mapping[str, Any]) -> str:
    message = choice.get("message")
    content = choice.get("text") or (message.get("content") if isinstance(message, dict) else None)
    if isinstance(content, list):  # parts, of which the texts count
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
