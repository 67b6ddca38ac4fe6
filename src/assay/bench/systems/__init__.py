"""One module a way to ask a system under test."""
