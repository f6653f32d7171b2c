"""HTML that is safe to show: markdown, images, and what is kept of HTML from elsewhere."""
