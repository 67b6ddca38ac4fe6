"""Write the page that people read before they trust a trained model: one frame, and what each kind of model fills in.

Run as `python -m assay.train.card FILE`, it writes the page of the table that ships.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from assay.encode.static import default_static
from assay.errors import InputError
from assay.io import files

Record = Mapping[str, Any]


def filled(name: str, facts: Record) -> str:
    """Return the card of a name with facts in it."""
    return resources.files("assay.train").joinpath("cards", f"{name}.md").read_text("utf-8").format_map(facts)


def rows_of(head: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table; `head` has the names of its columns between bars."""
    lines = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join((f"| {head} |", f"|{'---|' * (head.count('|') + 1)}", *lines))


def base_of(spec: str) -> str:
    """Return the folder or the name on the hub that the spec of a base names."""
    if not spec.startswith("hf:"):
        raise InputError(f"--base is '{spec}'; wanted hf: and a folder or a name on the hub")
    return spec.removeprefix("hf:")


def about_base(base: str) -> dict[str, str]:
    """Return what people call a base, a hub name and not a folder of this machine, and the license on its card."""
    from assay.encode.hub import find_file

    model = base.partition("?")[0]
    file = find_file(model, "README.md")
    named = re.search(r"^license:\s*(\S+)\s*$", file.read_text("utf-8", "replace"), re.MULTILINE) if file else None
    return {"base": Path(model).name if Path(model).is_dir() else base, "license": named[1] if named else "other"}


# --- a static table


def table_card(name: str, about: Record) -> str:
    """Return the model card of a table from what its runs recorded, the first one first."""
    runs = [about]
    while "before" in runs[0]:
        runs.insert(0, runs[0]["before"])
    title = f"`{name}`: the encoder that ships with Assay" if name == "static:default" else f"`{name}`"
    steps = "\n\n".join(_table_step(run, number) for number, run in enumerate(runs, 1))
    return filled("table", {**about["settings"], **about, "title": title, "steps": steps})


def _table_step(run: Record, number: int) -> str:
    facts = {**run["settings"], **run, "learned": sum(run["pairs"].values()), "tested": sum(run["held_out"].values())}
    if "joined" in run:
        facts |= {**run["joined"], "width": run["joined"]["dimension"], "dimension": run["settings"]["dimension"]}
    facts["kinds"] = ", ".join(f"{count:,} `{kind}`" for kind, count in run["pairs"].items())
    facts["held_out"] = ", ".join(f"{source} {count}" for source, count in run["held_out"].items())
    facts["left_out"] = ", ".join(run["left_out"]) or "none"
    scores = (
        (one["system"], f"{one['mrr']:.3f}", f"{one['low']:.3f}-{one['high']:.3f}", _number(one["agreement"], 3))
        for one in run["scores"]
    )
    facts |= {"number": number, "scores": rows_of("system | MRR | interval | agreement", scores)}
    return filled("joined" if "joined" in run else "distilled", facts).rstrip()


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


# --- a fine-tuned encoder


def encoder_card(record: Record) -> str:
    """Return the model card of a fine-tuned encoder from the record of its training."""
    facts = {**record["settings"], **record["examples"], **record}
    facts["sources"] = ", ".join(f"`{source}`" for source in record["sources"])
    facts["onnx"] = ", or without torch with `--encoder onnx:FOLDER/onnx`" if record["onnx"] else ""
    helped = record["figures"]["MRR"]["difference"][1] > 0
    facts["warning"] = "" if helped else " **This does not show that the training helped.**"
    looks = ((f"{look['step']:,}", _number(look["loss"], 4), f"{look['mrr']:.3f}") for look in record["looks"])
    facts["looks"] = rows_of("step | loss | MRR, validation part", looks)
    found = ((name, *map(_with_interval, rows.values())) for name, rows in record["figures"].items())
    facts["found"] = rows_of("measure | the base, as it is | **this one** | difference", found)
    return filled("encoder", facts)


def _with_interval(figure: Sequence[float]) -> str:
    return "{:.3f} [{:.3f}, {:.3f}]".format(*figure)


if __name__ == "__main__":
    files.write(Path(sys.argv[1]), table_card("static:default", default_static().about))
