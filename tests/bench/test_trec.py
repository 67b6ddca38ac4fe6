"""Qrels and runs of others without a corpus: the figures are those of ir_measures, whatever the files hold."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

ir_measures = pytest.importorskip("ir_measures")
pytest.importorskip("pytrec_eval")

FILES, SETS = 21, 3
IDS = "d{} clueweb22-en-{}:7 src/a.py::f{} a..b{} /top/{} https://x.y/{}?a=1 Ünïcode-{} x:{}-3 c::".split()
THEIRS = {
    "nDCG@10": "nDCG@10",
    "MRR": "RR",
    "MAP": "AP",
    "Recall@10": "R@10",
    "Hit@1": "Success@1",
    "Precision@5": "P@5",
}
K = 400


def collection(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write odd qrels and an odd run."""
    chance = random.Random(seed)
    documents = sorted({chance.choice(IDS).format(n) for n in range(chance.choice([5, 30, 300]))})
    # pytrec_eval crashes on grades below 0, which trec_eval takes for 0
    grades = ["0", "1", "2", "1.0", "3.", "-1", "-2"]
    qrels, run = [], []
    for query in (f"q{seed}:{n}" for n in range(9)):
        judged = chance.sample(documents, chance.randint(1, len(documents)))
        qrels += [f"{query} 0 {document} {chance.choice(grades)}" for document in judged]
        if chance.random() < 0.8:
            found = chance.sample(documents, chance.randint(1, len(documents)))
            scores = [chance.choice([-1.5, 0, 1, 2.25, chance.random()]) for _ in found]
            run += [f"{query} Q0 {d} {n} {score} x" for n, (d, score) in enumerate(zip(found, scores, strict=True), 1)]
            run += [f"{query} Q0 {found[0]} 1 3 x"] * (seed % 3 == 0)  # said twice, the better one last
    run += ["nobody Q0 asked 1 1 x"]
    files = folder / f"{seed}.qrels", folder / f"{seed}.run"
    for file, lines in zip(files, (qrels, run), strict=True):
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return files


@pytest.mark.usefixtures("undrawn")
def test_odd_files_have_the_figures_of_ir_measures(tmp_path: Path, assay, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    matrix, wanted, runs = [f"k = {K}", f"measures = {[*THEIRS]}", "[systems.it]", "spec = 'run:it.run'"], {}, []
    measures = [ir_measures.parse_measure(name) for name in THEIRS.values()]
    for of in range(SETS):
        odd = [collection(tmp_path, seed) for seed in range(of, FILES, SETS)]
        qrels, run = ("".join(each.read_text("utf-8") for each in files) for files in zip(*odd, strict=True))
        judged = [line.split() for line in qrels.splitlines()]
        judged = [ir_measures.Qrel(q, d, max(int(float(grade)), 0)) for q, _, d, grade in judged]
        found = ir_measures.calc_aggregate(measures, judged, ir_measures.read_trec_run(run))
        wanted[f"s{of}"] = {name: found[measure] for name, measure in zip(THEIRS, measures, strict=True)}
        Path(f"s{of}.qrels").write_text(qrels, "utf-8")
        matrix += [f"[sets.s{of}]", f"truth = 's{of}.qrels'"]
        runs.append(run)
    Path("it.run").write_text("".join(runs), "utf-8")
    Path("all.toml").write_text("\n".join(matrix), "utf-8")
    ran = assay("bench", "all.toml", "--out", "out")
    assert ran.status == 0, ran.err
    for cell in json.loads(Path("out/results.json").read_text("utf-8"))["cells"]:
        means = {name: cell["figures"]["file"][name][0] for name in THEIRS}
        assert means == pytest.approx(wanted.pop(cell["set"]), abs=1e-9), cell["set"]
    assert not wanted
    for said in ("no corpus was given", "equal scores of", "is ranked twice", "below 0 count as 0"):
        assert said in ran.err
