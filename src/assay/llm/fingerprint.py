"""A prompt to its hash: the same question has the same one, whatever file it was made from.

The order of the schema's properties counts, for it is the order in which a model writes them.
"""

from __future__ import annotations

import json
from hashlib import sha256

from assay.types import Prompt


def fingerprint(prompt: Prompt, asked: str = "") -> str:
    """Return the hash of a question and, if it matters, of who is asked: 64 hexadecimal digits."""
    question = json.dumps([asked, prompt.system, prompt.text, prompt.schema])
    return sha256(question.encode()).hexdigest()
