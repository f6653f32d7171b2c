"""What the documents show is true: every block of code runs, and shows what is printed below it."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from kernels import FORGET
from markdown_it import MarkdownIt
from markdown_it.token import Token
from test_runs.kernel import Kernel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import reference  # noqa: E402 - a script, which is in no package

REFERENCE = ROOT / "docs" / "reference"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# Signatures do not run
RUN = [path for path in DOCUMENTS if path.parent != REFERENCE]
RAISES = "raises"
# Run by tests/peers, where the libraries are
PEERS = "peers"
READERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
# Drawn; tried by doctest
SHOWN_ONLY = {"mermaid", "pycon"}


def blocks(document: Path) -> list[Token]:
    """The fenced blocks of *document*, in order."""
    tokens = MarkdownIt().parse(document.read_text(encoding="utf-8"))
    return [token for token in tokens if token.type == "fence"]


def links(document: Path) -> list[str]:
    """The files that *document* links to, as it names them."""
    tokens = MarkdownIt().parse(document.read_text(encoding="utf-8"))
    inline = (part for token in tokens for part in token.children or ())
    targets = (part.attrs["href"] for part in inline if part.type == "link_open")
    return [
        target.partition("#")[0]
        for target in targets
        if not target.startswith(("https:", "http:", "#"))
    ]


class Cell(NamedTuple):
    """A block of Python, whether it raises, and the text that is said to come of it."""

    source: str
    raises: bool
    shown: str = ""


def cells(document: Path) -> list[Cell]:
    """The Python of *document* as cells."""
    written: list[Cell] = []
    for block in blocks(document):
        language, *marks = block.info.split() or [""]
        if language == "python" and PEERS not in marks:
            written.append(Cell(block.content, RAISES in marks))
        elif language == "text" and written:
            written[-1] = written[-1]._replace(shown=block.content)
    return written


def output_text(messages: list[dict[str, Any]]) -> str:
    """What a reader of the cell with these *messages* sees without widgets."""
    parts = []
    for content in (message["content"] for message in messages):
        if "text" in content:
            parts.append(content["text"])
        elif "ename" in content:
            parts.append(f"{content['ename']}: {content['evalue']}")
        else:
            parts.append(content.get("data", {}).get("text/plain", ""))
    return "\n".join(parts)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    """One kernel for all documents: to start one takes longer than to run most of them."""
    with Kernel(sys.executable) as kernel:
        yield kernel


@pytest.mark.slow
# Each document is a promise
@pytest.mark.every_case
@pytest.mark.parametrize(
    "document",
    [path for path in RUN if cells(path)],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_python_of_a_document_runs(document, kernel, tmp_path):
    """In a kernel without names, tools and records, from top to bottom; only `raises` raises."""
    kernel.run(FORGET)
    kernel.run(f"%cd {tmp_path}")
    for cell in cells(document):
        request = kernel.start(cell.source)
        failed = kernel.reply(request)["status"] == "error"
        kernel.listen_until(partial(kernel.is_idle, request), "the cell is done")
        text = output_text(kernel.of(request))
        assert failed == cell.raises, (cell.source, text)
        assert words(cell.shown) in words(text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
class TestTheRest:
    def test_configuration_can_be_read(self, document):
        """A block of JSON, TOML or YAML is one."""
        for block in blocks(document):
            language = block.info.split()[0] if block.info else ""
            assert language in {"", "python", "text", "sh", *READERS, *SHOWN_ONLY}
            if language in READERS:
                READERS[language](block.content)

    def test_links_lead_somewhere(self, document):
        """A link to a file of the repository names one that is there."""
        for target in links(document):
            assert (document.parent / target).exists(), target


def imported() -> set[str]:
    """What the documents and notebooks import of ours: `toolbench.mcp.MCPClient`."""
    notebooks = (json.loads(p.read_text("utf-8")) for p in (ROOT / "notebooks").glob("*.ipynb"))
    code = ["".join(cell["source"]) for book in notebooks for cell in book["cells"]]
    code += [block.content for path in DOCUMENTS for block in blocks(path)]
    imports = re.findall(r"^from (toolbench[\w.]*) import (\([^)]*\)|.*)", "\n".join(code), re.M)
    names = ((module, re.findall(r"(\w+)(?: as \w+)?", line)) for module, line in imports)
    return {f"{module}.{name}" for module, line in names for name in line}


@pytest.mark.parametrize("name", sorted(imported()))
def test_what_the_documents_import_is_in_the_reference(name):
    """A reader can look up each name that is shown."""
    entry = name.rpartition(".")[2]
    assert entry in {name for _, name in entries()}


def entries() -> list[tuple[str, str]]:
    """What the reference describes: each with its page, without the members of classes."""
    return [
        (path.name, name)
        for path in sorted(REFERENCE.glob("toolbench*.md"))
        for name in re.findall(r"^## `(\w+)`$", path.read_text("utf-8"), re.M)
    ]


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_is_in_the_reference(module):
    """Each module has a page, which describes what the module offers or links to where that is."""
    text = (REFERENCE / f"{module}.md").read_text("utf-8")
    names = reference.MODULES[module] or getattr(import_module(module), "__all__", ())
    for name in (name for name in names if not name.startswith("__")):
        assert re.search(rf"^## `{name}`$|\[`{name}`\]\(", text, re.M), name


def test_the_reference_describes_each_member_once():
    """A class has one entry, and a member that it inherits stands with the class it comes from."""
    assert len(entries()) == len(set(entries())) > 100
    tools = (REFERENCE / "toolbench.tools.md").read_text("utf-8")
    assert "Bases: <code>[ToolDefinition](toolbench.md#tooldefinition)" in tools
    pages = [path.read_text("utf-8") for path in REFERENCE.glob("*.md")]
    assert "".join(pages).count("### `to_openai_tool`") == 1


def test_links_of_the_reference_lead_to_an_entry():
    """A link to another entry names a heading of that page, as GitHub and the site call it."""
    headings = {
        path.name: {a for _, a in reference.anchors_of(path.read_text("utf-8"))}
        for path in REFERENCE.glob("*.md")
    }
    links = [
        (path.name, *link)
        for path in REFERENCE.glob("*.md")
        for link in re.findall(r"\]\((toolbench[\w.]*\.md)?#([\w-]+)\)", path.read_text("utf-8"))
    ]
    assert len(links) > 100
    for page, target, anchor in links:
        assert anchor in headings[target or page], (page, target, anchor)


def commands() -> list[tuple[str, list[str]]]:
    """Every line of shell in the documents, as program and words."""
    shell = (b for path in DOCUMENTS for b in blocks(path) if b.info == "sh")
    lines = (line.partition("#")[0] for b in shell for line in b.content.splitlines())
    split = (shlex.split(line) for line in lines)
    return [(words[0], words[1:]) for words in split if words]


def test_make_targets_of_the_documents_are_there():
    """A line with `make` names targets of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    names = {w for program, words in commands() if program == "make" for w in words}
    assert {word for word in names if "=" not in word} <= targets


def test_packages_of_the_documents_are_ours_or_pinned():
    """A line with `pip install` names an extra of ours, or a package that is tested here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = set(re.findall(r"^[\w.-]+", (ROOT / "constraints.txt").read_text(), re.M))
    installs = [words[1:] for program, words in commands() if program == "pip"]
    for word in (word for words in installs for word in words):
        if word.startswith("."):
            extras = set(re.findall(r"[\w-]+", word))
            assert extras <= set(project["optional-dependencies"]), word
        elif not word.startswith("-"):
            assert word in pinned, word


@pytest.mark.slow
def test_our_commands_of_the_documents_run(tmp_path):
    """A line with `toolbench` does what it says; one that stays open, or asks a model, knows its words."""
    for program, words in commands():
        if program == "toolbench":
            stays = ["--help"] if words[0] in ("lab", "eval") else []
            ours = Path(sys.executable).with_name(program)
            done = subprocess.run(
                [ours, *words, *stays],
                check=False,
                cwd=tmp_path,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr


def test_other_commands_of_the_documents_are_few():
    """Any other line is a program every reader has."""
    assert {program for program, _ in commands()} <= {
        *("make", "pip", "toolbench", "git", "python", "cd", "voila")
    }


@pytest.mark.slow
def test_the_reference_is_up_to_date(capsys):
    """`make docs` would change no page of it."""
    code = reference.main(["--check"])
    assert code == 0, capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("script", ["front_ends.py", "badges.py"])
def test_what_is_made_is_up_to_date(script):
    """`make docs` would change nothing else."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
