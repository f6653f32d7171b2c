"""What one known secret costs: searches are counted, because times differ from machine to machine."""

import os
import sys
import threading
import time

import pytest
from forked import run_python
from hostile_schemas import deep, ref
from IPython.core.formatters import DisplayFormatter
from patience import PATIENCE

from toolbench import history, tool
from toolbench.redaction import MARK
from toolbench.redaction.detect import BY_NAMES, hide
from toolbench.redaction.known import KnownSecrets, RememberedSecrets
from toolbench.redaction.matcher import Matcher
from toolbench.redaction.redactor import Redactor
from toolbench.runs.perform import start
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.runs.redirect import forget_secrets
from toolbench.runs.run import Run

SECRET = "correct-horse-9"


@tool
def login(password: str) -> str:
    """Log in."""
    return "ok"


@tool
def rows(count: int) -> dict:
    """Return rows."""
    return {"rows": [{"id": n, "name": f"row {n}", "tags": ["a", "b"]} for n in range(count)]}


@tool
def prints(count: int) -> None:
    """Print lines."""
    for n in range(count):
        print("printed", n)


@pytest.fixture
def searches(monkeypatch, no_records):
    """The lengths of what was searched since one secret is known."""
    made = []
    search = Matcher.may_occur_in

    def count_and_search(self, data):
        made.append(len(data))
        return search(self, data)

    monkeypatch.setattr(Matcher, "may_occur_in", count_and_search)
    forget_secrets()
    record_calls()
    login(password=SECRET)
    made.clear()
    yield made
    forget_calls()
    forget_secrets()


def test_of_a_large_result_is_not_that_of_its_parts(searches):
    """A result of 3,000 rows is searched as often as one of 1,000, and shown so, and recorded."""
    made = []
    # Both are longer than what is shown of them
    for count in (1_000, 3_000):
        searches.clear()
        data, _ = DisplayFormatter().format(rows(count=count))
        assert "row 3" in data["text/plain"]
        made.append(len(searches))
    assert made[0] == made[1] < 20
    assert len(history()[-1].observation.data["rows"]) == 3_000


@pytest.mark.parametrize("way", ["in a cell", "by a button"])
def test_of_prints_is_that_of_their_texts(way, searches, capsys):
    """Each text is searched once, and nothing of it is lost or late."""
    lines = "".join(f"printed {n}\n" for n in range(1_000))
    if way == "in a cell":
        prints(count=1_000)
        assert capsys.readouterr().out == lines
    else:
        run = Run(prints, {"count": 1_000}, source="button")
        start(run)
        assert run.done.wait(60)
        assert run.output.text == lines
    assert sum(searches) < 2 * len(lines)


FORKS = """
import os, sys
from toolbench import tool
from toolbench.runs.plain_calls import record_calls

@tool
def forks(password: str) -> None:
    "Print here and in a process."
    print("here", password)
    child = os.fork()
    if child == 0:
        print(" there", password, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("and here")

sys.stdout.reconfigure(write_through=True)
record_calls()
forks(password="correct-horse-9")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_what_was_gathered_is_written_by_one_process(tmp_path):
    """A process that a tool forks writes its own words, soon, and not those before them."""
    done = run_python(FORKS, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == sorted(f"here {MARK} there {MARK} and here".split())


def test_a_new_secret_builds_little(monkeypatch):
    """What is built for each of many secrets does not grow with their number."""
    built = []
    make = Matcher.__init__

    def counted(self, patterns, words=()):
        patterns = list(patterns)
        built.append(len(patterns))
        make(self, patterns, words)

    monkeypatch.setattr(Matcher, "__init__", counted)
    remembered = RememberedSecrets()
    for n in range(512):
        remembered.add([f"secret-{n:04}"])
        assert remembered.redactor.text(f"secret-{n:04}, secret-0000") == f"{MARK}, {MARK}"
    whole = len(Matcher(remembered.redactor._matchers[-1].patterns))
    assert sum(built) < 16 * whole


def test_threads_of_one_run_lose_no_secret_of_each_other(monkeypatch):
    """A tool may ask for secrets in several threads."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    monkeypatch.setattr("toolbench.redaction.known.remembered", RememberedSecrets())
    known = KnownSecrets({}, BY_NAMES)

    def learn(thread):
        for n in range(20):
            known.include(Redactor([f"secret-{n}-of-{thread}"]))

    threads = [threading.Thread(target=learn, args=(n,)) for n in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        sys.setswitchinterval(before)
    assert len(known.own.secrets) == 80


def test_a_circle_of_ever_new_lists_is_searched_soon():
    """Each union of a circle merges its own items into the next one: there is no end of new schemas."""
    kinds = {
        "d0": {"anyOf": [ref("d1"), ref("d5")]},
        "d1": {"anyOf": [ref("d0"), ref("d6")]},
        "d2": {"items": ref("d0"), "anyOf": [ref("d3")]},
        "d3": {**ref("d2"), "anyOf": [ref("d9")], "items": ref("d0")},
        "d4": {"items": ref("d6"), "anyOf": [ref("d8")], "type": "array"},
        "d5": {**ref("d0"), "anyOf": [ref("d1"), ref("d5")], "type": "string"},
        "d6": {"anyOf": [ref("d7")], "items": ref("d5")},
        "d7": {"items": ref("d4"), "anyOf": [ref("d2")]},
        "d8": {"items": ref("d5")},
        "d9": {"anyOf": [ref("d1")], "items": ref("d2")},
    }
    schema = {"properties": {"a": ref("d0"), "b": ref("d1")}, "$defs": kinds}
    begin = time.process_time()
    assert hide({"a": deep(20, "x", "p"), "password": "correct-horse-9"}, schema) == {
        "a": deep(20, "x", "p"),
        "password": MARK,
    }
    assert time.process_time() - begin < 3
