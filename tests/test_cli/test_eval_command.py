"""`toolbench eval FILE` in a terminal: what it says, writes and exits with."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

TOOLBENCH = Path(sys.executable).with_name("toolbench")
TOOLS = '''
from toolbench import tool

@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: The other.
    """
    raise AssertionError("nothing is run")

def right(messages, tools):
    call = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]}

def silent(messages, tools):
    return "I would rather not."

def broken(messages, tools):
    raise ConnectionError("no route to the model")
'''
CASES = """
cases:
- name: one and two
  inputs: What is 1 + 2?
  expected_output: [{name: add, arguments: {a: 1, b: 2}}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_tools.py").write_text(TOOLS)
    (tmp_path / "cases.yaml").write_text(CASES)
    return tmp_path


def run(folder, *arguments):
    return subprocess.run(
        [TOOLBENCH, "eval", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("right", 0, "1 of 1"),
        ("silent", 1, "was not called"),
        ("broken", 2, "no route to the model"),
    ],
)
def test_the_exit_code_says_how_it_went(folder, model, code, words):
    """0 as expected, 1 not as expected, 2 not measured."""
    done = run(
        folder, "cases.yaml", "--tools", "my_tools.py", "--model", f"my_tools.py:{model}",
        "--junit", "out.xml", "--html", "out.html",
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout
    assert "1 request" in done.stderr
    root = ET.parse(folder / "out.xml").getroot()
    assert (root.attrib["failures"], root.attrib["errors"]) == (
        str(int(code == 1)),
        str(int(code == 2)),
    )
    assert "<table" in (folder / "out.html").read_text()


def test_a_share_may_be_enough(folder):
    """A model that passes none of its answers passes where none are asked for."""
    done = run(
        folder, "cases.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:silent",
        "--min-passed", "0", "--save", "trials.jsonl",
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads((folder / "trials.jsonl").read_text())["case"] == "one and two"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["none.yaml", "--tools", "my_tools.py", "--model", "my_tools.py:right"],
            "none.yaml",
        ),
        (
            ["cases.yaml", "--tools", "none.py", "--model", "my_tools.py:right"],
            "none.py",
        ),
        (
            [
                "cases.yaml",
                "--tools",
                "my_tools.py:sub",
                "--model",
                "my_tools.py:right",
            ],
            "sub",
        ),
        (["cases.yaml", "--tools", "my_tools.py", "--model", "gpt-9"], "gpt-9"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    """Exit code 2, the reason, and no traceback."""
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
