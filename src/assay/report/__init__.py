"""Build reports of tables and figures, and render them as text, Markdown, JSON, SVG and a self-contained page."""
