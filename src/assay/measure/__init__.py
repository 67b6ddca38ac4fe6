"""Compute figures from judgments and runs."""
