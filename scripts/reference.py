"""Writes the pages of docs/reference with griffe2md, from the docstrings of the public names; `--check` only compares."""
# ruff: noqa: T201 - a script talks to its terminal

import re
import sys
from argparse import SUPPRESS
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import griffe
from griffe2md import ConfigDict, prepare_context, prepare_env

from toolbench.cli.exit_codes import table
from toolbench.magics.chat_magics import CHAT, MODEL
from toolbench.magics.commands import Family, LineParser
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.settings import Toolbench
from toolbench.magics.tool_magics import TOOL, TOOL_CALL
from toolbench.magics.tools_magics import TOOLS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
FIRST = "README.md"
HEAD = """\
# Reference

One page per module, generated from the docstrings by `make docs` with
[griffe2md](https://mkdocstrings.github.io/griffe2md/). The magics and the commands are on this page. Each class and
function has an example, which the tests run. Anything that is not listed here is private and may change. Inherited members are
described with the class that they come from.
"""
WORDS_OF_CONSENT = """\
An option means the same in every magic and every command: `--yes` approves runs in advance, `--overwrite` replaces a
file that has other content, `--approve` approves servers as they are now, `-o` names a variable, `--to` a file or folder,
and `--timeout` is a limit in seconds. [What these words mean](../how-to/confirm-policies.md#the-words).
"""
MODULES = {
    "toolbench": None,
    "toolbench.core.builtins": ("FinishTool", "ThinkTool"),
    "toolbench.errors": (
        *("ToolbenchError", "Problem", "Path", "ArgumentsError", "BodyError", "CaseError"),
        *("ConsentError", "ExportError", "FileError", "FilterError", "KindError"),
        *("MissingExtraError", "ModelError", "ModelConnectionError", "ModelDriftError"),
        *("ModelScriptError", "ModelStoppedError", "RegistrationError", "SchemaError"),
        *("SecretError", "ServerError", "ToolFailedError", "ToolStoppedError"),
        "ToolNotFoundError",
    ),
    "toolbench.display.timeline": ("Span", "ToolTimes", "Timeline"),
    "toolbench.runs.policy": ("Policy", "policy"),
    "toolbench.runs.questions": ("Question", "Answer", "answering"),
    "toolbench.runs.parallel": ("run_tools",),
    "toolbench.tools": (
        "default_tools",
        "register_default_tools",
        *("TerminalTool", "FileEditorTool", "TaskTrackerTool", "GlobTool", "GrepTool"),
        *("ApplyPatchTool", "IPythonTool", "WebReadTool", "BrowserTool"),
    ),
    "toolbench.mcp": None,
    "toolbench.mcp.recording": None,
    "toolbench.llm": None,
    "toolbench.llm.lint": None,
    "toolbench.llm.models": None,
    "toolbench.agent": None,
    "toolbench.evals": None,
    "toolbench.checks": None,
    "toolbench.serving": None,
    "toolbench.export": None,
    "toolbench.agent.tools": (
        "AskHumanTool",
        "CondensationRequestTool",
        "DelegateTool",
        "EditFileTool",
        *("FinishTool", "SearchToolsTool", "ThinkTool"),
    ),
    "toolbench.widgets.form": ("SchemaForm",),
    "toolbench.widgets.panel": ("ToolPanel",),
    "toolbench.widgets.explorer": ("Explorer",),
    "toolbench.widgets.fields": None,
    "toolbench.testing": None,
    "toolbench.compat": (
        *("BUILT_IN_TOOLS", "SECURITY_RISK_LITERAL", "ActionBase", "ObservationBase"),
        *("Tool", "ToolSpec", "openhands"),
    ),
}
COMMANDS = ("new", "lab", "eval", "export", "connect", "doctor")
SERVER_COMMANDS = ("list", "call", "read", "prompt", "review", "check")
# What is called like a function of Python
_FUNCTIONS = {"eval": "eval_", "list": "list_"}
STYLE: ConfigDict = {
    "docstring_section_style": "table",
    # IPython asks for it
    "filters": ["!^_", "!^getdoc$"],
    "heading_level": 1,
    "inherited_members": False,
    "line_length": 88,
    "members_order": "source",
    "show_if_no_docstring": False,
    "show_object_full_path": False,
    "show_root_members_full_path": False,
    "show_signature_annotations": True,
    "show_submodules": False,
    "summary": False,
}
# Each template is compiled once
TEMPLATES = prepare_env()
LINK = re.compile(r"\[(?P<text>[^\[\]]+)\]\(#(?P<path>[\w.]+)\)")
# What is returned and raised is rarely more than a line or two: a list, not a table
ROWS = re.compile(r"^Type \| Description\n-+ \| -+\n(?P<rows>(?:.+ \| .*\n?)*)", re.MULTILINE)
ROW = re.compile(r"^(.+?) \| (.*)$", re.MULTILINE)
UNTYPED = re.compile(
    r"^Name \| Type \| Description\n.*\n(?P<rows>(?:`\w+` \|  \| .*\n)+)\n", re.MULTILINE
)
HEADING = re.compile(r"^#+ `(?P<name>[\w.]+)`$", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` say whether they are as they would be written."""
    texts = pages()
    if "--check" in arguments:
        there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
        if there == texts:
            return 0
        print("docs/reference is not what the docstrings say: run `make docs`.")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{FOLDER.relative_to(ROOT)}: {len(texts)} pages written")
    return 0


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    package = griffe.load(
        "toolbench",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={
            "ignore_init_summary": True,
            "returns_multiple_items": False,
            "warnings": False,
        },
    )
    modules = {
        name: package if name == "toolbench" else package[name.split(".", 1)[1]] for name in MODULES
    }
    members = {name: public_members(name, module) for name, module in modules.items()}
    # The module that describes an object, by its path
    homes: dict[str, str] = {}
    for name in sorted(members, key=lambda name: -name.count(".")):
        for described in members[name].values():
            homes.setdefault(described.path, name)
    classes = {
        described.path: described
        for objects in members.values()
        for described in objects.values()
        if isinstance(described, griffe.Class)
    }
    for described in classes.values():
        describe_hidden_bases(described, homes)
        hide_values(described)
        # A call of the class returns an object of it
        if "__init__" in described.members:
            described["__init__"].returns = None
    texts = {name: module_page(module, members[name], homes) for name, module in modules.items()}
    headings = {name: dict(anchors_of(text)) for name, text in texts.items()}
    anchors = {
        path: f"{home}.md#{headings[home][f'## `{name}`']}"
        for home, objects in members.items()
        for name, described in objects.items()
        if homes[path := described.path] == home
    }
    for home, objects in members.items():
        for name, described in objects.items():
            for heading, anchor in anchors_of(texts[home]):
                _, _, member = heading.partition(f"### `{name}.")
                if member and homes[described.path] == home:
                    anchors[f"{described.path}.{member[:-1]}"] = f"{home}.md#{anchor}"
    described_pages = {
        f"{name}.md": linked(text, f"{name}.md", anchors) for name, text in texts.items()
    }
    first = linked(first_page(package, modules), FIRST, anchors)
    return {FIRST: first, **described_pages}


def public_members(name: str, module: griffe.Module) -> dict[str, griffe.Object]:
    """Return what *module* offers: what is chosen here, its `__all__`, or what it defines."""
    exported = getattr(import_module(name), "__all__", None)
    defined = [n for n, m in module.members.items() if not (m.is_alias or m.is_module)]
    names = MODULES[name] or exported or defined
    members = {}
    for word in (word for word in names if not word.startswith("_")):
        member = module[word]
        members[word] = member.final_target if member.is_alias else member
        if not member.has_docstring:
            sys.exit(f"{name}.{word} is public and has no docstring.")
    return members


def module_page(
    module: griffe.Module, members: dict[str, griffe.Object], homes: dict[str, str]
) -> str:
    """Return the page of a module; of what another page describes it has a link."""
    here = [word for word, m in members.items() if homes[m.path] == module.path]
    page = rendered(module, {**STYLE, "members": here})
    elsewhere = [f"[`{word}`](#{m.path})" for word, m in members.items() if word not in here]
    note = f"\n\nDescribed elsewhere: {', '.join(elsewhere)}." if elsewhere else ""
    return f"{page.rstrip()}{note}\n"


def rendered(described: griffe.Object, style: ConfigDict) -> str:
    """Return *described* in Markdown."""
    template = TEMPLATES.get_template(f"{described.kind.value}.md.jinja")
    page = template.render(**prepare_context(described, style))
    # Whether a default was given or not is no matter of users
    page = re.sub(r"\bvalue_of_class\(([^()]*)\)", r"\1", page)
    page = ROWS.sub(lambda match: ROW.sub(r"- \1: \2", match["rows"]), page)
    page = UNTYPED.sub(without_types, page)
    return with_class_names(page)


def without_types(table: re.Match[str]) -> str:
    """Return a table of attributes whose types are not declared, without their column."""
    return (
        "Name | Description\n---- | -----------\n" + table["rows"].replace(" |  | ", " | ") + "\n"
    )


def with_class_names(page: str) -> str:
    """Return *page* with the name of its class in the heading of each member: its anchor is unique."""
    lines, owner = [], ""
    for line in page.split("\n"):
        if line.startswith("## `"):
            owner = line[4:-1]
        elif line.startswith("### `") and owner:
            line = line.replace("`", f"`{owner}.", 1)
        lines.append(line)
    return "\n".join(lines)


def describe_hidden_bases(described: griffe.Class, homes: dict[str, str]) -> None:
    """Give a public class what it has from bases of ours that are not public, if no public base has it."""
    public_bases = [base for base in described.mro() if base.path in homes]
    covered = {base.path for public in public_bases for base in (public, *public.mro())}
    for name, inherited in described.inherited_members.items():
        member = inherited.final_target
        owner = member.parent.path
        if owner.startswith("toolbench.") and owner not in covered:
            described.set_member(name, griffe.Alias(name, member))


def hide_values(described: griffe.Class) -> None:
    """Leave out what a class puts into its attributes when an object is made: it is code, no default."""
    for attribute in described.attributes.values():
        if "instance-attribute" in attribute.labels and not attribute.is_alias:
            attribute.value = None


def anchors_of(page: str) -> Iterator[tuple[str, str]]:
    """Give the headings of *page*, each with its anchor, as GitHub and MyST make it from the words."""
    before: list[str] = []
    for heading in HEADING.finditer(page):
        word = heading["name"].lower().replace(".", "")
        yield heading[0], f"{word}-{before.count(word)}" if word in before else word
        before.append(word)


def linked(text: str, page: str, anchors: dict[str, str]) -> str:
    """Return *text* with links to what the reference describes, and without the other ones."""

    def link(match: re.Match[str]) -> str:
        target = anchors.get(match["path"])
        if target is None:
            return match["text"]
        return f"[{match['text']}]({target.removeprefix(page)})"

    return LINK.sub(link, text)


def first_page(package: griffe.Module, modules: dict[str, griffe.Module]) -> str:
    """Return the page of contents, magics and commands."""
    contents = [
        f"- [`{name}`]({name}.md): {module.docstring.value.splitlines()[0]}"
        for name, module in modules.items()
    ]
    parts = [HEAD, *contents, "", *magics(), *commands(package)]
    return "\n".join(parts).rstrip() + "\n"


def magics() -> Iterator[str]:
    """Give what can be typed after each magic, from the parsers that read it."""
    yield "## Magics\n"
    for magic in (TOOL, TOOLS, MCP, TOOL_CALL, MODEL, CHAT):
        if isinstance(magic, Family):
            yield f"### `%{magic.name}`\n"
            yield f"{magic.description}\n"
            for word, command in magic.commands.items():
                yield f"- `{word}`: {command.help}"
                yield from (f"  {term}" for term in terms(magic.parsers[word]))
        else:
            yield f"### `{magic.mark}{magic.prog}`\n"
            yield f"{magic.description}\n"
            yield from terms(magic)
        examples = "\n".join(magic.examples)
        yield f"\n```text\n{examples}\n```\n"
    yield "### `%config Toolbench`\n"
    yield "What holds for this notebook; `c.Toolbench.width = 80` in a configuration file of IPython sets it for all.\n"
    for name, trait in sorted(Toolbench.class_own_traits(config=True).items()):
        yield f"- `{name}`: {trait.help} {trait.default_value} by default."
    yield "\n```text\n%config Toolbench\n%config Toolbench.timeout = 300\n```\n"
    yield WORDS_OF_CONSENT


def terms(parser: LineParser) -> Iterator[str]:
    """Give the words and options of a line, each with its help."""
    for action in parser._actions:
        if action.help not in (None, SUPPRESS) and "-h" not in action.option_strings:
            term = ", ".join(action.option_strings) or action.metavar or action.dest
            yield f"- `{term}`: {action.help.replace('%%', '%')}"


def commands(package: griffe.Module) -> Iterator[str]:
    """Give the commands of the shell, from their functions."""
    yield "## Commands\n"
    style: ConfigDict = {**STYLE, "show_root_heading": False}
    for name in (*COMMANDS, *SERVER_COMMANDS):
        yield f"### `toolbench {name}`\n"
        module = package["cli.app"]
        if name in SERVER_COMMANDS:
            module = package["cli.server_commands"]
        function = module[_FUNCTIONS.get(name, name)]
        for parameter in function.parameters:
            if getattr(parameter.annotation, "canonical_path", "") == "typing.Annotated":
                parameter.annotation = parameter.annotation.slice.elements[0]
        yield rendered(function, style)
    yield f"### Exit codes\n\n{table()}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
