"""A tool of a module that was changed and loaded again: the newest runs, or a word says the next step."""

import gc
import importlib
import os
import re
import sys
import warnings

import pytest

from toolbench import history
from toolbench.serving.offer import Offer
from toolbench.widgets.panel.panel import ToolPanel

TOOL = '''
from toolbench import tool

@tool
def {function}(name: str{more}) -> str:
    """Greet."""
    return "{word} " + name
'''
CLASSES = """
from toolbench import Action, Observation, ToolDefinition, ToolExecutor

class WaveAction(Action):
    name: str

class Waver(ToolExecutor[WaveAction, Observation]):
    def __call__(self, action, conversation=None):
        return Observation.from_text("{word} " + action.name)

class WaveTool(ToolDefinition[WaveAction, Observation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Wave.", action_type=WaveAction, executor=Waver())]
"""
MADE = f"{CLASSES}\n[made] = WaveTool.create()\n"
IMPORT = (
    "import greeting; from greeting import WaveTool, greet, made; from toolbench import run_tool"
)
WORD = "run `from greeting import WaveTool; [wave] = WaveTool.create()` to use the new one."


class Module:
    """The module `greeting`, which a notebook has imported by name."""

    def __init__(self, shell, folder):
        self.shell, self._path = shell, folder / "greeting.py"

    def write(self, word, more="", rest=MADE, function="greet"):
        """Write the module, so that each version is newer for a clock of seconds."""
        age = self._path.stat().st_mtime + 5 if self._path.exists() else 1e9
        text = TOOL.format(word=word, more=more, function=function)
        self._path.write_text(text + rest.format(word=word))
        os.utime(self._path, (age, age))
        importlib.invalidate_caches()

    def value(self, cell):
        """Run a *cell* and return its value."""
        result = self.shell.run_cell(cell)
        result.raise_error()
        return result.result


@pytest.fixture
def module(shell, tmp_path, monkeypatch):
    """The module, whose tools and class the notebook has imported; it is forgotten at the end."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = Module(shell, tmp_path)
    module.write("old")
    yield module
    sys.modules.pop("greeting", None)


RELOAD = "import importlib"
# What a model is told is what a call takes
OFFERED = (
    "from toolbench.llm.formats import to_format\n"
    "from toolbench.llm.wire import WIRES\n"
    "sum('loud' in str(to_format(greet, name)) for name in WIRES)"
)
WAYS = (
    # Its default compares the sources of all modules
    pytest.param("%autoreload 2", marks=pytest.mark.slow),
    "%autoreload 2-",
    "%autoreload 1\n%aimport greeting",
    "%autoreload 3",
    RELOAD,
)


@pytest.mark.parametrize("way", WAYS)
def test_the_newest_tool_runs(module, way):
    """As a plain function that was imported by name has the newest code."""
    module.shell.run_line_magic("load_ext", "autoreload")
    module.value(way)
    module.value(IMPORT)
    panel = ToolPanel(module.shell.user_ns["greet"])
    offer = Offer([module.shell.user_ns["greet"]])
    module.write("new", more=", loud: bool = False")
    module.value("importlib.reload(greeting)" if way == RELOAD else "1")
    assert module.value("run_tool('greet', name='Ada', loud=True)").text == "new Ada"
    assert module.value("run_tool(greet, name='Ada', loud=True)").text == "new Ada"
    assert module.value("%tool greet name=Ada loud=true").text == "new Ada"
    assert module.value("greet(name='Ada', loud=True)").text == "new Ada"
    assert module.value("await greet.acall(name='Ada', loud=True)").text == "new Ada"
    assert module.value("made(name='Ada')").text == "new Ada"
    assert "loud" in ToolPanel(module.shell.user_ns["greet"]).form.slot.node.properties
    assert panel.staleness.notice.children[-1].description == "Reload"
    assert module.value(OFFERED) == 5
    offer.outdate()
    assert "loud" in offer.described["greet"]["inputSchema"]["properties"]
    panel.close()


CALLS = (
    "greet(name='Ada')",
    "(await greet.acall(name='Ada'))",
    "run_tool('greet', name='Ada')",
    "run_tool(greet, name='Ada')",
    "made(name='Ada')",
    "greet.latest()(name='Ada')",
)


@pytest.mark.slow
def test_a_tool_that_left_its_module_stays_at_its_last_code(module):
    """As a plain function does, also if only the imported tools remain of the module."""
    module.shell.run_line_magic("load_ext", "autoreload")
    module.value("%autoreload 2-")
    module.value(IMPORT)
    for word in ("second", "third"):
        module.write(word)
        assert module.value("greet(name='Ada').text, made(name='Ada').text") == (f"{word} Ada",) * 2
    # The code of the last version uses it
    rest = "\nfrom toolbench import Observation"
    module.write("fourth", rest=rest, function="welcome")
    module.value("1")
    history().clear()
    gc.collect()
    assert {module.value(f"{call}.text") for call in CALLS} == {"third Ada"}
    assert module.value("%tool greet name=Ada").text == "third Ada"
    module.write("fifth")
    assert {module.value(f"{call}.text") for call in CALLS} == {"fifth Ada"}


def test_an_action_of_the_earlier_class_is_taken(module):
    """A notebook that imported the class by name makes its actions so; a secret in it stays one."""
    secret = "from pydantic import SecretStr\n" + CLASSES.replace(
        "name: str", "name: str\n    token: SecretStr = SecretStr('')"
    ).replace("action.name", "action.name + action.token.get_secret_value()[:3]")
    module.write("old", rest=f"{secret}\n[made] = WaveTool.create()\n")
    module.value("from greeting import WaveAction, made; from toolbench import run_tool")
    module.write("new", rest=f"{secret}\n[made] = WaveTool.create()\n")
    module.value("import importlib, greeting; importlib.reload(greeting)")
    action = "WaveAction(name='Ada ', token='hunter2hunter2')"
    for call in ("made({})", "await made.acall({})", "run_tool(made, {})"):
        assert module.value(call.format(action)).text == "new Ada hun"


def test_of_a_class_the_next_step_is_said(module):
    """The notebook made the tool, so no reload makes it anew; the step that is said ends the words."""
    module.write("old", rest=CLASSES)
    module.value("from greeting import WaveTool\n[wave] = WaveTool.create()")
    module.write("new", rest=CLASSES)
    module.value("import importlib, greeting; importlib.reload(greeting)")
    with pytest.warns(UserWarning, match=re.escape(WORD)):
        module.value("wave(name='Ada')")
    module.value(re.findall("`(.*)`", WORD)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module.value("wave(name='Ada')").text == "new Ada"


def test_a_tool_that_its_module_holds_is_itself(module):
    """Two tools of one function have the same place in the code; neither was replaced."""
    text = (
        "\nfrom toolbench import tool\nfirst, second = tool(greet.function), tool(greet.function)"
    )
    module.write("old", rest=text)
    module.value("from greeting import first, second")
    first, second = (module.shell.user_ns[name] for name in ("first", "second"))
    assert first.latest() is second
    assert ToolPanel(first).tool is first
