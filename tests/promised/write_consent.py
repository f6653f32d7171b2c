"""Writes `consent.json` anew: `cd tests && ../.venv/bin/python -m promised.write_consent`.

It runs the cases of `test_consent.py` as they are in the file, and writes beside each what happened.
What the difference to the file before says, a person reads: each line of it is a promise.
"""

import json
import sys
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("consent.json")
CASES = ("policy", "source", "hint", "answer")


class Outcomes:
    """Collects what happened in each case."""

    def __init__(self):
        self.rows = []

    def pytest_runtest_logreport(self, report):
        """Add the row that the test of a case has recorded."""
        if report.when == "call":
            self.rows += [row for name, row in report.user_properties if name == "row"]


def write():
    """Run all cases and write the table, unless a case came to no outcome."""
    rows = json.loads(TABLE.read_text("utf-8"))
    outcomes = Outcomes()
    test = Path(__file__).with_name("test_consent.py")
    options = ["-q", "-n", "0", "--no-header", "--tb=no", "--cases", "0"]
    pytest.main([*options, str(test)], plugins=[outcomes])

    if [[row[name] for name in CASES] for row in outcomes.rows] != [
        [row[name] for name in CASES] for row in rows
    ]:
        sys.exit("Not written: a case ended with an error instead of an outcome.")
    lines = (f" {json.dumps(row, ensure_ascii=False)}" for row in outcomes.rows)
    TABLE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    write()
