"""Tables and figures as values, and the one renderer of them: text, Markdown, JSON, SVG and a self-contained page."""
