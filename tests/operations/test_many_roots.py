"""One question over many roots: one answer, whatever is wrong with some of them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.operations.joint_answer import JointAnswer, joint_answer
from assay.operations.joint_search import joint_searches
from assay.operations.open_roots import RootOpening, kept_repositories, open_many, repository_name, roots_in
from assay.search.query_filters import queries_of
from assay.settings import Settings, load

THINGS = ("invoice", "planet", "recipe", "ticket", "sensor", "ledger", "parcel", "violin", "orchard", "harbor")
DEEDS = ("load", "store", "merge", "count", "print", "check", "split", "close", "rename", "sort")
MANY = 30


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write many small roots that have nothing to do with mail."""
    folder, chance = tmp_path_factory.mktemp("others"), random.Random(7)
    return [str(write_root(folder / f"root{number:02d}", chance)) for number in range(MANY)]


def write_root(root: Path, chance: random.Random) -> Path:
    root.mkdir(parents=True)
    for thing in chance.sample(THINGS, 4):
        code = f"def {{deed}}_{thing}({thing}):\n    return {{deed}}(all_of({thing}))\n"
        (root / f"{thing}.py").write_text("\n\n".join(code.format(deed=deed) for deed in chance.sample(DEEDS, 5)))
    return root


def asked(roots: list[str], question: str = "where is mail sent", **how: object) -> JointAnswer:
    opened = open_many(roots, RootOpening(lambda _: Settings(), **how))  # type: ignore[arg-type]
    found = joint_answer(joint_searches(opened.workspaces), queries_of([question]), 10, rooted=True)
    assert {problem.where for problem in found.problems} == set()
    return found


def test_a_hit_of_one_root_stays_among_the_first_with_many_others(project: Path, others: list[str]):
    found = asked([*others, str(project)])
    assert found.relevant
    assert (str(project), "mail/send.py") in [(hit.chunk.root, hit.chunk.path) for hit in found.hits[:5]]
    assert {hit.chunk.root for hit in found.hits} <= {str(project), *others}


def test_roots_answer_alike_in_any_order(project: Path, others: list[str]):
    roots = [*others[:12], str(project)]
    first = asked(roots, "sort the sensors")
    assert len(first.hits) == 10
    for _ in range(3):
        random.Random(1).shuffle(roots)
        again = asked(roots, "sort the sensors")
        assert again.hits == first.hits


def test_a_question_over_many_roots_is_one_search_of_them_all(others: list[str]):
    """What many roots cost is one pass over all, as of one root of their size, not one pass and one ranking a root."""
    workspaces = open_many(others, RootOpening(lambda _: Settings())).workspaces
    (joint,) = joint_searches(workspaces)
    assert len(joint.members) == MANY
    assert len(joint.corpus_search.answer(queries_of(["sort the sensors of a planet"]), 10).hits) == 10


def test_a_word_that_one_root_holds_is_not_corrected(project: Path, others: list[str]):
    (project / "names.py").write_text("def sensro():\n    return 1\n")
    assert asked([*others[:10], str(project)], "print the sensro").corrected == ()
    assert asked(others[:10], "print the sensro").corrected == ("print the sensor",)


def test_a_root_that_fails_is_named_beside_the_hits(assay, project: Path, others: list[str]):
    ran = assay("search", "where is mail sent", project, others[0], "no/such/folder", "--format", "json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["hits"][0]["root"] == str(project)
    said = "no such folder: 'no/such/folder' (a question of several words goes in quotes)"
    assert found["problems"] == [f"no/such/folder: {said}"]
    assert "not all roots were searched: no/such/folder: no such folder" in ran.err
    ran = assay("search", "mail", "here", "there")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "assay: no such folder: 'here' (a question of several words goes in quotes)\n"


def test_a_damaged_root_is_left_out_and_named(assay, project: Path, others: list[str], tmp_path: Path):
    damaged = write_root(tmp_path / "damaged", random.Random(1))
    roots = [project, damaged, *others[:2]]
    assert assay("index", *roots).status == 0
    index = Path(json.loads(assay("status", damaged, "--format", "json").out)["location"])
    (segment,) = index.glob("*.segment")
    segment.chmod(0o600)
    data = bytearray(segment.read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    segment.write_bytes(data)
    ran = assay("search", "where is mail sent", *roots, "--no-refresh", "--format", "json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["hits"][0]["root"] == str(project)
    (problem,) = found["problems"]
    assert (problem.startswith(f"{damaged}: "), "assay index" in problem) == (True, True)


def test_roots_with_other_settings_are_searched_by_themselves(project: Path, others: list[str], tmp_path: Path):
    own = [write_root(tmp_path / name, random.Random(1)) for name in ("keywords", "limit")]
    for root, line in zip(own, ('ranking = "keywords"', "limit = 3"), strict=True):
        (root / "assay.toml").write_text(f"[search]\n{line}\n")
    roots = [str(project), *map(str, own), others[0]]
    opened = open_many(roots, RootOpening(lambda root: load(file if (file := root / "assay.toml").is_file() else None)))
    assert [len(each.members) for each in joint_searches(opened.workspaces)] == [3, 1]


def test_roots_are_read_from_a_file_or_found_by_a_glob(others: list[str], tmp_path: Path):
    (tmp_path / "roots.txt").write_text(f"# ours\n{others[0]}\n\n{others[3]}\n")
    assert roots_in([str(tmp_path / "roots.txt")]) == [others[0], others[3]]
    assert roots_in([f"{Path(others[0]).parent}/*4"]) == [root for root in others if root.endswith("4")]
    with pytest.raises(InputError, match="no folder matches"):
        roots_in([f"{tmp_path}/none/*"])
    with pytest.raises(InputError, match="is one folder"):
        roots_in([str(tmp_path)])


def test_repositories_are_kept_by_their_name_or_path(assay, project: Path, others: list[str]):
    wanted = [root for root in others[:10] if not root.endswith(("3", "4"))]
    assert kept_repositories(others, ["root0*", "!*3", "!*/root04"]) == wanted
    assert repository_name("https://github.com/pallets/click.git") == "click"
    ran = assay("search", "where is mail sent", project, *others[:4], "--repo", project.name, "--format", "jsonl")
    assert {json.loads(line)["root"] for line in ran.out.splitlines()} == {str(project)}
    ran = assay("search", "mail", *others, "--repo", "mail*")
    assert ran.status == 2
    assert ran.err == "assay: no repository matches --repo mail*: there are root00, root01, root02 and 27 more\n"


def test_copies_of_a_file_in_two_roots_are_one_place_that_names_the_other(project: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    (copy / "mail").mkdir(parents=True)
    (copy / "mail/send.py").write_text((project / "mail/send.py").read_text())
    (hit,) = [hit for hit in asked([str(project), str(copy)]).hits if hit.chunk.symbol == "send_mail"]
    assert [chunk.root for chunk in (hit.chunk, *hit.others)] == sorted(map(str, (project, copy)))
