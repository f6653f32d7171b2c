"""The messages for the model, in its provider's dialect: condensed, and with secrets hidden."""
