"""The script that tries the tests puts each small defect in, and names those that no test notices."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import mutants  # noqa: E402 - a script, which is in no package

CODE = """
LIMIT = 3

def f(a, b=(1 < 2)):
    {}
"""
PRODUCT = '''"""A package."""


def seen(number):
    return number < 5


def hidden(number):
    return number < 5


def circles(number):
    while number:
        number -= 1


def unused(number):
    return number < 5
'''
TESTS = """
from toolbench.room import circles, hidden, seen


def test_room():
    assert seen(4) and not seen(5)
    hidden(4)
    circles(2)
"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("a < b", ["((a) <= (b))"]),
        ("return a == 2", ["((a) != (2))", "(2 + 1)", "None"]),
        ("a or b", ["((a) and (b))"]),
        ("a = b if a else 0", ["((0) if (a) else (b))"]),
        ("if a: pass", ["(not (a))"]),
        ("while LIMIT: pass", ["(LIMIT + 1)"]),
        ("f(a)", [""]),
        ("a.b = b", [""]),
        ("a += b", [""]),
        ("super().f(a)", []),
        ("a = b", []),
        ("return", []),
        ("a = f'{a < b}'", []),
        ("a: int or str = b", []),
    ],
)
def test_each_kind_is_a_small_change_of_a_function(line, after):
    """Nothing outside of functions is changed, nor what is only said of a function."""
    sites = mutants.Source(CODE.format(line).encode(), "f.py").mutants()
    assert sorted(site.after for site in sites) == sorted(after)
    assert all(site.before in line and site.line == 5 for site in sites)


def test_a_seed_draws_the_same_mutants_of_each_kind():
    """No two change the same text."""
    source = "def f(a, b):\n" + "    f((a or b) < 1 or b if a < 2 else 3)\n" * 9
    sites = mutants.Source(source.encode(), "f.py").mutants()
    drawn = mutants.draw(sites, 8, 7)
    assert drawn == mutants.draw(sites, 8, 7) != mutants.draw(sites, 8, 8)
    assert len(drawn) == 8
    assert not any(a.overlaps(b) for a in drawn for b in drawn if a is not b)
    assert len({site.kind for site in drawn}) > 3


@pytest.mark.slow
def test_what_no_test_notices_is_named(tmp_path, monkeypatch):
    """One that makes a test wait for ever is noticed, and the checkout stays as it was."""
    for name, text in {
        "toolbench/__init__.py": '"""A package."""\n\nimport os\n',
        "toolbench/room.py": PRODUCT,
        "toolbench/other.py": PRODUCT,
        "tests/test_room.py": TESTS,
        "tests/test_other.py": "raise AssertionError",
        "pyproject.toml": '[tool.pytest]\nmarkers = ["slow", "long"]\n',
        "scripts/mutants.py": Path(mutants.__file__).read_text("utf-8").replace("20.0", "0.5"),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    script = tmp_path / "scripts" / "mutants.py"
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    done = subprocess.run(
        [sys.executable, script, "room", "--seed", "3"], capture_output=True, text=True, check=True
    )
    first, *lines, counts = done.stdout.splitlines()
    assert first == "4 mutants of 10 in room, --seed 3"
    assert sorted(line.partition("room.py:")[0] for line in lines) == [
        "not reached: toolbench/",
        "survived 1 of 1 tests: toolbench/",
    ]
    assert sorted(line.partition("room.py:")[2].partition(":")[0] for line in lines) == ["18", "9"]
    assert counts == "2 killed, 1 survived, 1 not reached"
    assert (tmp_path / "toolbench" / "room.py").read_text("utf-8") == PRODUCT
