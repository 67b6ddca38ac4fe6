"""What the documentation says is so: links lead somewhere, names exist, tables are complete."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name
from shutil import which

import pytest
from commands import manual_pages, pages

import assay
from assay.encode.static import default_static
from assay.rank.neural_data import RECIPES, NeuralSettings
from assay.search.ranking import PARTS
from assay.settings import Settings
from assay.train.card import table_card
from page_blocks import PAGES, ROOT, place

PLUGINS = ("encoder", "ranker", "chat", "reranker", "system")
"""Groups of entry points, which look like modules."""
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def test_the_card_of_the_default_encoder_is_written_from_its_record():
    page = ROOT / "docs" / "models" / "static-default.md"
    assert page.read_text(encoding="utf-8") == table_card("static:default", default_static().about), "make docs"


@pytest.mark.skipif(which("man") is None or which("groff") is None, reason="man and groff are not installed")
def test_man_shows_a_page_without_warnings(tmp_path: Path):
    page = tmp_path / "assay-search.1"
    page.write_text(manual_pages()[page.name], encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    command = ["man", "--warnings", "-l", page]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    assert "assay-search - Find code by meaning" in done.stdout
    assert "-k, --limit N" in done.stdout


def names(page: Path) -> set[str]:
    """Return what a page writes as code, outside of its blocks."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def test_each_file_module_and_setting_that_a_page_names_is_there():
    folders, sections = ("benchmarks/", "deploy/", "docs/", "tests/", ".ci/"), {*asdict(Settings())}
    lost = []
    for page in PAGES:
        for name in names(page):
            within = ROOT if name.startswith(folders) else Path(assay.__file__).parents[1]  # of the wheel, too
            file = name.removeprefix("src/").partition(":")[0].partition(" ")[0]
            if name.startswith((*folders, "src/assay/")) and not list(within.glob(file)):
                lost.append(f"{page.name}: file {name}")
            section, _, key = re.sub(r"\W*=.*", "", name).partition(".")
            if page.name != "log.md" and section in sections and key not in {"", "json", *asdict(Settings())[section]}:
                lost.append(f"{page.name}: setting {name}")
            if re.fullmatch(r"assay(\.\w+)+", name) and name.rpartition(".")[2] not in {"toml", "json", *PLUGINS}:
                resolve_name(name)
    assert not lost


def test_each_module_that_the_rooms_of_the_architecture_name_is_there():
    package, kept = Path(assay.__file__).parent, "Outcome Ranked results.json".split()
    rooms = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## Rooms")[2].partition("\n## ")[0]
    there = {path.stem for path in package.rglob("*")} | {*kept, "http/server", "import assay", "--workers", "--fresh"}
    assert not [name for name in re.findall(r"`([^`]+)`", rooms) if name not in there]


def test_links_between_pages_lead_somewhere():
    made = {ROOT / "docs" / "cli" / name for name in pages()}  # when the site is built
    links = [(page, link) for page in PAGES for link in LINK.finditer(page.read_text(encoding="utf-8"))]
    lost = [
        f"{place(page, link.start())}: {link[1]}"
        for page, link in links
        if not (target := (page.parent / link[1]).resolve()).exists()
        and (page.name == "README.md" or target not in made)
    ]
    assert not lost, "\n".join(lost)


def test_every_place_in_the_gallery_exists():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    found = re.findall(r"^ *src/assay/(\S+?\.\w+):\d+  ?\S", text, re.MULTILINE)
    assert len(found) >= 8
    package = Path(assay.__file__).parent  # the tests of the built package run without src/
    assert not [path for path in found if not (package / path).is_file()], "python benchmarks/documentation.py gallery"


def test_the_settings_that_are_documented_are_all_there_are():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (documented,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert tomllib.loads(documented) == asdict(Settings())


def test_every_setting_of_a_neural_ranker_is_documented_with_its_default_and_its_value_in_the_paper():
    page = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
    section = page.partition("`--set KEY=VALUE`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|", section, re.MULTILINE)
    told = {name: (default.strip(), paper.strip()) for name, default, paper in rows}
    defaults, paper = asdict(NeuralSettings()), RECIPES["paper"]
    assert told.keys() == defaults.keys() - {"base", "task"}
    documented = {name: default for name, (default, _) in told.items()}
    assert {name: _as_told(value) for name, value in defaults.items() if name in told} == documented
    assert {name: _as_told(value) for name, value in paper.items()} == {n: at for n, (_, at) in told.items() if at}


def _as_told(value: object) -> str:
    return "1e-4" if value == 1e-4 else json.dumps(value).strip('"')


def test_every_part_of_a_score_is_documented_in_order(assay, tmp_path: Path, project: Path):
    assert documented_parts()[0] == [*PARTS]
    issue = tmp_path / "issue.md"
    issue.write_text(f"Mail is sent twice\n{'The server was busy and the letter went again. ' * 9}\nmail/send.py:6\n")
    hits = json.loads(assay("search", issue.read_text(), project, "--format", "json", "--explain").out)["hits"]
    assert {name for hit in hits for name in hit["why"]} == set(documented_parts()[1])


def test_every_key_of_what_is_related_is_documented(assay, tmp_path: Path):
    (tmp_path / "a.py").write_text("from b import post_letter\n\n\ndef send_letter():\n    return post_letter()\n")
    (tmp_path / "b.py").write_text("def post_letter():\n    return 1\n")
    (tmp_path / "c.py").write_text("from a import send_letter\n\n\ndef write_home():\n    return send_letter()\n")
    (tmp_path / "d.py").write_text("class D:\n    def send(self):\n        return 1\n\n\nclass E(D):\n    pass\n")
    answer = json.loads(assay("related", f"{tmp_path}/a.py:4", tmp_path, "--format", "json").out)
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## The answer of `assay related")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.+?) \|", section, re.MULTILINE))))
    assert documented == {*answer, *answer["subject"]}


def documented_parts() -> tuple[list[str], list[str]]:
    """Return the names in the tables of docs/formats.md: the parts of a ranking, of an issue."""
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## What `why` holds")[2].partition("\n## ")[0]
    search, issue = (re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) for table in section.split("| part | is |"))
    return search, issue
