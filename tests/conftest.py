"""What every test shares.

An interrupt is Python's own, even where a shell that started us in the background had it ignored.
"""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from warnings import catch_warnings, simplefilter

import pytest
from corpus import CORPUS, MISSING, published_tools
from environments import ROOT
from kernels import FORGET, OURS, python_of
from tiers import (  # noqa: F401 - hooks of pytest
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
)

from toolbench.core.registry import default_registry
from toolbench.redaction.known import remembered
from toolbench.runs.session import reset

_STATE = tempfile.mkdtemp(prefix="toolbench-state-")
# No test reads or changes what this user approved
os.environ["XDG_STATE_HOME"] = _STATE
# Nor the keyring, where it is installed
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
atexit.register(shutil.rmtree, _STATE, ignore_errors=True)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is loaded and collected stays: it is not searched for garbage, neither meanwhile nor later.

    That would take a sixth of the time of the collection, in each worker.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="module")
def _no_search_of_earlier_modules_for_garbage():
    """What is left of the modules before is not searched again by each collection.

    It is a million objects where the corpus is read, and a quarter of the time of the tests.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _new_session():
    """A module leaves no runs, records, verdicts or secrets to the next one."""
    yield
    reset()


@pytest.fixture(autouse=True)
def _no_secrets_of_earlier_tests():
    """A test's secrets are hidden in that test: another may have them for plain words."""
    yield
    remembered.forget()


@pytest.fixture
def no_records():
    """A test starts and ends in a new session; a folder may ask that of all its tests."""
    reset()
    yield
    reset()


@pytest.fixture
def no_collector():
    """For a test that interrupts its own process: that is lost in a callback of the collector.

    Hypothesis has one, in a process that ran a law before.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def started_kernel():
    """Gives the kernel of each version, which is started once and shared by all modules."""
    # What few workers need
    from test_runs.kernel import Kernel

    kernels = {}
    with ExitStack() as ends:

        def kernel_of(version):
            if version not in kernels:
                kernels[version] = ends.enter_context(Kernel(python_of(version)))
            return kernels[version]

        yield kernel_of


@pytest.fixture(scope="module")
def shared_kernel(started_kernel):
    """A kernel as a new one, for a module that leaves toolbench itself as it was."""
    kernel = started_kernel(OURS)
    kernel.run(FORGET)
    kernel.run(f"%cd -q {ROOT}")
    kernel.states.clear()
    kernel.messages.clear()
    return kernel


@pytest.fixture
def registered():
    """Takes the names a test registers, which are forgotten after it."""
    names = []
    yield names.append
    for name in names:
        default_registry.unregister(name)


@pytest.fixture(autouse=True)
def nothing_stays_registered():
    """A test forgets the tools it registers: the next one would list them."""
    before = set(default_registry)
    yield
    left = set(default_registry) - before
    for name in left:
        default_registry.unregister(name)
    assert not left, f"The test left tools registered: {sorted(left)}."


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """The only folder of the PATH, which is empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def _pip(monkeypatch):
    """This Python has pip, whether it is installed or not."""
    module = ModuleType("pip")
    module.__spec__ = ModuleSpec("pip", None)
    monkeypatch.setitem(sys.modules, "pip", module)


@pytest.fixture
def _no_pip(monkeypatch):
    """This Python has no pip."""
    monkeypatch.setitem(sys.modules, "pip", None)


@pytest.fixture(scope="session")
def published(pytestconfig):
    """The tools of the corpus: one of ten, the same ones in each run; all with `--cases 0`."""
    if not CORPUS.is_dir():
        pytest.skip(MISSING)
    return published_tools(all_of_them=pytestconfig.getoption("--cases", 8) == 0)


@pytest.fixture(scope="session")
def valid_values(published):
    """Values that each tool of `published` accepts, in the same order, each with its kind."""
    sys.path.insert(0, str(CORPUS))
    try:
        examples = import_module("sample_values").examples
    finally:
        sys.path.remove(str(CORPUS))
    with catch_warnings():
        # It asks strategies of hypothesis for texts that a pattern takes
        simplefilter("ignore")
        return [examples(tool["inputSchema"]) for tool in published]
