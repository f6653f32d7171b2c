"""Authorize at a server over HTTP: tokens that are kept, and what a refusal means."""
