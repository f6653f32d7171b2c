"""Known secrets found in text and bytes, however a program has written them."""
