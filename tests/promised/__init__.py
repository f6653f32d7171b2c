"""What users were promised, seen from outside only: documents, names, consent, secrets, files.

These tests stay when the rooms behind them are written anew, so they use nothing that no document
shows. Who has to change one of them breaks a promise, and says so with a line in CHANGELOG.md.
"""
