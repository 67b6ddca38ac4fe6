"""Where a process that a test starts finds Assay, after what the test itself was started with."""

import os
from pathlib import Path

import assay

SOURCE = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(Path(assay.__file__).parents[1])])
