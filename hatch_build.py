"""Write the manual pages, made of the commands' help, into the wheel under share/man/man1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPages(BuildHookInterface):  # type: ignore[type-arg]
    """Make the pages in a folder that lasts as long as the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run the script that writes the pages; of what the package needs it takes click alone."""
        self._folder = TemporaryDirectory()
        places = [str(Path(self.root, "src")), *filter(None, sys.path)]  # what this build may import, too
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(Path(self.root, "docs", "commands.py")), self._folder.name]
        subprocess.run(command, env=environment, check=True)
        build_data["shared_data"][self._folder.name] = "share/man/man1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the folder."""
        self._folder.cleanup()
