"""Settings to working objects: the only room that knows who goes with whom; one file a concern."""
