"""Documents are cut at their headings, in every markup, with the headings above as parents."""

from __future__ import annotations

import pytest

from assay.corpus.chunk import parse

TEXT = "one\ntwo\nthree\nfour\n"


def outline(path: str, text: str) -> list[tuple[str, str]]:
    return [(chunk.parent, chunk.symbol) for chunk in parse(path, text).chunks]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", f"# Top #\n{TEXT}\n## Sub `x`\n{TEXT}\n### Deep\n{TEXT}\n## [Next](u)\n{TEXT}"),
        ("a.md", f"Top\n===\n{TEXT}\nSub x\n---\n{TEXT}\n### Deep\n{TEXT}\nNext\n-----\n{TEXT}"),
        ("a.md", f"<h1 align=c>Top</h1>\n{TEXT}\n## Sub x\n{TEXT}\n### **Deep**\n{TEXT}\n## Next {{#id}}\n{TEXT}"),
        ("a.rst", f"===\nTop\n===\n\n{TEXT}\nSub x\n=====\n\n{TEXT}\nDeep\n----\n\n{TEXT}\nNext\n====\n\n{TEXT}"),
        ("a.adoc", f"= Top\n{TEXT}\n[[id]]\n== Sub x\n{TEXT}\n=== Deep\n{TEXT}\n== Next\n{TEXT}"),
    ],
)
def test_headings_and_their_parents(path, text):
    assert outline(path, text) == [("", "Top"), ("Top", "Sub x"), ("Top > Sub x", "Deep"), ("Top", "Next")]
    assert {chunk.kind for chunk in parse(path, text).chunks} == {"section"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", f"# Top\n{TEXT}```sh\n# no heading\n```\n~~~\n# no\n```\n# no\n~~~\n"),
        ("a.md", f"---\ntitle: x\n---\n# Top\n{TEXT}- item\n---\n\n    # no\n"),
        ("a.adoc", f"= Top\n{TEXT}----\n== no\n----\n"),
        ("a.rst", f"Top\n===\n\n{TEXT}\n::\n\n    no\n    ==\n\n====\n"),
    ],
)
def test_what_looks_like_a_heading_and_is_none(path, text):
    assert {symbol for _, symbol in outline(path, text)} == {"Top"}


def test_a_short_section_joins_what_follows_inside_it_or_its_kin():
    text = f"# Top\n\n## Sub\n{TEXT}\n## Short\nx\n\n## Also\ny\n\n# Other\n{TEXT}"
    assert outline("a.md", text) == [("Top", "Sub, Short, Also"), ("", "Other")]


def test_anchors_above_a_heading_belong_to_it():
    chunks = parse("a.md", f"# Top\n{TEXT}\n(label)=\n\n## Sub\n{TEXT}").chunks
    assert chunks[1].text.startswith("(label)=")


def test_a_long_section_is_cut_between_paragraphs():
    text = "# Top\n" + "".join(f"a {i}\nb\nc\n\n" for i in range(60))
    chunks = parse("a.md", text).chunks
    assert {chunk.symbol for chunk in chunks} == {"Top"}
    assert all(len(chunk.text.split("\n")) <= 81 for chunk in chunks)
    assert all(chunk.text.startswith(("# Top", "a ")) for chunk in chunks)
