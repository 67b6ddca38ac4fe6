"""Datasets of labelled programs: their rows, files, splits and tables."""
