"""What toolbench keeps on the disk by itself: each deed succeeds where no fault is met."""

import logging
import os
import warnings
from pathlib import Path
from typing import Any

from test_faults.tool_deeds import NEW, OLD, Deed
from toolbench import Conversation, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.core.schema import Observation
from toolbench.errors import ToolbenchError
from toolbench.evals import sweep
from toolbench.llm.models import RecordedModel, ScriptedModel
from toolbench.mcp import Snapshot, create_mcp_tools
from toolbench.mcp.recording import Recording
from toolbench.mcp.trust.approvals import Approvals
from toolbench.runs.history import Journal
from toolbench.testing import FakeMCPServer
from toolbench.tools import TaskTrackerTool


def outcome(work: Any) -> Observation:
    """Do *work*, which raises one sentence where it fails."""
    try:
        work()
    except ToolbenchError as error:
        return Observation.from_text(str(error), is_error=True)
    return Observation.from_text("done")


class Note(Deed):
    """A run that is written to a journal: whatever happens to that, the run succeeds."""

    def prepare(self) -> None:
        super().prepare()
        [tracker] = TaskTrackerTool.create()
        run_tool(tracker, command="plan", task_list=[{"title": NEW}])
        self.record = history()[-1]
        self.journal = Journal(self.directory / "journal")

    def do(self) -> Observation:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.journal.write(self.record)
        text = " ".join(str(warning.message) for warning in caught)
        return Observation.from_text(text or "kept", is_error=bool(text))

    def files(self) -> dict[str, bytes]:
        # Half a line is passed over
        return {}

    def check(self, observation: Observation) -> None:
        self.journal.write(self.record)
        ids = [one.id for one in self.journal.read(10)]
        assert ids == [self.record.id] * (1 if observation.is_error else 2), (
            observation,
            ids,
        )


class SaveTalk(Deed):
    """A conversation is saved over an older one."""

    def prepare(self) -> None:
        super().prepare()
        self.talk = Conversation(agent=Agent(ScriptedModel([NEW]), []))
        self.talk.send_message(OLD)
        self.path.unlink()
        self.talk.save(self.path)
        self.talk.run()

    def files(self) -> dict[str, bytes]:
        """How many messages the file holds: there are times in it."""
        agent = Agent(ScriptedModel([]), [])
        count = len(Conversation.load(self.path, agent).events)
        return {**super().files(), "file": bytes(count)}

    def do(self) -> Observation:
        return outcome(lambda: self.talk.save(self.path))


class LoadTalk(SaveTalk):
    def do(self) -> Observation:
        agent = Agent(ScriptedModel([]), [])
        return outcome(lambda: Conversation.load(self.path, agent))


class RecordAnswer(Deed):
    """The answer of a model is recorded: it is the caller's, whatever happens to the file."""

    def prepare(self) -> None:
        super().prepare()
        self.path.unlink()
        self.model = RecordedModel(self.path, ScriptedModel([NEW] * 3))

    def do(self) -> Observation:
        messages = [{"role": "user", "content": OLD}]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            observation = outcome(lambda: self.model.complete(messages, []))
        text = " ".join(str(warning.message) for warning in caught)
        return Observation.from_text(text, is_error=True) if text else observation

    def files(self) -> dict[str, bytes]:
        """How many answers the file holds."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return {"file": bytes(len(lines))} if lines else {}

    def check(self, observation: Observation) -> None:
        more = [{"role": "user", "content": "more"}]
        self.model.complete(more, [])
        assert RecordedModel(self.path).complete(more, []).message["content"] == NEW


class RecordServer(Deed):
    """A server is recorded: a call gets its answer, whatever happens to the file."""

    def __init__(self, directory: Path) -> None:
        self.recording = directory / "recording"
        server = FakeMCPServer("shop")
        server.answer("price", NEW)
        self.client = create_mcp_tools(server, record=self.recording)
        self.begun = self.recording.stat().st_size
        super().__init__(directory)

    def prepare(self) -> None:
        """It goes on in the same file, after what it began with."""
        os.truncate(self.recording, self.begun)

    def do(self) -> Observation:
        # That the recording is not complete
        logging.disable(logging.CRITICAL)
        try:
            return run_tool(self.client["price"])
        finally:
            logging.disable(logging.NOTSET)

    def files(self) -> dict[str, bytes]:
        # Half a line is passed over
        return {}

    def check(self, observation: Observation) -> None:
        assert run_tool(self.client["price"]).text == NEW
        last = Recording.read(self.recording).frames[-1]
        assert last.message["result"]["content"][0]["text"] == NEW

    def close(self) -> None:
        self.client.sync_close()


class WriteSnapshot(Deed):
    """What a server offers is written over an older snapshot of it."""

    def prepare(self) -> None:
        super().prepare()
        tools = {"price": {"description": OLD, "inputSchema": {"type": "object"}}}
        self.path.unlink()
        Snapshot({"tools": tools}).write(self.path)
        self.later = Snapshot({"tools": {**tools, "more": {"description": NEW}}})

    def do(self) -> Observation:
        return outcome(lambda: self.later.write(self.path, overwrite=True))


class Approve(Deed):
    """What a server offers is approved; a file that cannot be written is a line of the log."""

    def do(self) -> Observation:
        approvals = Approvals(self.directory / "approved")
        messages: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
        log = logging.getLogger("toolbench")
        log.addHandler(handler)
        try:
            observation = outcome(lambda: approvals.approve("shop", {"instructions": NEW}))
        finally:
            log.removeHandler(handler)
        text = " ".join(messages)
        return Observation.from_text(text, is_error=True) if text else observation

    def check(self, observation: Observation) -> None:
        if not observation.is_error:
            approvals = Approvals(self.directory / "approved")
            assert approvals.of("shop") == {"instructions": NEW}


@tool
def double(text: str) -> str:
    """Return the text twice."""
    return text * 2


class SaveSweep(Deed):
    """A sweep is saved call by call; what is in the file is not done again."""

    def do(self) -> Observation:
        rows = [{"text": OLD}, {"text": NEW}]
        return outcome(lambda: sweep(double, rows, save=self.directory / "sweep"))

    def files(self) -> dict[str, bytes]:
        # A line in it for each call that is done
        return {}

    def check(self, observation: Observation) -> None:
        rows = [{"text": OLD}, {"text": NEW}]
        file = self.directory / "sweep"
        report = sweep(double, rows, save=file, retry_errors=True)
        assert [*report.to_dataframe()["result"]] == [OLD * 2, NEW * 2]
