"""Build working objects from settings; this is the only room that composes the others."""
