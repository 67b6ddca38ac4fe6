"""Real questions to this repository, with what Assay answers: `python benchmarks/gallery.py` writes docs/gallery.md.

The commands run as they are printed, on the sources as they are; nothing is edited afterwards.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
QUESTIONS = (
    ("A question in words", 'assay search "mask the key in a message" src --limit 2'),
    ("A concept, not a name", 'assay search "keep two processes from writing at the same time" src --limit 2'),
    ("An error somebody saw", 'assay search "write-protected: chmod u+w it" src --limit 1'),
    ("A question that it gets wrong", 'assay search "how is an endless regular expression prevented" src --limit 2'),
    ("Another language", 'assay search "wo wird die Antwort eines Modells wiederholt" src --limit 2'),
    (
        "A text letter by letter, in functions alone",
        """assay search 'kind:function "os.path.realpath" file' src --limit 2""",
    ),
    ("What calls it", "assay related src/assay/io/files.py:{line} src --limit 4"),
    ("A structure", "assay pattern 'warnings.catch_warnings($$$)' --lang python src"),
)
HEAD = """# Gallery

Real questions to Assay's own sources, and its answers as they were printed. `python benchmarks/gallery.py` asks them
again and writes this page; a test checks that the files it names are still there.
"""

MISSED = (
    "RE2 runs them in linear time, in `src/assay/search/text_matches.py`; the question's words stand elsewhere.\n\n"
)


def main() -> None:
    lines = (ROOT / "src/assay/io/files.py").read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.startswith("def replacing("))
    parts = [HEAD]
    for title, template in QUESTIONS:
        command = template.replace("{line}", str(line))
        note = MISSED if "wrong" in title else ""
        parts.append(f"## {title}\n\n{note}```console norun\n$ {command}\n{answer(command)}\n```\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def answer(command: str) -> str:
    """Run one command in the repository and return what it prints."""
    program = [sys.executable, "-m", *shlex.split(command)]
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return "\n".join(row.rstrip() for row in done.stdout.strip().splitlines())


if __name__ == "__main__":
    main()
