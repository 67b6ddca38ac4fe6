"""Issues as people paste them: what is asked of them, and what every issue of a project holds is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.search.issue_text import issue_of

REPORT = """\
[Bug]: A letter is sent twice when the server is busy
<!-- Please search the existing reports first. -->

### Describe the bug

Delivery retries although the first attempt was accepted. I expected one letter in the mailbox.

```python
post = Mailbox(retries=3)
post.deliver(letter)
```

2024-05-01 10:11:12,123 INFO connecting to the relay
- [x] I have read the guidelines

### Environment

Darwin arm64, a laptop
Python 3.11.2

### More

- postbox: 1.22.333
numpy==1.26.4
It began with the last release.
----------
"""


def test_a_report_is_its_title_and_what_it_says():
    issue = issue_of(REPORT)
    assert issue.title == "A letter is sent twice when the server is busy"
    assert issue.text.split("\n") == [
        "[Bug]: A letter is sent twice when the server is busy",
        "Delivery retries although the first attempt was accepted. I expected one letter in the mailbox.",
        "It began with the last release.",
        "post = Mailbox(retries=3)",
        "post.deliver(letter)",
    ]


@pytest.mark.parametrize("text", ["", "where is mail sent", "a\nb", "one line " * 100, "short\n" * 20, "\n" * 999])
def test_a_question_is_no_issue(text):
    assert issue_of(text) is None


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("# Crash on start", "Crash on start"),
        ("Bug: crash on start", "crash on start"),
        ("[BUG] [v2] Crash on start.", "Crash on start."),
        ("Crash in 3.4.0", "Crash in 3.4.0"),
        ("bug:", ""),
        ("## Describe the bug\nCrash on start", ""),
        ("**Describe the bug**\nCrash on start", ""),
        ('Traceback (most recent call last):\n  File "a/b.py", line 3, in f\n    g()\nKeyError: 3', ""),
        ("```\ncode()\n```", ""),
        ("Hello everybody!", ""),
        ("I found that it crashes when it is started for the second time on the same machine and disk.", ""),
        ("word " * 25, ""),
    ],
)
def test_the_first_line_is_the_title_if_it_reads_like_one(first, title):
    assert issue_of(f"{first}\n{'It says more below. ' * 20}").title == title


def test_nothing_but_a_form_is_no_issue():
    assert issue_of("### Environment\n" + "- OS: some system\n" * 30) is None


def test_a_fence_that_never_closes_is_code_to_the_end():
    issue = issue_of("Crash\n```\n" + "# not a heading\nvalue = 1\n" * 30)
    assert issue.text.startswith("Crash\n# not a heading\nvalue = 1\n")


def test_as_much_is_asked_as_is_worth_it():
    issue = issue_of("Crash\n" + "it says a word and another one\n" * 9999)
    assert len(issue.text) == 2000


@given(st.text(alphabet=st.sampled_from("ab1.:/-*#`_<>!\n\t \\[]()=v"), max_size=1500))
def test_any_text_can_be_taken_apart(text):
    issue = issue_of(text)
    assert issue is None or (issue.text and len(issue.title) <= 120 and len(issue.text) <= 2000)


@pytest.mark.parametrize(
    "unit", ["1.", "a ", "a.b ", "<!-- ", "- ", "** ", "=1.1.1", "\\", "a/", 'File "', "at a.", "#"]
)
def test_the_time_grows_with_the_text(unit, growth):
    assert growth(lambda size: issue_of("Title\n" + (unit * size)[:size] + "\n" + (unit * 90)[:90] + " !"), 2400) < 20
