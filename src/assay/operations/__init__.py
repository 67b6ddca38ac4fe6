"""Build working objects from settings; the only room that composes the others."""
