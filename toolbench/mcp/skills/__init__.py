"""The skills that a server offers: instructions and files for a model, to read only."""
