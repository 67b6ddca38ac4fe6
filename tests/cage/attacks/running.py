"""Run attacks in one sandbox, one after the other, and say of each what it came to."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from assay.cage.cage import CagePool
from assay.cage.limits import Limits
from assay.faults import Fault
from assay.programs.verdict import job_of, outcome_of
from assay.values import Program, Task
from attacks.model import ABSENT, ASK, BROKEN, CONTAINED, ESCAPED, FAILS, LOOSE, Attack, Ran, Row
from attacks.outside import Outside

PRELUDE = Path(__file__).with_name("prelude.py").read_text(encoding="utf-8")
BASE = Limits(cpu_s=5, wall_s=10, memory_mb=512)
_OWN_MISTAKES = {Fault.NAME_ERROR, Fault.SYNTAX_ERROR, Fault.TYPE_ERROR, Fault.INDEX_ERROR, Fault.KEY_ERROR}
_OWN_MISTAKES.add(Fault.FUNCTION_NOT_FOUND)
_OWN_MISTAKES_SAID = ("AttributeError", "ImportError", "ModuleNotFoundError", "UnboundLocalError")

Open = Callable[[], CagePool]


def run_all(attacks: Iterable[Attack], open_box: Open, outside: Outside) -> Iterator[Row]:
    """Yield what each attack came to."""
    with open_box() as box, open_box() as second:
        for attack in attacks:
            row = run_attack(attack, box, second, outside)
            yield row
            if row.result == LOOSE:  # what it left must not be counted against those to come
                box.close()


def run_attack(attack: Attack, box: CagePool, second: CagePool, outside: Outside) -> Row:
    """Run one attack, then the program that comes after it, and look around."""
    missing = [name for name in attack.modules if not importlib.util.find_spec(name)]
    if missing:
        return _row(attack, ABSENT, f"{', '.join(missing)} is not installed")
    peer = (
        threading.Thread(target=lambda: run_program(second, attack, attack.beside, outside)) if attack.beside else None
    )
    if peer:
        run_program(second, attack, attack.then, outside, tests=ASK)
        peer.start()
        time.sleep(0.2)
    with outside.knocking() if "free_port" in attack.source else nullcontext():
        ran = run_program(box, attack, attack.source, outside)
    if peer:
        peer.join()
    problems = [line for line in ran.said.splitlines() if line.startswith(ESCAPED)][:3]
    problems += filter(
        None,
        (attack.escaped(ran), *outside.changes(ran.said), *_again(box, attack, outside), _next(box, attack, outside)),
    )
    if ran.outcome.fault is None and not problems:
        problems.append(f"nobody could tell how it ended: {ran.ended.ended} {ran.ended.detail} {ran.outcome.detail}")
    if problems:
        result, note = FAILS if attack.group == "benign" else LOOSE, "; ".join([*problems, ran.outcome.detail])
        return _row(attack, result, note[:600], ran.seconds)
    if _mistaken(attack, ran):
        return _row(attack, BROKEN, f"{ran.outcome.fault}: {ran.outcome.detail}", ran.seconds)
    return _row(attack, CONTAINED, f"{ran.outcome.fault} ({ran.ended.ended})", ran.seconds)


def run_program(box: CagePool, attack: Attack, source: str, outside: Outside, **changed: object) -> Ran:
    """Run one program and time it."""
    task = Task(attack.name, "", attack.entry_point, attack.tests, attack.setup)
    task = replace(task, entry_point="attack", **changed) if changed else task
    facts = json.dumps(outside.facts()).replace("\\", "\\\\")
    program = Program(task.id, source if attack.bare else PRELUDE.replace("@FACTS@", facts) + source, attack.name)
    limits = BASE if changed else replace(BASE, **attack.limits)
    began = time.monotonic()
    (ended,) = box.run([replace(job_of(task, program), limits=limits)])
    return Ran(outcome_of(task, program, ended), ended, time.monotonic() - began)


def _again(box: CagePool, attack: Attack, outside: Outside) -> Iterator[str]:
    """Run what the same tests meet next; yield what is wrong with it."""
    for source, right in attack.again:
        ran = run_program(box, replace(attack, bare=True), source, outside)
        fault = ran.outcome.fault
        if fault is None or (fault is Fault.CORRECT) is not right:
            yield f"the next {'right' if right else 'wrong'} program: {fault} {ran.ended.ended} {ran.outcome.detail}"


def _next(box: CagePool, attack: Attack, outside: Outside) -> str:
    """Run what comes after an attack; return what is wrong with it."""
    ran = run_program(box, replace(attack, bare=False), attack.then, outside, tests=ASK)
    left = outside.changes(ran.said)
    if ran.outcome.fault is Fault.CORRECT and not left:
        return ""
    return (
        f"the next program: {ran.outcome.fault} {ran.ended.ended} {ran.ended.detail} {ran.outcome.detail} {left or ''}"
    )


def _mistaken(attack: Attack, ran: Ran) -> bool:
    """Say whether an attack failed for a mistake in its own text."""
    if attack.crashes:
        return False
    return ran.outcome.fault in _OWN_MISTAKES or any(name in ran.outcome.detail for name in _OWN_MISTAKES_SAID)


def _row(attack: Attack, result: str, note: str, seconds: float = 0.0) -> Row:
    return Row(attack.name, attack.group, attack.tries, result, note, round(seconds, 2))
