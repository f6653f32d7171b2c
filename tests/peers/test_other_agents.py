"""Other libraries of agents take our tools: the examples of the how-to run where they are installed."""

import subprocess

import pytest
from documents import ROOT, blocks
from test_docs import PEERS

HOW_TO = ROOT / "docs" / "how-to" / "use-with-other-agents.md"
EXAMPLES = {
    name: block.content
    for name in (
        "from langchain_core",
        "from pydantic_ai",
        "from agents",
        "import smolagents",
    )
    for block in blocks(HOW_TO)
    if PEERS in block.info.split() and name in block.content
}


# Each imports the whole library
@pytest.mark.long
@pytest.mark.parametrize("library", list(EXAMPLES))
def test_takes_a_tool(script, library, tmp_path):
    """The example says what comes out."""
    if script.stamp(script.AGENTS_PLACE) != "\n".join(script.AGENTS):
        pytest.skip("OTHER LIBRARIES OF AGENTS ARE NOT TESTED: run `make peers`")
    [define, *_] = [b.content for b in blocks(HOW_TO) if b.info == "python"]
    # A file: smolagents reads the source of the function
    program = tmp_path / "example.py"
    program.write_text(f"{define}\n{EXAMPLES[library]}")
    done = subprocess.run(
        [script.AGENTS_PLACE / "bin" / "python", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_library_has_an_example():
    """None is lost by a change of the document."""
    assert len(EXAMPLES) == 4
    assert len(set(EXAMPLES.values())) == 4
