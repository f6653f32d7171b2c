"""Authorization at servers over HTTP: keep tokens, and explain refusals."""
