"""Programs that mean no harm and must work."""

from __future__ import annotations

from attacks.model import Attack, is_correct

GROUP = "benign"
ATTACKS = (
    Attack(
        "subprocess",
        GROUP,
        "runs sys.executable and reads its output",
        """
def attack():
    done = subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read()[::-1])"], input="olleh",
                          capture_output=True, text=True, timeout=10)
    assert done.stdout == "hello\\n", done
""",
        escaped=is_correct,
    ),
    Attack(
        "numpy and pandas",
        GROUP,
        "computes with both",
        """
import numpy as np

def attack():
    assert np.linalg.inv(np.eye(3) * 2).sum() == 1.5
    assert (np.random.default_rng(0).random((200, 200)) @ np.ones(200)).shape == (200,)
""",
        escaped=is_correct,
        modules=("numpy",),
    ),
)
