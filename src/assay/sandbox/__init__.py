"""Untrusted programs and their tests in, one fault each out.

`pool.open_sandbox` opens a sandbox, `limits` holds what goes in and what comes out of it.
"""
