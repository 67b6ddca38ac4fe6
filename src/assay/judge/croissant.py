"""The folder of an exported benchmark in, its Croissant metadata out: what files there are, and the fields of pairs.

Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec.html) is JSON-LD that tools read to load a
dataset without its author's code. It names each file with its size and SHA-256. No date and no address stand in it:
the same export is the same file, and who publishes it says where.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Any

from assay.judge.dataset_card import DatasetDetails

NAME = "croissant.json"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
PAIR_FIELDS = {
    "query_id": ("sc:Text", "The id of the query."),
    "query": ("sc:Text", "What is asked."),
    "code_id": ("sc:Text", "The id of the code snippet."),
    "code": ("sc:Text", "The code snippet."),
    "language": ("sc:Text", "Its programming language."),
    "label": ("sc:Integer", "1 if the code answers the query, 0 if not."),
    "judge": ("sc:Text", "Who judged."),
    "reason": ("sc:Text", "Why."),
    "split": ("sc:Text", "train, valid or test; a query is in one of them with all of its pairs."),
}
"""The fields of pairs.jsonl: type and meaning."""
_TYPES = {".jsonl": "application/jsonlines", ".json": "application/json", ".tsv": "text/tab-separated-values"}


def croissant(about: DatasetDetails, folder: Path, description: str) -> dict[str, Any]:
    """Return the metadata of the files that a folder holds."""
    described: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": about.name,
        "description": description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "keywords": ["code search", *about.languages],
    }
    if about.license:
        described["license"] = f"https://spdx.org/licenses/{about.license}.html"
    return {**described, "distribution": list(_distribution(folder)), "recordSet": [_pairs()]}


def _distribution(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = file.relative_to(folder).as_posix()
        if name.partition("/")[0] == "corpus":
            continue  # snippets of code as files: pairs.jsonl has their texts
        with file.open("rb") as opened:
            digest = file_digest(opened, "sha256").hexdigest()
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": f"{file.stat().st_size} B",
            "encodingFormat": _TYPES.get(file.suffix, "text/plain"),
            "sha256": digest,
        }


def _pairs() -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"pairs/{name}",
            "name": f"pairs/{name}",
            "description": meaning,
            "dataType": kind,
            "source": {"fileObject": {"@id": "pairs.jsonl"}, "extract": {"column": name}},
        }
        for name, (kind, meaning) in PAIR_FIELDS.items()
    ]
    about = "Each label with both texts."
    return {"@type": "cr:RecordSet", "@id": "pairs", "name": "pairs", "description": about, "field": fields}
