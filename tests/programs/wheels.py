"""Wheels and source distributions of a few lines, made on the spot."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path


def wheel(folder: Path, name: str, files: dict[str, str], version: str = "1.0", needs: tuple[str, ...] = ()) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {each}\n" for each in needs)
    whole = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    whole[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in (*whole, f"{about}/RECORD"))
    made = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)
    return made


def sdist(folder: Path, name: str, setup: str, version: str = "1.0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    files = {"setup.py": setup, "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n"}
    made = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(made, "w:gz") as archive:
        for path, text in files.items():
            about = tarfile.TarInfo(f"{name}-{version}/{path}")
            about.size = len(text.encode())
            archive.addfile(about, io.BytesIO(text.encode()))
    return made
