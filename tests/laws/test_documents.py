"""What documents say can be followed: links, names, make's targets, packages, configuration."""

import json
import re
import sys
import tomllib
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import yaml
from documents import DOCUMENTS, REFERENCE, ROOT, blocks, commands
from markdown_it import MarkdownIt

sys.path.insert(0, str(ROOT / "scripts"))

import reference

READERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
# Drawn; tried by doctest
SHOWN_ONLY = {"mermaid", "pycon"}


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


def test_configuration_can_be_read():
    """A block of JSON, TOML or YAML is one."""
    for document in DOCUMENTS:
        for block in blocks(document):
            language = block.info.split()[0] if block.info else ""
            known = {"", "python", "text", "sh", *READERS, *SHOWN_ONLY}
            assert language in known, (document, language)
            if language in READERS:
                READERS[language](block.content)


def test_links_lead_somewhere():
    """A link to a file of the repository names one that is there."""
    for document in DOCUMENTS:
        for target in links(document):
            assert (document.parent / target).exists(), (document, target)


def test_links_land_on_a_heading():
    """The part after `#` is a heading of that page, as GitHub and the site write it."""
    headings = {document: headings_of(document) for document in DOCUMENTS}
    for document in DOCUMENTS:
        for page, anchor in anchored(document):
            target = document.parent.joinpath(page).resolve()
            if not page:
                target = document
            assert anchor in headings.get(target, {anchor}), (document, page, anchor)


def anchored(document: Path) -> list[tuple[str, str]]:
    """The links of *document* to a heading: the page, which is empty for its own, and the anchor."""
    text = document.read_text("utf-8")
    return re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text)


def headings_of(document: Path) -> set[str]:
    """The anchors of *document*: of its headings, and those that it sets itself."""
    text = document.read_text("utf-8")
    tokens = MarkdownIt().parse(text)
    anchors = re.findall(r'\bid="([^"]+)"', text)
    for heading, words in pairwise(tokens):
        if heading.type == "heading_open":
            plain = "".join(part.content for part in words.children or ())
            anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            if anchor in anchors:
                anchor += f"-{anchors.count(anchor)}"
            anchors.append(anchor)
    return set(anchors)


def imported() -> set[str]:
    """What the documents and notebooks import of ours: `toolbench.mcp.MCPClient`."""
    notebooks = (json.loads(p.read_text("utf-8")) for p in (ROOT / "notebooks").glob("*.ipynb"))
    code = ["".join(cell["source"]) for book in notebooks for cell in book["cells"]]
    code += [block.content for path in DOCUMENTS for block in blocks(path)]
    imports = re.findall(r"^from (toolbench[\w.]*) import (\([^)]*\)|.*)", "\n".join(code), re.M)
    names = ((module, re.findall(r"(\w+)(?: as \w+)?", line)) for module, line in imports)
    return {f"{module}.{name}" for module, line in names for name in line}


def test_what_the_documents_import_is_in_the_reference():
    """A reader can look up each name that is shown."""
    described = {name for _, name in entries()}
    assert {name for name in imported() if name.rpartition(".")[2] not in described} == set()


def entries() -> list[tuple[str, str]]:
    """What the reference describes: each with its page, without the members of classes."""
    return [
        (path.name, name)
        for path in sorted(REFERENCE.glob("toolbench*.md"))
        for name in re.findall(r"^## `(\w+)`$", path.read_text("utf-8"), re.M)
    ]


def test_every_public_name_is_in_the_reference():
    """Each module has a page, which describes what the module offers or links to where that is."""
    for module, some in reference.MODULES.items():
        text = (REFERENCE / f"{module}.md").read_text("utf-8")
        names = some or getattr(import_module(module), "__all__", ())
        for name in (name for name in names if not name.startswith("__")):
            assert re.search(rf"^## `{name}`$|\[`{name}`\]\(", text, re.M), (module, name)


def test_the_reference_describes_each_member_once():
    """A class has one entry, and a member that it inherits stands with the class it comes from."""
    assert len(entries()) == len(set(entries())) > 100
    tools = (REFERENCE / "toolbench.tools.md").read_text("utf-8")
    assert "Bases: <code>[ToolDefinition](toolbench.md#tooldefinition)" in tools
    pages = [path.read_text("utf-8") for path in REFERENCE.glob("*.md")]
    assert "".join(pages).count("### `ToolDefinition.to_openai_tool`") == 1


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


def test_make_targets_of_the_documents_are_there():
    """A line with `make` names targets of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    names = {w for program, words in commands() if program == "make" for w in words}
    assert {word for word in names if "=" not in word} <= targets


def test_packages_of_the_documents_are_ours_or_pinned():
    """A line with `pip install` names an extra of ours, a package that is tested here, or a wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = set(re.findall(r"^[\w.-]+", (ROOT / "constraints.txt").read_text(), re.M))
    installs = [w[1:] for program, w in commands() if program == "pip" and w[0] == "install"]
    for word in (word for words in installs for word in words):
        if word.endswith(".whl"):
            # A file that a line before has built
            continue
        if word.startswith("."):
            extras = set(re.findall(r"[\w-]+", word))
            assert extras <= set(project["optional-dependencies"]), word
        elif not word.startswith("-"):
            assert word in pinned, word


def test_other_commands_of_the_documents_are_few():
    """Any other line is a program every reader has."""
    assert {program for program, _ in commands()} <= {
        *("make", "pip", "toolbench", "git", "python", "cd", "voila"),
        *("papermill", "pytest"),
    }
