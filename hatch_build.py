"""Write the manual pages, made of the commands' help, into the wheel under share/man/man1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_RUN = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""pip takes the sources of a package that is being installed again off the path, so they are put there last."""


class ManualPages(BuildHookInterface):  # type: ignore[type-arg]
    """Make the pages in a folder that lasts as long as the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run the script that writes the pages; of what the package needs it takes click alone."""
        self._folder = TemporaryDirectory()
        root = Path(self.root)
        places = [str(root / "src"), str(root / "docs" / "commands.py"), self._folder.name]
        subprocess.run([sys.executable, "-B", "-c", _RUN, *places], check=True)
        build_data["shared_data"][self._folder.name] = "share/man/man1"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the folder."""
        self._folder.cleanup()
