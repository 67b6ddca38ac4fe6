"""A command that opens a page for one person, and what that person does on it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit


class Balloter:
    """The command in a process of its own, and its page by hand."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command, pipe = [sys.executable, "-m", "assay", *arguments], subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)
        self.said = ""
        while not (found := re.search(r"open (\S+)\n", self.said)):
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line
        self.address = urlsplit(found[1])

    def ask(self, method: str, path: str, given: object = None) -> bytes:
        connection = HTTPConnection(self.address.netloc, timeout=20)
        body = None if given is None else json.dumps(given)
        connection.request(method, self.address.path + path, body)
        return connection.getresponse().read()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, self.said + err
