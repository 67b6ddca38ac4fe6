"""Programs that are still being written: what their finished part shows, and what it is worth to look so early."""
