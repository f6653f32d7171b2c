"""Write the module of tests of a package; the recorded calls are in a file of their own."""

import json
from collections.abc import Sequence


def tests_for(
    package: str,
    *,
    variables: Sequence[str],
    files: Sequence[str],
    has_repeated: bool,
    has_accepted: bool,
    openhands: bool,
) -> str:
    """Return the text of the tests of *package*.

    Args:
        package: The name of the import package.
        variables: The names of environment variables; if one is not set, the tests are skipped.
        files: The files that the code names and that are not in the package.
        has_repeated: Whether calls are repeated.
        has_accepted: Whether there are calls of which only the arguments are tested.
        openhands: Whether the tests are for the OpenHands SDK.
    """
    modules, imports, marks = ["json"], "", ""
    own, tools, run = f"\nfrom {package} import create_tools\n", _TOOLS, _RUN_BY_SDK
    if files:
        modules, own, tools = ["json", "os", "shutil"], "", _TOOLS_WITH_FILES
        marks = f"FILES = {_listed(files)}  # named in the code, not in the package\n"
    if variables:
        modules = sorted({*modules, "os"})
        marks += _NEEDED.replace("{variables}", _listed(variables))
    parts = [_HEAD, _OFFERED]
    if openhands:
        parts[1] = _OFFERED_BY_SDK
    if has_repeated:
        parts.append(_CALLS)
        if not openhands:
            run, imports = _RUN, _IMPORTS
    if has_accepted:
        parts.append(_ACCEPTED)
    values = {
        "{modules}": "".join(f"import {name}\n" for name in modules),
        "{imports}": imports,
        "{own}": own,
        "{marks}": marks,
        "{tools}": tools,
        "{run}": run,
        "{package}": package,
    }
    text = "\n\n".join(parts)
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _listed(names: Sequence[str]) -> str:
    written = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    return f"[{written}]"


_IMPORTS = """\
from toolbench import answering, run_tool
from toolbench.runs.questions import Answer
"""
_RUN_BY_SDK = 'observation = tool(tool.action_from_arguments(call["arguments"]))'
_RUN = """\
answers = [Answer(**answer) for answer in call.get("answers", [])]
    with answering(*answers):  # as a person gave them in the notebook; no other is given
        observation = run_tool(tool, call["arguments"])"""
_HEAD = '''\
"""The tools are as they were in the notebook: `python -m pytest`."""

{modules}from pathlib import Path

import pytest
{imports}{own}
RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text("utf-8"))
{marks}

{tools}'''
_TOOLS = """\
@pytest.fixture(scope="module")
def tools():
    made = {tool.name: tool for tool in create_tools()}
    yield made
    for tool in made.values():
        tool.executor.close()
"""
_TOOLS_WITH_FILES = '''\
@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The tools, in a new folder with copies of the files: the tests change no file of yours."""
    before, place = Path.cwd(), tmp_path_factory.mktemp("files")
    for file in FILES:
        if not Path(file).is_file():
            pytest.skip(f"put {file}, which the code names, into {before}")
        if not Path(file).is_absolute():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place / file)
    os.chdir(place)
    try:
        from {package} import create_tools

        made = {tool.name: tool for tool in create_tools()}
        yield made
        for tool in made.values():
            tool.executor.close()
    finally:
        os.chdir(before)
'''
_NEEDED = """
MISSING = [name for name in {variables} if not os.environ.get(name)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"set {', '.join(MISSING)}")

"""
_OFFERED = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The name, the description and the arguments are the same as in the notebook."""
    offer = tools[name].to_mcp_tool()
    recorded = RECORDED["offers"][name]
    assert {key: offer[key] for key in recorded} == recorded
'''
_OFFERED_BY_SDK = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The description and the arguments are as in the notebook; the SDK leaves out limits."""
    recorded = RECORDED["offers"][name]
    assert tools[name].description == recorded["description"]
    schema = tools[name].to_mcp_tool()["inputSchema"]
    for part in ("properties", "required"):
        assert set(schema.get(part, ())) == set(recorded["inputSchema"].get(part, ()))
'''
_CALLS = '''\
@pytest.mark.parametrize("number", range(len(RECORDED["calls"])))
def test_a_call_answers_as_in_the_notebook(tools, number):
    """The same arguments give the same result."""
    call = RECORDED["calls"][number]
    tool = tools[call["tool"]]
    {run}
    text = "".join(getattr(b, "text", "") for b in observation.content)
    assert text == call["text"], "what may be missing is in README.md, below To look at"
    assert observation.is_error == call["is_error"]
    fields = observation.model_dump(mode="json")
    assert {name: fields[name] for name in call.get("fields", {})} == call.get("fields", {})
    if "read_by_model" in call:
        blocks = observation.to_llm_content
        assert "".join(getattr(b, "text", "") for b in blocks) == call["read_by_model"]
'''
_ACCEPTED = '''\
@pytest.mark.parametrize("number", range(len(RECORDED["accepted"])))
def test_the_arguments_of_a_call_are_accepted(tools, number):
    """The tool takes them; it is not run, as it may change something or need what is elsewhere."""
    call = RECORDED["accepted"][number]
    tools[call["tool"]].action_from_arguments(call["arguments"])
'''
