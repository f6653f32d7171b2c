"""The server that a package ships answers as `serve` does."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from fastmcp import Client
from patience import PATIENCE, eventually

from toolbench import run_tool
from toolbench.export import export_package

CELLS = (
    """
import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from toolbench import current_run, tool

Books_token = "hunter2-quiet-lake"
db = sqlite3.connect("books.db")
db.executescript("create table if not exists book (title text); insert into book values ('Dune')")
""",
    '''
@tool(read_only=True)
def find_books(word: str) -> list[str]:
    """Find books by a word of the title."""
    current_run().progress(1, 2, "looks")
    print(Books_token)
    return [t for (t,) in db.execute("select title from book where title like ?", [word + "%"])]

@tool
async def double(number: int) -> dict[str, int]:
    """Double a number."""
    return {"doubled": 2 * number}

@tool
def hang() -> str:
    """Hang."""
    open("hanging", "w").close()
    time.sleep(1000)
    return ""

here = []

@tool
async def meet() -> AsyncIterator[str]:
    """Meet another call."""
    here.append("one")
    while len(here) < 2:
        await asyncio.sleep(0.01)
    yield "met"
''',
)


@pytest.fixture
def server(notebook, tmp_path, monkeypatch):
    """The module of the server of a package with four tools, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    notebook.run(*CELLS)
    run_tool(notebook["find_books"], word="Du")
    tools = [notebook[name] for name in ("find_books", "double", "hang", "meet")]
    export_package(tools, tmp_path / "shelves", cells=[1])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(tmp_path / "shelves")
    yield import_module("shelves.server")
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelves"]:
        del sys.modules[name]


def test_it_runs_a_tool_where_it_was_made(server, monkeypatch):
    """A connection of sqlite works; progress, output schemas and errors are those of `serve`."""
    monkeypatch.setenv("BOOKS_TOKEN", "mine")
    steps = []

    async def progress(*step):
        steps.append(step)

    async def conversation():
        async with Client(server.create_server(), progress_handler=progress) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            calls = ("find_books", {"word": "Du"}), ("double", {"number": 2}), ("double", {})
            results = [await client.call_tool(*call, raise_on_error=False) for call in calls]
        return tools, results

    tools, [found, doubled, wrong] = asyncio.run(conversation())
    assert tools["find_books"].output_schema["properties"]["result"]["type"] == "array"
    assert (found.structured_content, steps) == ({"result": ["Dune"]}, [(1, 2, "looks")])
    assert doubled.structured_content == {"doubled": 4}
    assert "number: is required" in wrong.content[0].text


def test_it_runs_calls_of_async_tools_at_once(server, monkeypatch):
    """An async generator too."""
    monkeypatch.setenv("BOOKS_TOKEN", "mine")

    async def conversation():
        async with Client(server.create_server()) as client, asyncio.timeout(PATIENCE):
            return await asyncio.gather(*(client.call_tool("meet") for _ in range(2)))

    assert ["met" in result.content[0].text for result in asyncio.run(conversation())] == [True] * 2


@pytest.mark.slow
@pytest.mark.parametrize("how", ["the input ends", "C-c"])
def test_it_ends_although_a_tool_hangs(server, tmp_path, how):
    """With its client, and by the key of a person who tried it in a terminal."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    messages = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "hang", "arguments": {}}},
    )
    path = os.pathsep.join([str(tmp_path / "shelves"), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-m", "shelves.server"],
        env={**os.environ, "PYTHONPATH": path, "BOOKS_TOKEN": "mine"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        for message in messages:
            print(json.dumps({"jsonrpc": "2.0", **message}), file=process.stdin, flush=True)
        eventually(Path("hanging").exists)
        if how == "C-c":
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def test_it_says_in_a_sentence_which_variable_is_missing(server, monkeypatch):
    """So does what makes the tools; an import alone writes no file."""
    monkeypatch.delenv("BOOKS_TOKEN", raising=False)
    assert list(Path.cwd().iterdir()) == []
    with pytest.raises(SystemExit, match=r"^Set BOOKS_TOKEN in the environment: [^\n]*\.$"):
        server.main()
    with pytest.raises(OSError, match=r"^Set BOOKS_TOKEN"):
        server.create_tools()
