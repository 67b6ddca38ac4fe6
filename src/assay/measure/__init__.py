"""Judgments and runs in, figures out."""
