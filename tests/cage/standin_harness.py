"""The smallest harness: a program that is asked over lines of JSON, and a judge that compares."""

from __future__ import annotations

import json
import os


def serve(channel, spec, report):
    names = {"__name__": "__main__"}
    try:
        exec(compile(spec["source"], "<program>", "exec"), names)
    except Exception as error:
        os.write(report, type(error).__name__.encode())
        raise
    if channel:
        lines = channel.makefile("rwb")
        for line in lines:
            lines.write(json.dumps(names["f"](*json.loads(line))).encode() + b"\n")
            lines.flush()


class Judge:
    def __init__(self, spec):
        self.calls, self.stays = spec.get("calls", []), spec.get("stays", True)
        self.code = spec.get("code", "")

    def __call__(self, channel, verdict):
        exec(self.code, {"os": os, "verdict": verdict})
        lines = channel.makefile("rwb")
        for arguments, expected in self.calls:
            lines.write(json.dumps(arguments).encode() + b"\n")
            lines.flush()
            line = lines.readline()
            if not line:
                return
            if json.loads(line) != expected:
                os.write(verdict, b"wrong")
                return
        if self.calls:
            os.write(verdict, b"correct")
