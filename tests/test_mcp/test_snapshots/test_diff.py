"""What changed between two snapshots of a server, and what each change means."""

import json

import pytest

from toolbench.errors import FileError, ServerError
from toolbench.mcp.snapshots import schema_diff
from toolbench.mcp.snapshots.diff import changes_between
from toolbench.mcp.snapshots.snapshot import Snapshot

TOOL = {
    "name": "add",
    "description": "Add.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer", "maximum": 100}},
    },
}
OFFER = {
    "server": {"name": "shop", "version": "1"},
    "protocolVersion": "2026-07-28",
    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "instructions": "Be kind.",
    "tools": {"add": TOOL},
    "disabled": {},
    "resources": {"x://a": {"uri": "x://a", "name": "a", "mimeType": "text/plain"}},
    "templates": {"x://{id}": {"uriTemplate": "x://{id}", "name": "t"}},
    "prompts": {
        "hello": {
            "name": "hello",
            "arguments": [{"name": "who", "required": True}, {"name": "how"}],
        }
    },
}


def changed(path, value):
    """The offer with *value* at *path*; None takes away what is there."""
    copy = json.loads(json.dumps(OFFER))
    *above, last = path.split(" ")
    here = copy
    for step in above:
        here = here[int(step) if isinstance(here, list) else step]
    if isinstance(here, list):
        last = int(last)
    if value is None:
        del here[last]
    else:
        here[last] = value
    return copy


def changes_to(path, value):
    return Snapshot(OFFER).diff(Snapshot(changed(path, value)))


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize(
    ("path", "value", "kind", "severity", "where"),
    [
        ("tools add", None, "removed", "breaking", "tools/add"),
        ("tools sub", TOOL, "added", "additive", "tools/sub"),
        ("tools add description", "Adds.", "changed", "routing", "tools/add/description"),
        ("tools add title", "Adder", "added", "routing", "tools/add/title"),
        ("tools add annotations", {"readOnlyHint": True}, "added", "routing", "tools/add/annotations"),
        ("tools add _meta", {"x": 1}, "added", "cosmetic", "tools/add/_meta"),
        ("tools add outputSchema", {"type": "object"}, "added", "additive", "tools/add/outputSchema"),
        ("tools add inputSchema properties a maximum", 50, "changed", "breaking", "tools/add/inputSchema/properties/a/maximum"),
        ("server name", "store", "changed", "routing", "server/name"),
        ("server version", "2", "changed", "cosmetic", "server/version"),
        ("instructions", "Be quick.", "changed", "routing", "instructions"),
        ("instructions", "", "removed", "routing", "instructions"),
        ("protocolVersion", "2025-11-25", "changed", "cosmetic", "protocolVersion"),
        ("capabilities tools", None, "removed", "breaking", "capabilities/tools"),
        ("capabilities completions", {}, "added", "additive", "capabilities/completions"),
        ("capabilities logging", None, "removed", "cosmetic", "capabilities/logging"),
        ("capabilities tools listChanged", False, "changed", "cosmetic", "capabilities/tools"),
        ("resources x://a", None, "removed", "breaking", "resources/x://a"),
        ("resources x://b", {"uri": "x://b"}, "added", "additive", "resources/x://b"),
        ("resources x://a mimeType", "text/html", "changed", "breaking", "resources/x://a/mimeType"),
        ("resources x://a name", "b", "changed", "routing", "resources/x://a/name"),
        ("resources x://a size", 7, "added", "cosmetic", "resources/x://a/size"),
        ("templates x://{id}", None, "removed", "breaking", "templates/x://{id}"),
        ("prompts hello", None, "removed", "breaking", "prompts/hello"),
        ("prompts hello description", "Greets.", "added", "routing", "prompts/hello/description"),
        ("prompts hello arguments 1", None, "removed", "breaking", "prompts/hello/arguments/how"),
        ("prompts hello arguments 1 name", "style", "changed", "breaking", "prompts/hello/arguments/how"),
        ("prompts hello arguments 1 required", True, "changed", "breaking", "prompts/hello/arguments/how/required"),
        ("prompts hello arguments 0 required", False, "changed", "additive", "prompts/hello/arguments/who/required"),
    ],
)  # fmt: skip
def test_each_change_is_told_once_with_its_meaning(path, value, kind, severity, where):
    """A change of any part of the offer is one change, with its path and its meaning."""
    [change] = changes_to(path, value)
    assert (change.kind, change.severity, change.where) == (kind, severity, where)
    assert change.text.endswith(".")


class TestOutput:
    def test_a_promise_that_is_gone_breaks(self):
        """A tool that promised its output and does not any more breaks its callers."""
        before = changed("tools add outputSchema", {"type": "object"})
        [change] = Snapshot(before).diff(Snapshot(OFFER))
        assert (change.severity, change.where) == ("breaking", "tools/add/outputSchema")


class TestSentences:
    def test_name_the_limits_and_a_value(self):
        """A limit that moved is told with both limits and a value that is refused now."""
        [change] = changes_to("tools add inputSchema properties a maximum", 50)
        assert change.text == ("add: a: at most 100 before, at most 50 now; 100 is refused now.")
        assert change.example == {"a": 100}

    def test_write_the_name_of_a_tool_as_it_is(self):
        """Also at the beginning of a sentence: a model has to send it like that."""
        one_less = Snapshot(changed("tools add", None))
        for change in (
            *Snapshot(OFFER).diff(one_less),
            *one_less.diff(Snapshot(OFFER)),
        ):
            assert change.text.startswith("add: the tool is ")

    def test_say_why_a_tool_cannot_be_called(self):
        """A tool that is listed and cannot be called any more is gone, with the reason."""
        after = changed("tools add", None)
        after["disabled"] = {"add": "its inputSchema is broken"}
        [change] = Snapshot(OFFER).diff(Snapshot(after))
        assert change.severity == "breaking"
        assert "its inputSchema is broken" in change.text


class TestFiles:
    def test_what_was_read_is_what_was_written(self, tmp_path):
        """A snapshot that was written and read differs in nothing."""
        path = Snapshot(OFFER).write(tmp_path / "shop.json")
        again = Snapshot.read(path)
        assert again == Snapshot(OFFER)
        assert Snapshot(OFFER).diff(again) == []

    def test_are_the_same_whatever_the_order(self, tmp_path):
        """The order in which a server lists things does not change the file."""
        first, second = tmp_path / "a.json", tmp_path / "b.json"
        Snapshot.of({"tools": {"a": {"x": 1, "y": 2}, "b": {}}}).write(first)
        Snapshot.of({"tools": {"b": {}, "a": {"y": 2, "x": 1}}}).write(second)
        assert first.read_bytes() == second.read_bytes()

    def test_hold_no_times(self):
        """When a resource was changed last is not part of what is offered."""
        item = {"uri": "x://a", "annotations": {"lastModified": "2026", "priority": 1}}
        snapshot = Snapshot.of({"resources": {"x://a": item}})
        assert snapshot.json["resources"]["x://a"]["annotations"] == {"priority": 1}

    @pytest.mark.parametrize(
        "text", ["", "{", "[]", "{}", '{"tools": []}', '{"tools": {"f": null}}']
    )
    def test_that_are_no_snapshots_are_refused(self, tmp_path, text):
        """A file that is no snapshot is told by its name, in a sentence."""
        path = tmp_path / "x.json"
        path.write_text(text)
        with pytest.raises(ServerError, match="is not a snapshot"):
            Snapshot.read(path)

    def test_that_are_not_there_are_told(self, tmp_path):
        """A file that cannot be read or written is told with the reason."""
        with pytest.raises(ServerError, match="No such file"):
            Snapshot.read(tmp_path / "none.json")
        with pytest.raises(FileError, match="No such file"):
            Snapshot({"tools": {}}).write(tmp_path / "none" / "x.json")


def test_no_change_shows_what_hides():
    """Names and texts of a server stand in sentences and paths with control characters spelled out."""
    hidden = "\x1b[31m\u202e"
    schema = {"type": "object", "properties": {hidden: {"type": "string"}}}
    tool = {"name": hidden, "description": hidden, "inputSchema": schema}
    changed = {**tool, "inputSchema": {"type": "object"}, "description": "x", hidden: 1}
    pairs = [({}, {hidden: tool}), ({hidden: tool}, {hidden: changed})]
    for before, after in pairs:
        changes = changes_between({"tools": before}, {"tools": after})
        assert changes
        for change in changes:
            assert "\x1b" not in change.text + change.where
            assert "\u202e" not in change.text + change.where


LARGE = [
    ({"maximum": 10**400}, {"maximum": 5}),
    ({"minimum": -(10**400)}, {"minimum": 0.5}),
    ({"multipleOf": 10**400}, {"multipleOf": 1e-300}),
    ({"multipleOf": 0.5}, {"multipleOf": 10**400}),
    ({"maximum": float("nan")}, {"maximum": float("inf")}),
]


@pytest.mark.parametrize(("one", "other"), LARGE)
@pytest.mark.parametrize("type_", ["integer", "number"])
def test_limits_of_any_size_are_compared(one, other, type_):
    """A JSON number has no largest value: a limit is compared, and nothing of Python is raised."""
    for limits in ((one, other), (other, one)):
        old, new = (
            {
                "t": {
                    "name": "t",
                    "inputSchema": {"properties": {"v": {"type": type_, **limit}}},
                }
            }
            for limit in limits
        )
        assert changes_between({"tools": old}, {"tools": new})


def test_a_comparison_of_two_schemas_ends(monkeypatch):
    """With many alternatives or circles there are millions of differences: one change says so."""
    monkeypatch.setattr(schema_diff, "_MOST_WORK", 40)
    old, new = (
        {
            "tools": {
                "t": {"inputSchema": {"properties": {f"p{n}": {"type": kind} for n in range(50)}}}
            }
        }
        for kind in ("string", "integer")
    )
    [change] = changes_between(old, new)
    assert change.severity == "breaking"
    assert "differs and is not compared: It has too many parts that differ." in change.text


def test_a_comparison_of_many_tools_ends(monkeypatch):
    """What a server makes a reader wait for is bounded for all its tools together."""
    monkeypatch.setattr(schema_diff, "_MOST_IN_ALL", 50)
    tools = []
    for kind in ("string", "integer"):
        schema = {"properties": {f"p{n}": {"type": kind} for n in range(10)}}
        tools.append({f"t{n}": {"inputSchema": schema} for n in range(20)})
    changes = changes_between({"tools": tools[0]}, {"tools": tools[1]})
    assert {change.severity for change in changes} == {"breaking"}
    cut = [c for c in changes if "is not compared: Too many parts" in c.text]
    assert 10 < len(cut) < 20


def test_a_difference_far_into_a_text_is_quoted():
    """However long two texts are alike, the sentence shows where they are not."""
    alike = "Add two numbers. " * 20
    texts = [alike + end for end in ("Then stop.", "Then send the keys.")]
    before, after = (
        Snapshot.of({"tools": {"t": {"name": "t", "description": text}}}) for text in texts
    )
    [change] = before.diff(after)
    assert "Then stop." in change.text
    assert "Then send the keys." in change.text
    assert alike not in change.text
