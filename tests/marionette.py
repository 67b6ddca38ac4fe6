"""Firefox, driven by its own protocol: length-prefixed JSON over a socket, what geckodriver speaks to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

from waiting import until

PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.disabledForTesting": True,
    "browser.startup.homepage_override.mstone": "ignore",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowDown": "\ue015"}
"""Keys as WebDriver names them."""


class Firefox:
    """A window of a Firefox of its own, with a profile that is thrown away."""

    def __init__(self, program: str, profile: Path) -> None:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (profile / "user.js").write_text("".join(lines))
        command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        environment = {**os.environ, "HOME": str(profile), "MOZ_HEADLESS": "1"}
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = socket.create_connection(("127.0.0.1", self._port(profile)), timeout=60)
        self._number = 0
        self._read()  # its greeting
        self.do("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {}}})

    def _port(self, profile: Path) -> int:
        file = profile / "MarionetteActivePort"

        def port() -> str:
            assert self._process.poll() is None, f"firefox ended with {self._process.returncode}"
            return file.read_text() if file.exists() else ""

        return int(until(port, "firefox listens"))

    def do(self, command: str, given: dict[str, Any] | None = None) -> Any:
        """Return what a command of the protocol returns."""
        self._number += 1
        body = json.dumps([0, self._number, command, given or {}]).encode()
        self._socket.sendall(f"{len(body)}:".encode() + body)
        _, _, error, result = self._read()
        if error:
            raise RuntimeError(f"{command}: {error.get('message')}")
        return result.get("value", result) if isinstance(result, dict) else result

    def _read(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            size += self._socket.recv(1)
        wanted, data = int(size[:-1]), b""
        while len(data) < wanted:
            data += self._socket.recv(wanted - len(data))
        return json.loads(data)

    def run(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        return self.do("WebDriver:ExecuteScript", {"script": f"return ({expression})", "args": []})

    def until(self, expression: str) -> None:
        """Wait until something is so in the page."""
        until(lambda: self.run(f"Boolean({expression})"), expression)

    def open(self, address: str) -> None:
        """Go to an address."""
        self.do("WebDriver:Navigate", {"url": address})

    def press(self, *keys: str) -> None:
        """Press keys one after the other; a text is typed letter by letter."""
        letters = [letter for key in keys for letter in ([KEYS[key]] if key in KEYS else key)]
        steps = [{"type": kind, "value": letter} for letter in letters for kind in ("keyDown", "keyUp")]
        self.do("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def names(self, selector: str) -> list[tuple[str, str]]:
        """Return role and name of elements as a screen reader is told them."""
        found = self.do("WebDriver:FindElements", {"using": "css selector", "value": selector})
        ids = [{"id": next(iter(each.values()))} for each in found]
        return [(self.do("WebDriver:GetComputedRole", one), self.do("WebDriver:GetComputedLabel", one)) for one in ids]

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(60)
