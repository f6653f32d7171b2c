"""The file with the examples of a tool: users edit it, panels and kernels share it, secrets are not in it."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench import tool
from toolbench.errors import CaseError
from toolbench.evals import Cases
from toolbench.evals.examples import Example, ExampleFile

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


@tool(read_only=True)
def total(item: str, count: int = 1, token: str = "") -> int:
    """Say what a number of items costs. In euros."""
    return count


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of `total`, beside a notebook."""
    monkeypatch.chdir(tmp_path)
    return ExampleFile.of(total)


def example(name, **arguments):
    """An example without secrets."""
    return Example.of(name, arguments, arguments)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=3))
def test_values_come_back_as_they_are(tmp_path_factory, arguments):
    """Whatever YAML would make of them: `no`, `1e5`, `16:30`, a line separator."""
    one = ExampleFile(tmp_path_factory.mktemp("examples") / "x.examples.yaml", "x")
    for name in ("1e5", "no"):
        one.put(Example(name=name, arguments=arguments))
    read = ExampleFile(one.path).read()
    assert [each.name for each in read] == ["1e5", "no"]
    assert [repr(each.arguments) for each in read] == [repr(arguments)] * 2


def test_a_text_needs_no_quotes_and_comments_stay(file):
    """A user writes `item: no`; what a panel adds leaves the rest of the file as it was."""
    text = dedent("""\
        # mine
        tool: total
        examples:
          - name: by hand   # and this
            arguments: {item: no, count: 2}
            note: kept
        """)
    file.path.write_text(text)
    file.put(example("two", item="tea"))
    assert file.path.read_text().startswith(text)
    assert [each.arguments for each in file.read()] == [{"item": "no", "count": 2}, {"item": "tea"}]
    file.put(example("two", item="cake"))
    assert [each.arguments["item"] for each in file.read()] == ["no", "cake"]
    assert "note: kept" in file.path.read_text() and file.path.read_text().startswith("# mine")
    text = file.path.read_text()
    with pytest.raises(CaseError, match="with this example it has more than 200,000 bytes"):
        file.put(example("large", **{f"part {n}": "x" * 19_000 for n in range(11)}))
    assert file.path.read_text() == text


DAMAGED = {
    "tool: [": "is not YAML",
    "- a list": "should be an object",
    "tool: other\nexamples: []": "of the tool",
    "tool: total\nexamples: [{name: a}]": "examples[0].arguments: is required",
    "tool: total\nexamples: [&a {name: a, arguments: {}}, *a]": "an alias",
    "x" * 200_001: "200,000 bytes",
}


@pytest.mark.parametrize("text", DAMAGED, ids=list(DAMAGED.values()))
def test_a_damaged_file_is_told_in_one_sentence_and_stays(file, text):
    """Nothing that a user has written is replaced."""
    file.path.write_text(text)
    for act in (file.read, lambda: file.put(example("new", item="x"))):
        with pytest.raises(CaseError) as told:
            act()
        assert str(told.value).startswith("total.examples.yaml cannot be used: ")
        assert DAMAGED[text] in str(told.value) and "\n" not in str(told.value)
    assert file.path.read_text() == text


@pytest.mark.slow
def test_threads_and_kernels_lose_nothing_of_each_other(file, tmp_path):
    """Each writes ten examples at once, the first file among them."""
    program = dedent("""
        import sys
        from pathlib import Path
        from toolbench.evals.examples import Example, ExampleFile
        file = ExampleFile(Path(sys.argv[1]), "total")
        for number in range(10):
            file.put(Example(name=f"{sys.argv[2]} {number}", arguments={"item": "x"}))
    """)
    command = [sys.executable, "-c", program, str(file.path)]
    kernels = [subprocess.Popen([*command, name], cwd=tmp_path) for name in ("one", "two")]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: file.put(example(f"thread {n}", item="x")), range(10)))
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert len(file.read()) == 30
    assert [path.name for path in tmp_path.iterdir()] == [file.path.name]


def test_a_link_leads_to_no_other_file(file, tmp_path):
    """One may come with a cloned repository; nor is a writer to a pipe waited for."""
    os.mkfifo(file.path)
    with pytest.raises(CaseError, match="is a pipe"):
        file.read()
    file.path.unlink()
    target = tmp_path / "target"
    target.write_text("")
    file.path.symlink_to(target)
    with pytest.raises(CaseError, match="is a link"):
        file.put(example("a", item="x"))
    assert target.read_text() == ""


def test_evaluations_read_the_same_file(file):
    """A prompt is the user's, or a proposal; what the file leaves out matches anything."""
    arguments = {"item": "cake", "token": "hunter2hunter2"}
    file.put(Example.of("one cake", arguments, total.secrecy.hide(arguments)[0]))
    assert "hunter2" not in file.path.read_text()
    [case] = Cases.from_examples(total)
    assert case.is_proposal and "cake" in case.prompt and case.match == {"token": "any"}
    prompts = {"one cake": "What is a cake?"}
    [case] = Cases.from_examples(str(file.path), prompts)
    assert (case.name, case.prompt, case.is_proposal) == ("one cake", "What is a cake?", False)
    assert [(call.name, call.arguments) for call in case.calls] == [("total", {"item": "cake"})]
    with pytest.raises(CaseError, match="no example two"):
        Cases.from_examples(total, {"two": "x"})
    with pytest.raises(CaseError, match="no example yet"):
        Cases.from_examples(Path("nothing.examples.yaml"))
