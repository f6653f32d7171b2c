"""Authorize at a server over HTTP: keep tokens, and explain refusals."""
