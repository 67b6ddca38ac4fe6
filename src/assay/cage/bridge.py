"""The first process of a container: frames on its standard input to a fork server in the same container, and back.

Open files cannot cross a container's pipes, so contents do, and become the files that a fork server expects. A frame is
four bytes of length, a JSON object of that length whose `sizes` say how long each of the blocks after it is.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, NoReturn

from assay.cage import frames

_LENGTH = struct.Struct(">I")


def put(out: BinaryIO, message: dict[str, Any], blocks: Sequence[bytes] = ()) -> None:
    """Write one frame."""
    head = json.dumps({**message, "sizes": [len(block) for block in blocks]}).encode()
    out.write(b"".join([_LENGTH.pack(len(head)), head, *blocks]))
    out.flush()


def get(source: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
    """Read one frame; None where the other side has gone, also in the middle of one."""
    length = source.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    head = source.read(_LENGTH.unpack(length)[0])
    try:
        message: dict[str, Any] = json.loads(head)
        sizes: list[int] = message.pop("sizes")
    except (ValueError, KeyError, AttributeError):
        return None
    blocks = [source.read(size) for size in sizes]
    return (message, blocks) if [len(block) for block in blocks] == sizes else None


def main() -> NoReturn:
    """Start a fork server as the first frame asks, and pass jobs on until there are no more."""
    source, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    ours, theirs = frames.pair()
    if os.fork() == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        os.dup2(theirs.fileno(), 3)
        os.closerange(4, 256)
        from assay.cage import fork_server

        fork_server.main()
    theirs.close()
    while frame := get(source):
        message, blocks = frame
        keep = message.pop("keep", 0)
        files = _files(blocks)
        frames.send(ours, message, files)
        answer, _ = frames.receive(ours)
        if answer is None:
            break
        put(out, answer, [os.pread(file, keep, 0) for file in files[2:4]] + [frames.read(file) for file in files[4:6]])
        for file in files:
            os.close(file)
    sys.exit(0)


def _files(blocks: Sequence[bytes]) -> list[int]:
    """Return the files of a job: program, input, output, errors, reports and, with a judge, verdict and test."""
    if not blocks:
        return []
    program, stdin, *test = blocks
    given = [
        frames.sealed_file(program),
        frames.sealed_file(stdin),
        frames.empty_file(),
        frames.empty_file(),
        frames.empty_file(),
    ]
    return given + [file for block in test for file in (frames.empty_file(), frames.sealed_file(block))]
