from __future__ import annotations

import os
from pathlib import Path

from assay.cage.confinement import _empty


def test_a_tree_of_any_depth_mode_and_name_is_deleted(tmp_path: Path):
    root = tmp_path / "work"
    (root / "closed" / "inner").mkdir(parents=True)
    (root / "closed" / "inner" / "file").write_text("x")
    (root / "closed").chmod(0)
    (root / os.fsdecode(b"\xff\n")).write_text("x")
    (root / "link").symlink_to(tmp_path)
    (tmp_path / "kept").write_text("x")
    top = os.open(root, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d" * 50, dir_fd=top)
        top, above = os.open("d" * 50, os.O_RDONLY, dir_fd=top), top
        os.close(above)
    os.close(top)
    _empty(root)
    assert list(root.iterdir()) == []
    assert (tmp_path / "kept").exists()
