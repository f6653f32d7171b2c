"""A file that a person names is replaced only if the person says so, wherever it is written."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from test_magics.test_over_time import looser, tighter
from toolbench.agent import Agent
from toolbench.core.state import Conversation
from toolbench.errors import FileError
from toolbench.evals import Case, Cases, evaluate, sweep
from toolbench.llm.models import ScriptedModel

LINES = {
    "a snapshot": "%mcp snapshot shop {file}",
    "a page of changes": "%mcp diff shop other --html {file}",
    "stubs": "%mcp stubs shop {file}",
    "a configuration": "%mcp save {file}",
    "a notebook of a recording": "%mcp record shop --as-notebook {file}",
    "a schema": "%tools schema add openai --to {file}",
}


@pytest.mark.parametrize("kind", LINES)
def test_by_a_line(shell, mcp, tmp_path, kind):
    """The sentence names --overwrite, which replaces the file; so does a second line that writes the same."""
    file = tmp_path / "notes.txt"
    shell.user_ns |= {"shop": looser(), "other": tighter()}
    mcp(f"connect shop shop --record {tmp_path / 'r.jsonl'}")
    mcp("connect other other")
    shell.run_line_magic("tool", "shop_buy n=1")
    name, _, rest = LINES[kind].format(file=file)[1:].partition(" ")
    file.write_text("a year of notes")
    with pytest.raises(FileError, match=r"has other content: nothing was written\..*--overwrite"):
        shell.run_line_magic(name, rest)
    assert file.read_text() == "a year of notes"
    shell.run_line_magic(name, f"{rest} --overwrite")
    assert "a year of notes" not in file.read_text()
    shell.run_line_magic(name, rest)


def test_by_a_method(shell, tmp_path):
    """`overwrite=True` says so in Python."""
    file = tmp_path / "notes.txt"
    add, cases = shell.user_ns["add"], Cases([Case("Hello")])
    report = evaluate(ScriptedModel(["Hi"]), [add], cases)
    methods = (
        cases.write,
        report.to_html,
        report.to_junit,
        sweep(add, {"a": [1]}).to_html,
        Conversation(agent=Agent(ScriptedModel(["Hi"]))).save,
    )
    for write in methods:
        file.write_text("a year of notes")
        with pytest.raises(
            FileError, match="Name another file, or overwrite it with overwrite=True"
        ):
            write(file)
        assert file.read_text() == "a year of notes"
        write(file, overwrite=True)
        assert "a year of notes" not in file.read_text()
        # Nothing is lost where nothing is
        file.write_text("")
        write(file)


def test_by_two_threads(tmp_path):
    """One of them writes the file; the other is told that it has other content."""
    together = Barrier(2)

    def write(prompt, file):
        together.wait()
        try:
            Cases([Case(prompt)]).write(file)
        except FileError:
            return None
        return prompt

    with ThreadPoolExecutor(2) as pool:
        for number in range(20):
            file = tmp_path / f"{number}.yaml"
            written = [*pool.map(write, ("Hello", "Bye"), (file, file))]
            [prompt] = filter(None, written)
            assert [case.prompt for case in Cases.read(file)] == [prompt]
    with pytest.raises(FileError, match="cannot be written: "):
        Cases([Case("Hello")]).write("a\0/b.yaml")


def test_overwrite_is_for_lines_that_write(mcp):
    """An option without effect is an error."""
    with pytest.raises(Exception, match="--overwrite replaces a file: add --html FILE"):
        mcp("diff shop other --overwrite")
