"""A hundred thousand trials, and calls, in bounded memory."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from tests.test_evals.sample_tools import TOOLS, PlantedModel
from toolbench.evals import Case, evaluate

count = int(sys.argv[1])
call = {"name": "split_bill", "arguments": {"total": 84, "people": 4}}
model = PlantedModel(wrong_value=0.1)
report = evaluate(model, TOOLS[:1], [Case("Split 84 by 4", call)], repeats=count, save=sys.argv[2])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
assert len(report) == count and not report.errors
assert len(report.failures) > count * 0.08
print(peak)
"""


@pytest.mark.long
def test_a_hundred_thousand_trials_in_bounded_memory(tmp_path):
    """Each answer costs less than 2 kB of memory, whatever a message holds: 200 MB for 100,000."""
    count = 100_000
    peaks = [
        int(
            subprocess.run(
                [sys.executable, "-c", PROGRAM, str(n), str(tmp_path / f"{n}.jsonl")],
                capture_output=True, text=True, check=True,
            ).stdout
        )
        for n in (1_000, count)
    ]  # fmt: skip
    assert peaks[1] - peaks[0] < 2_000 * count
    lines = (tmp_path / f"{count}.jsonl").read_bytes().count(b"\n")
    assert lines == 1 + count
