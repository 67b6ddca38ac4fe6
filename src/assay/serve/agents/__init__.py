"""Write `assay mcp` into the settings of coding agents, and undo it."""
