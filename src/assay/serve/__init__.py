"""Serve search to programs and browsers on this machine."""
