"""The gallery shows places of this repository; each of them is still there."""

from __future__ import annotations

import re
from pathlib import Path

import assay

PAGE = Path(__file__).parent.parent / "docs" / "gallery.md"
PACKAGE = Path(assay.__file__).parent  # the tests of the built package run without src/
PLACE = re.compile(r"^ *src/assay/(\S+?\.\w+):\d+  ?\S", re.MULTILINE)


def test_every_place_in_the_gallery_exists():
    found = PLACE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 8
    missing = [path for path in found if not (PACKAGE / path).is_file()]
    assert not missing, "python benchmarks/gallery.py"
