"""Names that a document has shown stay: of modules, parameters, members, lines and commands.

`names.json` was written on 27 November 2026 from README, docs, notebooks and the design; names are
added to it when a document shows new ones, so that no change of a document hides a lost name.
"""

import json
import re
import sys
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path

import nbformat
import pytest
from shells import new_shell

from promised.shop import shop_server, split_bill
from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import CancelToken, PersonModel, RecordedModel, ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve

ROOT = Path(__file__).parents[2]
NAMES = json.loads(Path(__file__).with_name("names.json").read_text("utf-8"))
WORDS = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")
# Each case is a promise of its own
pytestmark = pytest.mark.every_case


def value_of(path):
    """What *path* names, `toolbench.mcp.MCPClient`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


@pytest.mark.parametrize("module", NAMES["imports"])
def test_names_are_imported_from_where_they_were(module):
    """`from toolbench.mcp import create_mcp_tools` works for each name that was ever shown."""
    names = NAMES["imports"][module]
    here = {}
    exec(f"from {module} import {', '.join(names)}", here)
    assert here.keys() >= set(names)


def test_what_documents_import_is_on_the_list():
    """A document that shows a new name adds it to the promise."""
    books = (nbformat.read(path, 4) for path in (ROOT / "notebooks").glob("*.ipynb"))
    texts = [cell.source for book in books for cell in book.cells]
    texts += [path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")]
    texts.append((ROOT / "README.md").read_text("utf-8"))
    pattern = r"^(?:>>> )?from (toolbench[\w.]*) import (\([^)]*\)|[^#\n]*)"
    imports = re.findall(pattern, "\n".join(texts), re.M)
    assert len(imports) > 50
    for module, names in imports:
        for name in re.findall(r"(\w+)(?: as \w+)?", names):
            assert name in NAMES["imports"][module], (module, name)


@pytest.mark.parametrize("path", NAMES["parameters"])
def test_parameters_have_their_names(path):
    """What the reference lets you give by name can be given by that name."""
    assert set(NAMES["parameters"][path]) <= set(signature(value_of(path)).parameters)


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """An object of each class whose members are made with it."""
    path = tmp_path_factory.mktemp("model") / "model.jsonl"
    path.write_text("")
    agent = Agent(ScriptedModel(["Hello"]), [split_bill])
    with (
        create_mcp_tools(shop_server()) as client,
        Conversation(agent=agent) as conversation,
        serve([split_bill]) as served,
    ):
        yield {
            "toolbench.agent.Agent": agent,
            "toolbench.agent.Conversation": conversation,
            "toolbench.evals.EvalReport": evaluate(
                ScriptedModel(["No."]), [split_bill], [Case("Hello")]
            ),
            "toolbench.evals.SweepReport": sweep(split_bill, [{"total": 1}]),
            "toolbench.llm.models.CancelToken": CancelToken(),
            "toolbench.llm.models.PersonModel": PersonModel(),
            "toolbench.llm.models.RecordedModel": RecordedModel(path),
            "toolbench.llm.models.ScriptedModel": agent.llm,
            "toolbench.mcp.MCPClient": client,
            "toolbench.mcp.MCPServerSession": client.servers["shop"],
            "toolbench.mcp.MCPToolExecutor": client[0].executor,
            "toolbench.Schema": split_bill.action_from_arguments({"total": 1}),
            "toolbench.serving.Served": served,
        }


class TestMembers:
    """The members that the reference describes, of classes and of the objects that they make."""

    @pytest.mark.parametrize("path", NAMES["members"])
    def test_have_their_names(self, path, objects):
        """An attribute of the class, a field of it, or an attribute of its objects."""
        cls = value_of(path)
        names = {name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())}
        names |= {*dir(cls), *dir(objects.get(path))}
        lost = set(NAMES["members"][path]) - names
        assert not {name for name in lost if not hasattr(cls, name)}


@pytest.fixture(scope="module")
def shell():
    """A shell with the extension."""
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


class TestLines:
    """Magics, their commands and their options, as `--help` tells them."""

    @pytest.mark.parametrize("line", NAMES["lines"])
    def test_have_their_options(self, line, shell, capsys):
        """`%mcp connect --help` names each option that there was."""
        magic, *words = line.lstrip("%").split()
        if line.startswith("%%"):
            shell.run_cell_magic(magic, "--help", "body")
        else:
            shell.run_line_magic(magic, " ".join([*words, "--help"]))
        output = capsys.readouterr().out
        assert output.startswith("usage: %")
        assert set(NAMES["lines"][line]) <= set(WORDS.findall(output))


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
@pytest.mark.parametrize("command", NAMES["commands"])
def test_commands_have_their_options(command, monkeypatch, capsys):
    """`toolbench eval --help` names each option that there was."""
    [program] = entry_points(group="console_scripts", name="toolbench")
    monkeypatch.setattr(sys, "argv", ["toolbench", command, "--help"])
    assert program.load()() == 0
    output = capsys.readouterr().out
    assert f"toolbench {command}" in output
    assert set(NAMES["commands"][command]) <= set(WORDS.findall(output))
