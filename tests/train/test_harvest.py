"""Pairs for training: documentation asks for the code below it, and no repository of a ground truth is learned from."""

from __future__ import annotations

from pathlib import Path

from assay.train.harvest import LEFT_OUT, PackageSource, environment, harvest, packages_in, pairs_of, repository
from assay.values import Chunk

TRUTHS = Path(__file__).parents[2] / "benchmarks" / "truth"

MODULE = '''"""Mail."""


def send_mail(server, message):
    """Deliver a message to the server, trying again. Waits between tries, longer each time it fails.

    :param server: where to.
    """
    # wait a little
    server.deliver(message)


def undocumented(server):
    server.close()


def brief():
    """Stop."""
'''


def write(root: Path, path: str, text: str = MODULE) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def test_documentation_asks_for_the_code_that_no_longer_says_it(tmp_path: Path) -> None:
    write(tmp_path, "mail.py")
    sources = [PackageSource("postbox", tmp_path), PackageSource("two", tmp_path)]  # a pair is taken once
    (pair,) = [pair for pair in harvest(sources) if pair.kind == "doc"]
    assert (pair.query, pair.source) == ("Deliver a message to the server, trying again.", "postbox")
    assert "send mail" in pair.code
    assert "wait a little" in pair.code
    assert not [word for word in ("Deliver", "trying") if word in pair.code]
    (rest,) = [pair for pair in harvest([repository(tmp_path)]) if pair.kind == "rest"]
    assert rest.code.startswith("Waits between tries")


def test_comments_of_other_languages_are_taken_off_the_code_and_headings_ask_for_their_sections() -> None:
    doc = "Opens the given file for reading.\nFails on folders."
    text = "/// " + doc.replace("\n", "\n/// ") + "\nfn open(path: &Path) -> File {\n    raw(path)\n}\n"
    chunk = Chunk("1", text, "rust", "a.rs", 1, 5, "open", "function", doc=doc)
    (pair,) = [pair for pair in pairs_of(chunk, "x") if pair.kind == "doc"]
    assert "raw" in pair.code
    assert "folders" not in pair.code
    title, body = "Timeouts of requests", "Set the option to the number of seconds. " * 5
    section = Chunk("1", f"## {title}\n{body}", "markdown", "a.md", 1, 2, title, "section", "Guide")
    (pair,) = pairs_of(section, "x")
    assert pair.query == "Guide Timeouts of requests"
    assert pair.code.startswith("Set the option")


def test_repositories_of_ground_truths_are_left_out_wherever_they_turn_up(tmp_path: Path) -> None:
    for path in ("click/core.py", "vendor/httpx/api.py", "typer/_click/core.py", "gson.py", "tools/mine.py"):
        write(tmp_path, path, MODULE.replace("send_mail", "send_" + path.split("/")[0].removesuffix(".py")))
    codes = " ".join(pair.code for pair in harvest([PackageSource("all", tmp_path)]) if pair.kind == "doc")
    assert "send tools" in codes
    assert not any(f"send {name}" in codes for name in ("click", "vendor", "typer", "gson"))
    for name in ("Click", "h3", "CLI11", "HikariCP", "_click", "httpx2", "click.py"):
        assert not list(harvest([PackageSource(name, tmp_path / "tools")])), name
    assert not list(harvest([PackageSource("postbox", tmp_path)], left_out=LEFT_OUT | {"postbox"}))
    truths = {file.stem.removesuffix("_docs").removesuffix("_both").lower() for file in TRUTHS.glob("*.csv")}
    assert len(truths) > 20
    assert not truths - LEFT_OUT, "a new truth whose name is not in the list would be trained on"
    write(tmp_path / "site", "postbox/__init__.py")
    write(tmp_path / "site", "postbox-1.0.dist-info/RECORD")
    assert packages_in(tmp_path / "site") == [PackageSource("postbox", tmp_path / "site" / "postbox")]
    assert {"stdlib", "pytest"} <= {source.name for source in environment()}
