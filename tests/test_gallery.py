"""The gallery shows places of this repository; each of them is still there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = re.compile(r"^ *(src/\S+?\.\w+):\d+  ?\S", re.MULTILINE)


def test_every_place_in_the_gallery_exists():
    found = PLACE.findall((ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"))
    assert len(found) >= 8
    missing = [path for path in found if not (ROOT / path).is_file()]
    assert not missing, "python benchmarks/gallery.py"
