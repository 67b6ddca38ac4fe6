"""Programs that try to break out of a sandbox, cheat its judge or outlive it: run them, and look from outside.

Each is harmless where it succeeds: canaries in temporary folders, listeners of the test itself, signals that are
ignored by default, sizes with an end. `python -m attacks --help` runs them.
"""
