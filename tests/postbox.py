"""A small project with a little of everything."""

from __future__ import annotations

from pathlib import Path

PROJECT = {
    "mail/send.py": '''"""Sending mail."""

import time


def send_mail(server, message, attempts=3):
    """Deliver a message, trying again when the server is busy."""
    for attempt in range(attempts):
        if server.deliver(message):
            return True
        time.sleep(2**attempt)
    return False
''',
    "mail/address.py": '''"""Addresses of people."""


class Address:
    """A name and where mail for it goes."""

    def __init__(self, name, mailbox):
        self.name = name
        self.mailbox = mailbox

    def is_valid(self):
        """Say whether the mailbox has a host."""
        return "@" in self.mailbox
''',
    "web/router.js": """// Finds the handler of a request by its path.
export function matchRoute(routes, path) {
  return routes.find((route) => route.pattern.test(path));
}
""",
    "README.md": """# Postbox

Sends mail.

## Configuration

The `timeout` setting says how many seconds a server may take to answer.
""",
}


def write_postbox(folder: Path) -> Path:
    """Write the project into a folder, and return its own."""
    root = folder / "postbox"
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root
