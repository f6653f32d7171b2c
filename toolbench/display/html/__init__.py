"""HTML that is safe to show: markdown, images, and the harmless part of foreign HTML."""
