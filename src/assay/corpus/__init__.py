"""Files to chunks: walk a folder, read what is text, cut it into units that can be found."""
