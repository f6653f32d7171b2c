"""Every public name has an example in its docstring, which runs and shows what is written there."""

import doctest
import inspect
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from enum import Enum
from importlib import import_module
from types import ModuleType

import pytest
from documents import ROOT
from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel
from shells import new_shell

from toolbench.runs.session import reset

sys.path.insert(0, str(ROOT / "scripts"))

import reference

# Constants, with a name whose example uses them
CONSTANTS = {
    "BUILT_IN_TOOLS": "toolbench.compat.Tool",
    "HANG_UP": "toolbench.testing.InTurn",
    "NEVER": "toolbench.testing.ReceivedCall",
    "Path": "toolbench.errors.Problem",
    "RULES": "toolbench.llm.lint.Rule",
    "SECURITY_RISK_LITERAL": "toolbench.compat.ActionBase",
    "Severity": "toolbench.llm.lint.Finding",
    "UNSET": "toolbench.widgets.fields.Slot",
}
# Changes what later imports give
OWN_PROCESS = {"openhands"}
# Models that describe tools and checks: no tool takes one as an argument
NO_ARGUMENTS = {"Expectation", "Tool", "ToolAnnotations", "ToolSpec"}


def public_names() -> Iterator[tuple[str, str]]:
    """Give the names of the reference, each with the module that offers it."""
    for module, some in reference.MODULES.items():
        for name in some or import_module(module).__all__:
            if not name.startswith("__"):
                yield module, name


def example_of(module: str, name: str) -> doctest.DocTest:
    """Return the examples in the docstrings of *name* and its own methods, as one."""
    value = getattr(import_module(module), name)
    docs = [inspect.getdoc(value)]
    if inspect.isclass(value):
        for member in vars(value).values():
            docs.append(inspect.getdoc(getattr(member, "__func__", member)))
    text = "\n\n".join(doc for doc in docs if doc and ">>> " in doc)
    return doctest.DocTestParser().get_doctest(text, {}, name, f"{module}.{name}", 0)


@pytest.fixture
def namespace(monkeypatch, tmp_path):
    """The names of a new module, in a new session, an empty folder and a shell of its own."""
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    reset()
    own = InteractiveShell.instance
    with ExitStack() as ends:

        def instance(**options):
            # A tool that runs Python in a shell of its own
            if options:
                return own(**options)
            shell = ends.enter_context(new_shell())
            ends.callback(shell.run_line_magic, "unload_ext", "toolbench")
            return shell

        monkeypatch.setattr(InteractiveShell, "instance", instance)
        yield vars(module)
    reset()


@pytest.mark.parametrize(
    ("module", "name"), [pair for pair in public_names() if pair[1] not in OWN_PROCESS]
)
def test_the_example_of_a_public_name_runs(module, name, namespace):
    """It shows what one sees, in a session without other names, tools and records."""
    example = example_of(module, name)
    example.globs = namespace
    printed: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=printed.append)
    assert not printed, "".join(printed)


def test_the_example_that_changes_imports_runs():
    """As the others do, in a process of its own."""
    program = "import doctest, toolbench.compat.openhands_sdk as m; print(doctest.testmod(m))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("TestResults(failed=0, attempted=")


def test_every_public_name_has_an_example():
    """A reader sees each name in use where it is explained."""
    missing = [
        f"{module}.{name}"
        for module, name in public_names()
        if name not in CONSTANTS and not example_of(module, name).examples
    ]
    assert missing == []


def test_constants_are_used_in_the_example_of_another_name():
    """They have no docstring in Python; the reference has theirs from the source."""
    for constant, user in CONSTANTS.items():
        module, _, name = user.rpartition(".")
        lines = example_of(module, name).examples
        assert any(constant in line.source for line in lines), (constant, user)


def test_no_schema_has_an_example():
    """What pydantic takes from the docstring of a class is read by models: methods have its example."""
    for module, name in public_names():
        value = getattr(import_module(module), name)
        is_model = inspect.isclass(value) and issubclass(value, BaseModel | Enum)
        if is_model and name not in NO_ARGUMENTS:
            assert ">>> " not in (value.__doc__ or ""), (module, name)
