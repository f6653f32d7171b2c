"""How cost grows: ten times the tools, records or fields may cost ten times as much."""

from datetime import UTC, datetime
from fnmatch import fnmatch

import comm
import ipywidgets
import pytest
from measuring import CPU, Cold, by_turns, timed
from pydantic import Field, create_model
from wire import Wire, forgetting

from toolbench import Action, Observation, ToolDefinition, ToolRegistry
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.compose import as_call
from toolbench.llm.formats import to_format
from toolbench.llm.lint import lint_tools
from toolbench.llm.wire import WIRES
from toolbench.magics.catalog import Catalog
from toolbench.runs.history import RunHistory
from toolbench.runs.record import RunRecord
from toolbench.widgets.bench import Bench
from toolbench.widgets.form import SchemaForm

TOOLS = (10, 100, 1_000, 10_000)
# Where more take many seconds, which show the same order
SOME_TOOLS = TOOLS[:3]
RECORDS = (10, 1_000, 100_000)
SOME_RECORDS = (10, 1_000, 10_000)
FIELDS = (1, 10, 50, 200)
# A size of 10,000 takes seconds
ROUNDS = 3
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")


class SizeAction(Action):
    """What every tool of the curves takes."""

    path: str = Field(description="Where.")
    limit: int | None = Field(None, ge=1)


def executor(action):
    return action.path


def named(n: int) -> ToolDefinition:
    return ToolDefinition(
        name=f"tool_{n}",
        description=f"Find the {WORDS[n % 5]} of thing {n}.",
        action_type=SizeAction,
        executor=executor,
    )


ALL = [named(n) for n in range(max(TOOLS))]


def registered(count: int) -> ToolRegistry:
    registry = ToolRegistry()
    for tool in ALL[:count]:
        registry.register(tool.name, tool)
    return registry


def listed(count: int) -> Catalog:
    """A catalogue of a notebook that made so many tools."""
    return Catalog({tool.name: tool for tool in ALL[:count]}, lambda: None)


def walked(count: int):
    """The same walk in plain Python: each tool of a namespace, its name and description."""
    namespace = {tool.name: tool for tool in ALL[:count]}
    return lambda: [
        (name, tool.name, tool.description)
        for name, tool in namespace.items()
        if isinstance(tool, ToolDefinition)
    ]


def cost(make, sizes):
    """Time what *make* returns for each size, by turns."""
    watches = [timed(make(size), CPU) for size in sizes]
    return dict(zip(sizes, by_turns(watches, ROUNDS), strict=True))


def curve(ledger, work, make, sizes, order=1, plain=None):
    """Enter the cost of what *make* returns; *plain* makes the same without us."""
    beside = plain and cost(plain, sizes)
    ledger.curve(work, cost(make, sizes), order=order, plain=beside)


class TestTools:
    def test_registered(self, ledger):
        """A recipe each."""

        def make(count):
            def register(registry):
                for tool in ALL[:count]:
                    registry.register(tool.name, tool)

            return Cold(ToolRegistry, register)

        curve(ledger, "tools registered", make, TOOLS)

    def test_defined(self, ledger):
        """An Action class and a tool each."""
        names = iter(range(10**9))

        def make(count):
            def define(_):
                for _ in range(count):
                    name = f"Grown{next(names)}Action"
                    made = create_model(name, __base__=Action, path=(str, "x"))
                    ToolDefinition(name=name, action_type=made, executor=executor)

            return Cold(lambda: None, define)

        curve(ledger, "tools defined", make, SOME_TOOLS)

    def test_listed(self, ledger):
        """The names of a registry, and the entries that `%tools` shows."""
        curve(ledger, "tools listed: registry", _list, TOOLS)
        work = "tools listed: %tools"
        curve(ledger, work, lambda n: listed(n).entries, TOOLS, plain=walked)

    def test_resolved(self, ledger):
        """One name costs the same among many."""

        def make(count):
            registry = registered(count)
            return lambda: registry.resolve("tool_5")

        curve(ledger, "one tool resolved among so many", make, TOOLS, order=0)

    def test_found(self, ledger):
        """One name, as `%tool` and a model ask for it."""

        def make(count):
            catalog = listed(count)
            return lambda: catalog.find("tool_5")

        work = "one tool found by %tool among so many"
        curve(ledger, work, make, TOOLS, plain=walked)

        def parsed(count):
            call = as_call(ALL[5], {"path": "x"}, "openai")
            return lambda: parse_tool_calls(call, ALL[:count])

        curve(ledger, "one call parsed among so many tools", parsed, TOOLS)

    def test_searched(self, ledger, monkeypatch):
        """A word typed into the bench, and a pattern of `%tools`."""
        monkeypatch.setattr(comm, "create_comm", Wire().comm)

        def make(count):
            catalog = listed(count)
            return lambda: catalog.entries("*99*")

        def typed(count):
            shown = Bench(ALL[:count])
            [field] = [
                part
                for part in parts(shown)
                if isinstance(part, ipywidgets.Text) and part.description == "Search"
            ]
            texts = ["gamma", "delta 9"]

            def search():
                texts.reverse()
                field.value = texts[0]

            return search

        def plain(count):
            walk = walked(count)
            return lambda: [entry for entry in walk() if fnmatch(entry[1], "*99*")]

        curve(ledger, "tools searched: %tools", make, TOOLS, plain=plain)
        curve(ledger, "tools searched: bench", typed, SOME_TOOLS)
        ipywidgets.Widget.close_all()

    def test_shown(self, ledger, monkeypatch):
        """A bench opened."""
        wire = Wire()
        monkeypatch.setattr(comm, "create_comm", wire.comm)
        points = {}

        def make(count):
            before = wire.comms
            with forgetting():
                Bench(ALL[:count])
            points[count] = wire.comms - before
            return lambda: Bench(ALL[:count])

        with forgetting():
            curve(ledger, "bench of so many tools: opened", make, SOME_TOOLS)
        ledger.curve("bench of so many tools: comms", points, unit="comms", order=0)

    @pytest.mark.parametrize("provider", WIRES)
    def test_exported(self, ledger, provider):
        """In the words of each provider, for the first time."""

        def make(count):
            def work(tools):
                for tool in tools:
                    to_format(tool, provider)

            return Cold(lambda: [named(n) for n in range(count)], work)

        curve(ledger, f"tools exported: {provider}", make, SOME_TOOLS)

    def test_linted(self, ledger):
        """Near-duplicates are looked for among all pairs."""
        curve(ledger, "tools linted", lambda n: lambda: lint_tools(ALL[:n]), SOME_TOOLS)


def _list(count):
    registry = registered(count)
    return lambda: list(registry)


def record(n: int) -> RunRecord:
    return RunRecord(
        id=n,
        tool=f"tool_{n % 50}",
        arguments={"path": f"/tmp/{n}", "limit": n},
        observation=Observation.from_text(f"Result {n} of a call."),
        state="done",
        seconds=0.01,
        source="cell",
        started=datetime(2026, 1, 1, tzinfo=UTC),
    )


class TestHistory:
    records = [record(n) for n in range(max(RECORDS))]  # noqa: RUF012 - made once, never changed

    def filled(self, count):
        history = RunHistory(size=max(RECORDS), room=10**12)
        for each in self.records[:count]:
            history.add(each)
        return history

    def test_appended(self, ledger):
        curve(
            ledger,
            "records appended",
            lambda n: Cold(lambda: None, lambda _: self.filled(n)),
            RECORDS,
        )

    def test_appended_to_a_file(self, ledger, tmp_path):
        def make(count):
            history = self.filled(0)
            history.persist(tmp_path / f"{count}.jsonl")

            def write():
                for each in self.records[:count]:
                    history.add(each)

            return write

        curve(ledger, "records appended to a file", make, SOME_RECORDS)

    @pytest.mark.parametrize(
        ("what", "sizes"), [("to_json", SOME_RECORDS), ("to_dataframe", RECORDS)]
    )
    def test_exported(self, ledger, what, sizes):
        curve(ledger, f"records: {what}", lambda n: getattr(self.filled(n), what), sizes)

    def test_read(self, ledger):
        """All of them, the newest, and one by its number."""

        def newest(count):
            history = self.filled(count)
            return lambda: history[-1]

        def shown(count):
            history = self.filled(count)
            return lambda: repr(history)

        def listed(count):
            history = self.filled(count)
            return lambda: list(history)

        def plain(count):
            records = self.records[:count]
            return records.copy

        curve(ledger, "records listed", listed, RECORDS, plain=plain)
        curve(ledger, "the newest of so many records", newest, RECORDS, order=0)
        curve(ledger, "the history of so many records shown", shown, RECORDS, order=0)

    def test_searched(self, ledger):
        def make(count):
            history = self.filled(count)
            return lambda: history.find(1)

        def plain(count):
            records = self.records[:count]
            return lambda: [None for each in records if each.id == 1]

        work = "an old record found by its number"
        curve(ledger, work, make, RECORDS, plain=plain)


def schema_of(count: int) -> dict:
    kinds = [
        {"type": "string", "description": "What."},
        {"type": "integer", "minimum": 0},
        {"type": "boolean", "default": False},
        {"enum": ["a", "b", "c"]},
        {"type": "array", "items": {"type": "string"}},
    ]
    properties = {f"field_{n}": kinds[n % 5] for n in range(count)}
    return {"type": "object", "properties": properties, "required": ["field_0"]}


def value_of(count: int) -> dict:
    values = ("text", 3, True, "a", ["x"])
    return {f"field_{n}": values[n % 5] for n in range(count)}


class TestForms:
    @pytest.fixture(autouse=True)
    def wire(self, monkeypatch):
        wire = Wire()
        monkeypatch.setattr(comm, "create_comm", wire.comm)
        yield wire
        ipywidgets.Widget.close_all()

    def test_built(self, ledger, wire):
        """Comms and CPU of the fields that are shown."""
        points = {"comms": {}, "B": {}}

        def make(count):
            schema, value = schema_of(count), value_of(count)
            before = wire.comms, wire.bytes
            SchemaForm(schema, value).widget  # noqa: B018
            points["comms"][count] = wire.comms - before[0]
            points["B"][count] = wire.bytes - before[1]
            return Cold(lambda: None, lambda _: SchemaForm(schema, value).widget)

        curve(ledger, "fields of a form built", make, FIELDS)
        for unit, found in points.items():
            ledger.curve(f"fields of a form: {unit}", found, unit=unit)

    def test_changed(self, ledger):
        """A value set and read, and one field changed with the others there."""

        def value(count):
            form = SchemaForm(schema_of(count))
            form.widget  # noqa: B018
            values = [value_of(count), {"field_0": "x"}]

            def change():
                values.reverse()
                form.value = values[0]
                return form.value, form.errors

            return change

        def one(count):
            form = SchemaForm(schema_of(count), value_of(count))
            form.widget  # noqa: B018
            box = next(
                part for part in parts(form.widget) if getattr(part, "description", "") == "field_0"
            )
            texts = ["one", "two"]

            def type_in():
                texts.reverse()
                box.value = texts[0]

            return type_in

        curve(ledger, "fields of a form set and read", value, FIELDS)
        curve(ledger, "a key stroke in a form of so many fields", one, FIELDS)


def parts(widget):
    """Give a widget and all that is shown in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)
