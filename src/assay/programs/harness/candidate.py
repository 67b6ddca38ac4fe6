"""The process of the program: it loads the program, then answers what the judge asks until that one goes away.

Requests and answers, each a list with its kind first:

    names [NAME…]              → names {NAME: what it is} | failed FAILURE
    call NAME ARGS KEYWORDS    → returned VALUE CHANGED SAME | raised FAILURE CHANGED
    use NUMBER ABILITY ARGS …  → returned VALUE null null | raised FAILURE null, of an object (`object_table`)
    run TEXT                   → printed TEXT STATUS FAILURE
    shared SCRIPT NONCE        → shared NONCE FINDING, made by the tests in this process (`shared`)
                               → found NONCE FINDING before it, where the tests go on after a finding

CHANGED are the containers among the arguments, by their numbers, after a call that changed any; SAME the place of the
argument that was returned. All of this happens where the program can change everything: what is said here can only be
an answer, never a verdict.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, Final

from assay.programs.harness import codec, shared, whole
from assay.programs.harness.codec import Channel, pack
from assay.programs.harness.crossing import Gone, NotPlainData
from assay.programs.harness.object_table import ObjectTable
from assay.programs.harness.program import LoadedProgram, failure_of, flush, fresh_streams
from assay.programs.harness.recorder import NOTHING
from assay.programs.harness.unpacking import unpack, unpack_numbered

_HIDDEN: Final = 100
_CHANGEABLE: Final = frozenset({list, dict})


def serve(sock: socket.socket | None, spec: dict[str, Any], report_fd: int) -> None:
    """Run the program of `spec` and answer on the socket; what failed is written to `report_fd` as well."""
    fresh_streams()
    if sock is None:
        raise ValueError("a program is asked by its judge: the job needs one")
    hidden = socket.socket(fileno=fcntl.fcntl(sock.detach(), fcntl.F_DUPFD_CLOEXEC, _HIDDEN))
    Candidate(spec, Channel(hidden), report_fd).answer()


class Candidate:
    """A program and the channel on which it is asked."""

    def __init__(self, spec: dict[str, Any], channel: Channel, report_fd: int) -> None:
        self._source = spec["source"]
        self._channel = channel
        self._report = report_fd
        self._program: LoadedProgram | None = None
        self._table = ObjectTable()

    def answer(self) -> None:
        """Answer until the judge has gone."""
        with suppress(Gone):
            while True:
                self.answer_one()

    def answer_one(self) -> None:
        """Answer one request; raises Gone where there is none to come."""
        kinds: dict[str, Callable[..., list[Any]]] = {
            "names": self._names,
            "call": self._call,
            "use": self._use,
            "run": self._run,
            "shared": self._shared,
        }
        kind, *rest = self._channel.receive()
        answer = kinds[kind](*rest)
        flush()
        self._send(answer)

    def _send(self, answer: list[Any]) -> None:
        try:
            self._channel.send(answer)
        except (NotPlainData, ValueError, RecursionError) as error:
            self._channel.send(["raised", failure_of(error), None])

    def _loaded(self) -> LoadedProgram:
        if self._program is None:
            self._program = LoadedProgram(self._source, "solution")
        return self._program

    def _names(self, names: list[str]) -> list[Any]:
        program = self._loaded()
        if program.failure is not None:
            return ["failed", self._reported(program.failure)]
        return ["names", {name: self._described(program, name) for name in names}]

    def _described(self, program: LoadedProgram, name: str) -> dict[str, Any]:
        try:
            found = program.find(name)
        except LookupError:
            return {"is": "missing"}
        if isinstance(found, ModuleType):
            return {"is": "module", "name": found.__name__}
        if callable(found):
            return {"is": "class" if isinstance(found, type) else "function"}
        try:
            return {"is": "value", "value": pack(found)}
        except NotPlainData:
            return {"is": "object", "value": self._table.pack(found)}

    def _call(self, name: str, packed: Any, keywords: Any) -> list[Any]:
        (args, made), named = unpack_numbered(packed, self._table.find), unpack(keywords, self._table.find)
        try:
            value = self._loaded().find(name)(*args, **named)
            same = next((place for place, arg in enumerate(args) if arg is value and type(arg) in _CHANGEABLE), None)
            return ["returned", self._table.pack(value), self._changed(packed, args, made), same]
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer
            return ["raised", self._failed(error), self._changed(packed, args, made)]

    def _use(self, number: int, ability: str, packed: Any, keywords: Any) -> list[Any]:
        args, named = unpack(packed, self._table.find), unpack(keywords, self._table.find)
        try:
            return ["returned", self._table.use(number, ability, args, named), None, None]
        except BaseException as error:  # noqa: BLE001 - the same
            return ["raised", self._failed(error), None]

    def _changed(self, before: list[Any], args: list[Any], made: list[Any]) -> Any:
        """Return the containers of the arguments packed again where the call changed any, else None."""
        if codec.is_flat(before) or pack(args, self._table.keep) == before:
            return None
        return pack(made, self._table.keep)

    def _failed(self, error: BaseException) -> dict[str, Any]:
        """Describe an exception; one of the program's own class stays here, to be asked for what it holds."""
        failure = failure_of(error)
        if "whole" not in failure:
            with suppress(NotPlainData):
                failure["object"] = self._table.keep(error)
        return self._reported(failure)

    def _run(self, text: str) -> list[Any]:
        answer = whole.run(self._source, text)
        if answer[-1] is not None:
            self._reported(answer[-1])
        return answer

    def _shared(self, script: dict[str, Any], nonce: str) -> list[Any]:
        on_disk = any(word in script["source"] for word in shared.ON_DISK)
        program = LoadedProgram(self._source, "solution", on_disk=on_disk)
        if program.failure is not None:
            return ["shared", nonce, {"failure": self._reported(program.failure)}]

        def bring(name: str) -> Any:
            try:
                return program.find(name)
            except LookupError:
                return NOTHING

        def tell(finding: dict[str, Any]) -> None:
            self._channel.send(["found", nonce, finding])

        return ["shared", nonce, shared.run(script, bring, program.module, tell)]

    def _reported(self, failure: dict[str, Any]) -> dict[str, Any]:
        try:
            os.write(self._report, json.dumps(failure).encode() + b"\n")
        except (OSError, ValueError):
            self._report = -1
        return failure
