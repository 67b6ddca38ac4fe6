"""Programs that leave something for the next one in the same sandbox, which looks for it."""

from __future__ import annotations

from attacks.model import ADD, NEXT, QUICK, Attack, decided

GROUP = "state"
EVERY = """
def every(call):
    for number in range(256):
        try:
            end = socket.socket(fileno=os.dup(number))
        except OSError:
            continue
        try:
            call(end)
        except OSError as error:
            print("held:", number, error)
"""


def on_all(name: str, tries: str, source: str) -> Attack:
    """Return an attack on what is shared by descriptors: it has to be judged wrong, and the next ones as they are."""
    text = EVERY + "import fcntl\n" + source + "\ndef add(a, b):\n    meddle()\n    return 4\n"
    return Attack(name, GROUP, tries, text, ADD, "add", decided, again=NEXT, limits=QUICK, crashes=True)


ATTACKS = (
    on_all("shutdown of every socket", "shuts down whatever sockets it was given, for all that share them",
           "def meddle():\n    every(lambda end: end.shutdown(socket.SHUT_RDWR))\n"),
)  # fmt: skip
