"""Writes the files that users have: `cd tests && ../.venv/bin/python -m promised.write_files FOLDER`.

All of it is done, nothing is made up: runs from Python, a line, a button and a model, a server, and
so on. Times and the salts of saved keys differ each time. What is in `files` was written on
27 November 2026 and stays as it is; what a later version writes in another form goes beside it
(`answers*` and `rows*` on 29 November: what came before, `trials*` and `sweep*`, is refused).
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copytree
from stat import S_IXUSR
from tempfile import TemporaryDirectory

from patience import eventually
from shells import new_shell

from promised.shop import (
    BILLS,
    GOODS,
    PIXEL,
    SECRET,
    buyer,
    calls,
    clerk,
    count_all,
    forget,
    log_in,
    look_up,
    price_cases,
    rename,
    said,
    sales,
    shop_cases,
    shop_server,
    split_bill,
)
from toolbench import Conversation, ImageContent, TextContent, history, run_tool
from toolbench.agent import Agent, LLMSummarizingCondenser
from toolbench.evals import evaluate, sweep
from toolbench.llm import user_message
from toolbench.llm.models import RecordedModel, ScriptedModel
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.trust.approvals import Approvals
from toolbench.runs.questions import answering
from toolbench.widgets import ToolPanel


def write_journal(path: Path) -> None:
    """Runs from each source, and of each way to end."""
    history().clear()
    history().persist(path)
    run_tool(split_bill, total=84, people=4)
    run_tool(look_up, {"title": "Emma", "copies": 2, "size": "l", "by": "2026-12-01"})
    run_tool(log_in, name="ann", password=SECRET)
    run_tool(split_bill, total=84, people=0)
    run_tool(split_bill, total="much")
    with answering(True):
        run_tool(rename, name="Page & Turner")
    run_tool(sales)
    with suppress(KeyboardInterrupt):
        run_tool(count_all)
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.push({"forget": forget})
        shell.run_line_magic("tool", "forget name=shopping --yes")
        with suppress(Exception):
            shell.run_line_magic("tool", "forget name=letters")
        shell.run_line_magic("unload_ext", "toolbench")
    panel = ToolPanel(split_bill)
    panel.form.value = {"total": 30.0}
    panel.run().done.wait()
    panel.close()
    with create_mcp_tools(shop_server()) as client:
        client["price"]({"of": "tea"})
        run_tool(client["price"], of="tea")
        run_tool(client["stock"])
        with answering(False):
            run_tool(client["pay"], amount=5, token=SECRET)
    model = ScriptedModel([calls(("split_bill", {"total": 10})), "5 euros each."])
    conversation = Conversation(agent=Agent(model, [split_bill]))
    conversation.send_message("Ten euros.")
    conversation.run()
    history().clear()


def write_conversation(path: Path) -> None:
    """Calls that are answered, wrong, refused and stopped short; one waits; a secret is hidden."""
    script = [
        said(calls(("split_bill", {"total": 84, "people": 4}), text="I divide.")),
        said(calls(("look_up", {"title": "Emma"}), ("split_bill", {"total": "much"}))),
        said(calls(("forget", {"name": "letters"}))),
        said({"role": "assistant", "content": f"Everybody pays 21 euros. {SECRET}"}),
        said(calls(("split_bill", {"total": 90, "people": 3}))),
    ]
    agent = Agent(ScriptedModel(script), [split_bill, look_up, forget], system_prompt="Be brief.")
    conversation = Conversation(agent=agent, workspace="/nowhere", secrets={"TOKEN": SECRET})
    conversation.send_message("Split 84 euros by four, find Emma, and forget my letters.")
    with answering(False, "I still need them."):
        conversation.run()
    conversation.send_message("And 90 by three?")
    conversation.ask()
    conversation.save(path)
    conversation.close()


def write_more_of_a_conversation(path: Path) -> None:
    """A picture, a server's tool, a delegated task, an edited call, one by hand, a condensation."""
    clerk = Agent(ScriptedModel([calls(("split_bill", {"total": 10})), "5 euros."]), [split_bill])
    script = [
        calls(("price", {"of": "tea"})),
        "3 euros.",
        calls(("ask_clerk", {"task": "Split 10 euros."})),
        "5 euros each.",
        calls(("split_bill", {"total": 84, "people": 5})),
        calls(("look_up", {"title": "Emma"})),
        "It is there.",
        "They asked for prices, and Emma.",
        "You are welcome.",
    ]
    with create_mcp_tools(shop_server()) as client:
        tools = [client["price"], clerk.as_tool("ask_clerk", "Splits bills."), split_bill, look_up]
        condenser = LLMSummarizingCondenser(keep_tokens=50)
        agent = Agent(ScriptedModel(script), tools, condenser=condenser)
        conversation = Conversation(agent=agent, workspace="/nowhere")
        picture = ImageContent(image_urls=[PIXEL])
        conversation.send_message([TextContent(text="What does this cost?"), picture])
        conversation.run()
        conversation.send_message("Split 10.")
        conversation.run()
        conversation.send_message("Split 84 by four, then find Emma.")
        conversation.ask()
        conversation.edit_pending(conversation.pending[0], {"total": 84, "people": 4})
        conversation.run_pending(conversation.pending[0])
        conversation.ask()
        conversation.answer_pending(conversation.pending[0], "Emma is on shelf 3.")
        conversation.run()
        conversation.condense()
        conversation.send_message("Thanks.")
        conversation.run()
        conversation.save(path)
        conversation.close()


def write_recordings(folder: Path) -> None:
    """A server of each era: answers, an error, a question, progress, a log, a resource, a prompt."""
    for era in ("modern", "legacy"):
        path = folder / f"recording-{era}.jsonl"
        with create_mcp_tools(shop_server(era), record=path) as client:
            session = client.servers["shop"]
            client["price"]({"of": "tea"})
            client["price"]({"of": "tea"})
            run_tool(client["stock"])
            with answering(True):
                run_tool(client["pay"], amount=5, token=SECRET)
            assert len(session.resources) == len(session.prompts) == 1
            session.read_resource("shop://hours")
            session.get_prompt("offer", customer="Ann")


def write_recording_of_a_program(path: Path) -> None:
    """A server in a process of its own: stderr, a log, and a secret of its environment."""
    entry = {
        "command": sys.executable,
        "args": ["-m", "promised.leaking_program"],
        "env": {"API_TOKEN": SECRET, "PYTHONPATH": str(Path(__file__).absolute().parents[1])},
        "mode": "legacy",
    }
    with create_mcp_tools({"mcpServers": {"leaky": entry}}, record=path) as client:
        run_tool(client["tell"], writing="as it is")
        eventually(lambda: [*client.servers["leaky"].stderr])


def write_recorded_model(path: Path) -> None:
    """Two answers to one request, a call, and a call with a secret."""
    script = [
        said({"role": "assistant", "content": "Good morning."}),
        said({"role": "assistant", "content": "Good evening."}),
        said(calls(("split_bill", {"total": 84, "people": 4}))),
        said(calls(("log_in", {"name": "ann", "password": SECRET}))),
    ]
    model = RecordedModel(path, ScriptedModel(script, name="clerk"))
    model.complete([user_message("Hello")])
    model.complete([user_message("Hello")])
    model.complete([user_message("84 by four?")], [split_bill])
    model.complete([user_message("Log me in.")], [log_in])


def write_snapshot(path: Path) -> None:
    """What the server offers."""
    with create_mcp_tools(shop_server()) as client:
        client.servers["shop"].snapshot().write(path)


@contextmanager
def installed_shop(folder: Path, description: str) -> Iterator[MCPClient]:
    """A client of a server that describes its tool so: a program, by a name that any machine has.

    The name is what an approval belongs to, so that it is no path of this machine.
    """
    program = folder / "toolbench-test-shop"
    server = Path(__file__).with_name("shop_program.py")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{server}"\n')
    program.chmod(program.stat().st_mode | S_IXUSR)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}{os.pathsep}{path}"
    entry = {"command": program.name, "env": {"SAYS": description}, "mode": "legacy"}
    try:
        with MCPClient(approvals=Approvals(folder / "approvals")) as client:
            client.connect("shop", entry)
            yield client
    finally:
        os.environ["PATH"] = path


def write_approvals(folder: Path) -> None:
    """What a server said of itself when it was first connected."""
    with TemporaryDirectory() as elsewhere, installed_shop(Path(elsewhere), "The price of a good."):
        copytree(Path(elsewhere, "approvals"), folder, dirs_exist_ok=True)


def write_cases(path: Path) -> None:
    """Cases that use each part of a case."""
    shop_cases().write(path)


def write_trials(folder: Path) -> None:
    """An evaluation without, and one with calls that run."""
    evaluate(clerk(), [split_bill, look_up], shop_cases(), save=folder / "answers.jsonl")
    with create_mcp_tools(shop_server()) as client:
        tools = [client["price"], client["stock"]]
        evaluate(buyer(), tools, price_cases(), execute=True, save=folder / "answers-run.jsonl")


def write_sweeps(folder: Path) -> None:
    """A sweep of a function, and one of a server's tool; each has a call that fails."""
    sweep(split_bill, BILLS, save=folder / "rows-function.jsonl")
    with create_mcp_tools(shop_server()) as client:
        sweep(client["price"], GOODS, workers=1, save=folder / "rows-server.jsonl")


def write_all(folder: Path) -> None:
    """Writes each kind of file, from the root of the disk: where a kernel began is in some keys."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir("/")
    write_journal(folder / "journal.jsonl")
    write_conversation(folder / "conversation.jsonl")
    write_more_of_a_conversation(folder / "conversation-more.jsonl")
    write_recordings(folder)
    write_recording_of_a_program(folder / "recording-program.jsonl")
    write_recorded_model(folder / "model.jsonl")
    write_snapshot(folder / "snapshot.json")
    write_approvals(folder / "approvals")
    write_cases(folder / "cases.yaml")
    write_trials(folder)
    write_sweeps(folder)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
