"""Bytes that cross the edge: rows of files, whole writes, locks, requests over HTTP."""
