"""HTML that is safe to show: Markdown, images, and the harmless part of foreign HTML."""
