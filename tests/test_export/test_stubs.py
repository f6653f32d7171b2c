"""A server's tools as a typed module: it can be imported, called, and read by mypy."""

import importlib.util
import subprocess
import sys
from types import SimpleNamespace

import pytest
from corpus import lines_of, needs_corpus
from patience import PATIENCE
from pydantic import ValidationError

from toolbench.errors import FileError
from toolbench.export import export_stubs
from toolbench.export.stubs import stubs_for
from toolbench.mcp import MCPClient
from toolbench.testing import FakeMCPServer

SCHEMA = {
    "type": "object",
    "required": ["title", "class"],
    "additionalProperties": False,
    "properties": {
        "title": {
            "type": "string",
            "description": 'What """ it is\\ called.',
            "minLength": 2,
        },
        "class": {"enum": ["a", "b", None, 3]},
        "dict": {"type": ["integer", "null"], "maximum": 5},
        "parent": {"$ref": "#/$defs/Node"},
        "mixed": {
            "anyOf": [
                {"type": "array", "items": {"type": "number"}},
                {"type": "boolean"},
            ]
        },
    },
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "next": {"$ref": "#/$defs/Node"},
            },
        }
    },
}
HOSTILE = 'x"""\nimport os; os.abort()\n"""\\'


@pytest.fixture
def session():
    server = FakeMCPServer("shop")
    server.answer("buy-it", "bought", schema=SCHEMA)
    server.answer(HOSTILE, "odd", schema={"type": "object"}, description=HOSTILE)
    server.answer("class", "taken", schema={"type": "object", "properties": {"": {}, "a b": {}}})
    with MCPClient(timeout=PATIENCE) as client:
        yield client.connect("shop", server)


def imported(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def mypy(folder, *files):
    """Run mypy on *files* of *folder*: strictly, but for toolbench itself, which has its own run."""
    config = "[mypy]\nstrict = true\n[mypy-toolbench.*]\nfollow_imports = skip\n"
    (folder / "mypy.ini").write_text(config)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *files]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_calls_the_connected_server(session, tmp_path):
    """A function checks its arguments, sends what was set under its own name, and returns the result."""
    shop = imported(export_stubs(session, tmp_path / "shop_stubs.py"))
    parent = {"value": 1, "next": {"value": 2}}
    arguments = shop.BuyItArguments(**{"title": "tea", "class": None, "dict": 5, "parent": parent})
    assert arguments.parent.next.value == 2
    assert shop.buy_it(arguments).text == "bought"
    [call] = [c for c in session.traffic if c.method == "tools/call" and '"buy-it"' in c.text]
    assert '"class": null' in call.text or '"class":null' in call.text
    assert "mixed" not in call.text
    for wrong in (
        {"title": 7},
        {"class": "c"},
        {"parent": {"value": "x"}},
        {"x": 1},
    ):
        with pytest.raises(ValidationError):
            shop.BuyItArguments(**{"title": "tea", "class": "a", **wrong})


@pytest.mark.long
def test_text_of_the_server_stays_text(session, tmp_path):
    """Nothing that a server says of itself becomes code."""
    file = export_stubs(session, tmp_path / "shop_stubs.py")
    module = imported(file)
    names = [name for name in vars(module) if name.startswith("x_import")]
    assert getattr(module, names[0]).__doc__.endswith('"""\\')
    assert mypy(tmp_path, file.name).returncode == 0


def test_the_name_of_a_server_stays_text():
    """Not even one that holds the places of our own text."""
    name = " and eval('1/0') and $about and {about} and $server "
    names = {}
    exec(stubs_for(name, []), names)
    assert names["SERVER"] == name


def test_names_of_python_stay_pythons():
    """A tool called `print` or `annotations` takes no name that the module needs."""
    rows = [{"name": name, "inputSchema": {}} for name in ("print", "annotations", "str")]
    names = {}
    exec(stubs_for("shop", map(tool_like, rows)), names)
    assert not {"print", "str"} & names.keys()


def test_what_is_there_stays(session, tmp_path):
    """A file that holds something else is not overwritten unless that is said."""
    file = tmp_path / "shop_stubs.py"
    file.write_text("mine")
    with pytest.raises(FileError, match="already has other content"):
        export_stubs(session, file)
    assert file.read_text() == "mine"
    export_stubs(session, file, overwrite=True)
    export_stubs(session, file)
    with pytest.raises(FileError, match="cannot be written"):
        export_stubs(session, tmp_path / "none" / "shop.py")


def tool_like(row):
    return SimpleNamespace(
        name=row["name"],
        description=row.get("description") or "",
        input_schema=row["inputSchema"],
        output_schema=row.get("outputSchema"),
    )


@pytest.mark.long
@needs_corpus
def test_mypy_accepts_the_corpus(tmp_path):
    """A sample of real tools, each seventh, as one module: strict mypy has nothing to say."""
    tools = [tool_like(row) for row in lines_of("tools_public.jsonl")[::7]]
    server = SimpleNamespace(name="corpus", tools=tools)
    file = export_stubs(server, tmp_path / "corpus_stubs.py")
    module = imported(file)
    assert sum(name.endswith("Arguments") for name in vars(module)) > 200
    done = mypy(tmp_path, file.name)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_line_writes_it(tmp_path, notebook, capsys):
    """`%mcp stubs NAME FILE` says how many functions there are."""
    server = FakeMCPServer("shop")
    server.answer("buy", "bought", schema={"type": "object"})
    notebook.shell.user_ns["shop"] = server
    notebook.shell.run_line_magic("mcp", "connect shop shop")
    notebook.shell.run_line_magic("mcp", f"stubs shop {tmp_path / 'shop_module.py'}")
    assert "1 function, which call" in capsys.readouterr().out
    assert imported(tmp_path / "shop_module.py").SERVER == "shop"
