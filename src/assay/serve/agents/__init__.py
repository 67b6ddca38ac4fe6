"""How coding agents come to know of `assay mcp`: a table of them, and edits of their settings that undo themselves."""
