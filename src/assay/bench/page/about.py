"""What went wrong, what was measured with what, and how to do it again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.bench.page.html import Html, join, said, tag
from assay.bench.page.parts import Column, counted, name, note, row, section, table, words
from assay.bench.page.study import Study

_PROBLEMS = 40
_REASONS = 8


def troubles(study: Study) -> Html:
    """Return the section of errors and of ground truth that could not be used."""
    errors = [*_errors(study)]
    columns = [
        Column("System", number=False),
        Column("Set", number=False),
        Column("Queries"),
        Column("Reason", number=False),
        Column("Such as", number=False),
    ]
    failed = table("Queries that failed, counted as zero", columns, errors) if errors else tag("p", "No query failed.")
    problems = [part for of, told in study.sets.items() if told["problems"] for part in _problems(of, told["problems"])]
    none = tag("p", "Every row of the ground truth could be used.")
    return section("errors", "Errors and problems", failed, *(problems or [none]))


def _errors(study: Study) -> Iterator[Html]:
    for (of, system), cell in study.cells.items():
        reasons = Counter(cell["errors"].values())
        for reason, count in reasons.most_common(_REASONS):
            such = next(key for key, told in cell["errors"].items() if told == reason)
            yield row(
                name(study, system),
                [
                    words(said(of)),
                    tag("td", f"{count:,}"),
                    words(said(reason)),
                    words("query\N{NO-BREAK SPACE}", said(such)),
                ],
            )
        if len(reasons) > _REASONS:
            rest = sum(count for _, count in reasons.most_common()[_REASONS:])
            yield row(
                name(study, system),
                [words(said(of)), tag("td", f"{rest:,}"), words("other reasons: see results.json"), words()],
            )


def _problems(of: str, problems: list[str]) -> Iterator[Html]:
    yield tag("h3", f"Ground truth of {of}: {counted(len(problems), 'problem')}")
    yield tag("ul", *(tag("li", said(problem)) for problem in problems[:_PROBLEMS]))
    if len(problems) > _PROBLEMS:
        yield note(f"{len(problems) - _PROBLEMS:,} more are in results.json.")


def about(study: Study) -> Html:
    """Return the section of sets, systems and the manifest."""
    command = study.manifest.get("command", "")
    again = (
        [tag("p", "To repeat:"), tag("pre", tag("code", command))]
        if command
        else [note("The manifest holds no command.")]
    )
    rest = {key: value for key, value in study.manifest.items() if key != "command"}
    rows = [row(key, [words(said(value))]) for key, value in _flat(rest)]
    columns = [Column("Key", number=False), Column("Value", number=False)]
    manifest = tag(
        "details", tag("summary", "Manifest: settings, versions, hardware, seed"), table("Manifest", columns, rows)
    )
    return section("about", "How to repeat this", *again, _sets(study), _systems(study), manifest)


def _sets(study: Study) -> Html:
    titles = ("Set", "Role", "Ground truth", "Queries", "Commit", "Hash of judgments", "Hash of corpus")
    columns = [Column(title, number=title == "Queries") for title in titles]
    rows = [
        row(
            of,
            [
                words(told["role"] or "\N{EN DASH}"),
                words(said(str(told["truth"]))),
                tag("td", f"{len(told['queries']):,}"),
                *(
                    words(tag("code", str(told[key])[:12] or "\N{EN DASH}", title=str(told[key])))
                    for key in ("commit", "qrels", "corpus")
                ),
            ],
        )
        for of, told in study.sets.items()
    ]
    return table("Sets of queries", columns, rows)


def _systems(study: Study) -> Html:
    columns = [Column(title, number=False) for title in ("System", "Spec", "Asked", "Chosen on", "Settings")]
    rows = []
    for system, told in study.results["systems"].items():
        asked = words(told["how"])
        cells = [
            words(said(told["spec"], "code")),
            asked,
            words(told["chosen_on"] or "\N{EN DASH}"),
            words(_settings(study, told)),
        ]
        rows.append(row(name(study, system), cells))
    return table("Systems", columns, rows)


def _settings(study: Study, told: Mapping[str, Any]) -> Html:
    """Return all settings folded, or for a variant what it changes."""
    own = dict(_flat(told["settings"]))
    base = study.results["systems"].get(told["base"])
    if base is None:
        lines = [tag("div", tag("code", f"{key} = "), said(value, "code")) for key, value in own.items()]
        return tag("details", tag("summary", counted(len(own), "setting")), *lines) if own else Html("\N{EN DASH}")
    before = dict(_flat(base["settings"]))
    changed = [key for key in {**before, **own} if before.get(key) != own.get(key)]
    lines = [tag("div", tag("code", f"{key} = "), said(own.get(key, "(unset)"), "code")) for key in changed]
    return join([tag("div", f"{told['base']} with", class_="remark"), *lines])


def _flat(value: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested tables by their dotted keys."""
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, f"{above}{key}.")
        else:
            yield f"{above}{key}", inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
