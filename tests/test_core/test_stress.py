import random
import sys
import threading
from itertools import count

import pytest
from patience import PATIENCE, join

from toolbench import Action, Tool, ToolDefinition, ToolRegistry, tool
from toolbench.core.registry import ToolNotFoundError

THREADS, ROUNDS = 8, 100
CELL = """
class StressAction(Action):
    '''Version {version}.'''
    a: int
    extra_{version}: int = {version}
class StressTool(ToolDefinition):
    @classmethod
    def create(cls, conv_state=None, by=1):
        return [cls(action_type=StressAction, executor=lambda action: str(action.a + by))]
"""


class Worker:
    """Does what a notebook, a panel and an agent do, in any order."""

    versions = count()

    def __init__(self, registry, seed):
        self.registry, self.rng = registry, random.Random(seed)
        self.name = f"own_{seed}"
        self.cell = {}

    def work(self):
        jobs = {
            self.redefine: 1,
            self.resolve_and_call: 6,
            self.export: 4,
            self.come_and_go: 1,
            self.foreign: 1,
        }
        for _ in range(ROUNDS):
            self.rng.choices(list(jobs), weights=list(jobs.values()))[0]()

    def redefine(self):
        cell = {
            "Action": Action,
            "ToolDefinition": ToolDefinition,
            "__name__": "stress",
        }
        exec(CELL.format(version=next(self.versions)), cell)
        self.registry.register("stress", cell["StressTool"])
        # The newest classes stay alive, as in a notebook
        self.cell = cell

    def resolve_and_call(self):
        by, a = self.rng.randrange(100), self.rng.randrange(100)
        [definition] = self.registry.resolve(Tool(name="stress", params={"by": by}))
        assert definition({"a": a}).text == str(a + by)
        assert definition.action_type(a=1).to_arguments() == {"a": 1}
        assert Action.resolve_kind("StressAction").__doc__.startswith("Version")

    def export(self):
        [definition] = self.registry.resolve("stress")
        risky = definition.to_openai_tool(self.rng.random() < 0.5)["function"]["parameters"]
        version = risky["description"].removeprefix("Version ").rstrip(".")
        assert risky["properties"][f"extra_{version}"]["default"] == int(version)

    def come_and_go(self):
        double = tool(name=self.name)(lambda n: 2 * n)
        self.registry.register(self.name, double)
        assert self.registry.resolve(self.name)[0]({"n": 4}).result == 8
        assert self.name in list(self.registry)
        self.registry.unregister(self.name)
        with pytest.raises(ToolNotFoundError):
            self.registry.resolve(self.name)

    def foreign(self):
        limit = self.rng.randrange(50)
        schema = {"type": "object", "properties": {"n": {"maximum": limit}}}
        model = Action.from_mcp_schema("StressForeign", schema)
        definition = ToolDefinition(name="f", action_type=model, executor=lambda a: str(a.n))
        assert definition({"n": limit}).text == str(limit)
        assert definition.problems({"n": limit + 1})


@pytest.fixture
def often():
    """Threads take turns after every few instructions."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("often")
def test_eight_threads_register_resolve_call_and_redefine():
    """However they interleave, every call is right, and no thread sees half a change."""
    registry = ToolRegistry()
    workers = [Worker(registry, seed) for seed in range(THREADS)]
    workers[0].redefine()
    start, failures = threading.Barrier(THREADS), []

    def run(worker):
        try:
            start.wait(PATIENCE)
            worker.work()
        except BaseException as error:  # noqa: BLE001 - every thread's failure is told
            failures.append(error)

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert failures == []
    assert list(registry) == ["stress"]
    newest = Action.resolve_kind("StressAction")
    assert registry.resolve("stress")[0].action_type.newest() is newest
