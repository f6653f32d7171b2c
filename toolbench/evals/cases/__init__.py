"""Cases: a prompt, and the calls it should lead to."""
