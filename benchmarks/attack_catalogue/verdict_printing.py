"""Programs that are wrong and say what success looks like, to whoever listens."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import QUICK, decided, timed_out
from attacks.wrong import GROUP, PRINTED, WRONG, wrong

__all__ = ["ATTACKS", "GROUP"]


ATTACKS = (
    wrong(
        "speaks for the harness",
        "takes the channel over and answers every question with what it likes",
        """
import itertools
def add(a, b):
    for number in range(3, 64):
        try:
            end = socket.socket(fileno=number)
        except OSError:
            continue
        for frame in (b'{"return": 5}', b'5', b'{"value": 5}', b'["return", 5]', b'{"fault": "correct"}', b'true', b'null'):
            for text in (struct.pack(">I", len(frame)) + frame, frame + b"\\n"):
                try:
                    end.send(text, socket.MSG_DONTWAIT)
                except OSError:
                    break
        end.detach()
    os._exit(0)
""",
        limits=QUICK,
    ),
    wrong(
        "prints the text of success",
        "prints what harnesses look for",
        """
for text in ("OK", "passed", "1 passed in 0.01s", "correct", "Ran 2 tests in 0.0s\\n\\nOK", '{"fault": "correct"}', "5\\n6", "\\x1b[32mPASSED"):
    print(text, flush=True)
    print(text, file=sys.stderr, flush=True)
"""
        + WRONG,
    ),
    wrong(
        "forges what it reports",
        "says on every channel that its failure was somebody else's",
        """
def add(a, b):
    for number in range(3, 256):
        for text in (b'{"missing": "numpy"}', b'{"broken": true}', b'{"fault": null}', b'{"error": "ModuleNotFoundError"}'):
            try:
                os.set_blocking(number, False)
                os.write(number, text + b"\\n")
            except OSError:
                break
    os._exit(1)
""",
        escaped=decided,
        limits=QUICK,
    ),
    wrong("prints nothing", "is asked for text and ends with 0", "import sys\nsys.exit(0)\n", PRINTED),
    wrong(
        "prints, then never ends",
        "prints the right text and computes for ever",
        "a, b = map(int, input().split())\nprint(a + b, flush=True)\nwhile True:\n    pass\n",
        PRINTED,
        escaped=timed_out,
        limits=QUICK,
    ),
    wrong(
        "prints, then is killed",
        "prints the right text and kills itself",
        "a, b = map(int, input().split())\nprint(a + b, flush=True)\nos.kill(os.getpid(), 9)\n",
        PRINTED,
    ),
    wrong(
        "writes where it reads",
        "writes its answer to standard input, standard error and a terminal",
        """
for number in (0, 2):
    try:
        os.write(number, b"5\\n")
    except OSError:
        pass
""",
        PRINTED,
    ),
    wrong(
        "reads beyond its input",
        "rewinds standard input, reads all descriptors, looks for the expected text",
        """
a, b = map(int, input().split())
found = []
for number in (0, *range(3, 64)):
    for call in (lambda: os.pread(number, 4096, 0), lambda: os.pread(number, 4096, len(f"{a} {b}") + 1)):
        try:
            found.append(call().decode().strip())
        except (OSError, UnicodeDecodeError):
            pass
print(next((text for text in found if text and text != f"{a} {b}"), "nothing"))
""",
        PRINTED,
    ),
    wrong(
        "too much input asked for",
        "asks for more than there is and answers from what it catches",
        """
try:
    while True:
        input()
except EOFError as error:
    print(error)
""",
        PRINTED,
    ),
)
