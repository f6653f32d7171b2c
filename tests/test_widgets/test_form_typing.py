"""What a person does in the browser: typing, picking, changing their mind."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, ClassVar

import ipywidgets as w
import pytest
from patience import PATIENCE

from test_widgets.front import (
    labels,
    named,
    page,
    pick,
    receive,
    type_into,
)
from toolbench import tool
from toolbench.widgets.form import SchemaForm


def _form(value: dict[str, Any] | None = None, /, **properties: Any) -> SchemaForm:
    return SchemaForm({"type": "object", "properties": properties}, value)


class TestText:
    def test_what_is_typed_is_the_value(self):
        """Every key stroke arrives."""
        form = _form(q={"type": "string"})
        values = []
        form.observe(lambda change: values.append(change.new))
        type_into(named(form.widget, "q"), "ab")
        assert values == [{"q": "a"}, {"q": "ab"}]

    def test_an_emptied_box_is_no_value(self):
        """A mistake is undone by deleting it."""
        form = _form(q={"type": "string"})
        box = named(form.widget, "q")
        type_into(box, "oops")
        receive(box, value="")
        assert form.value == {}

    def test_what_is_being_typed_is_never_written_back(self, wire):
        """The kernel changes help and errors around the box, not the text under the cursor."""
        form = _form(n={"type": "integer", "minimum": 5, "description": "how many"})
        box = named(form.widget, "n")
        wire.messages.clear()
        type_into(box, "12x")
        written = [state for comm_id, state in wire.updates() if comm_id == box.model_id]
        assert not any("value" in state for state in written)
        assert box.value == "12x"
        assert "is not an integer" in page(form.widget)

    @pytest.mark.parametrize(
        ("draft", "sentence"),
        [("1.", "'1.' is not an integer."), ("-", "'-' is not an integer.")],
    )
    def test_a_draft_that_is_no_number_stays_and_blocks(self, draft, sentence):
        """`1.` can be typed on the way to `1.5`; until then there is nothing to send."""
        form = _form(n={"type": "integer"})
        box = named(form.widget, "n")
        type_into(box, draft)
        assert box.value == draft
        assert form.errors == [(("n",), sentence)]
        assert form.blocked
        type_into(box, "15")
        assert form.value == {"n": 15}
        assert not form.blocked

    @pytest.mark.parametrize(
        ("kind", "draft", "hinted"),
        [
            ("number", "84,50", True),
            ("number", "-1,5e3", True),
            ("number", "1,2,3", False),
            ("number", "much, really", False),
            ("number", "1e999", False),
            ("integer", "84,50", False),
        ],
    )
    def test_a_decimal_comma_is_told_of_the_point(self, kind, draft, hinted):
        """Only where a point would make it a number of the right kind."""
        form = _form(n={"type": kind})
        type_into(named(form.widget, "n"), draft)
        ((_, sentence),) = form.errors
        assert sentence.startswith(f"{draft!r} is not a")
        assert sentence.endswith("Use a point for decimals.") is hinted

    @pytest.mark.parametrize(("draft", "value"), [(".25", 0.25), ("-.5e1", -5.0), ("2.50", 2.5)])
    def test_a_number_is_read_as_people_write_it(self, draft, value):
        """Without a digit before the point too: alone, in a list, in a union, and as a secret."""
        number, secret = {"type": "number"}, {"type": "number", "format": "password"}
        either = {"anyOf": [number, {"type": "null"}]}
        form = _form(n=number, many={"type": "array", "items": number}, either=either, pin=secret)
        for name in ("n", "many", "either", "pin"):
            type_into(named(form.widget, name), draft)
        assert form.value == {"n": value, "many": [value], "either": value, "pin": value}
        assert form.errors == []

    def test_a_number_out_of_bounds_can_be_sent(self):
        """Nothing is clamped: trying what is invalid is what a workbench is for."""
        form = _form(n={"type": "integer", "maximum": 10})
        type_into(named(form.widget, "n"), "11")
        assert form.value == {"n": 11}
        assert form.errors == [(("n",), "should be at most 10")]
        assert not form.blocked

    def test_the_ghost_says_what_an_empty_box_means(self):
        """A default is shown and not sent; an empty text on purpose looks different."""
        form = _form(q={"type": "string", "default": "all"})
        box = named(form.widget, "q")
        assert box.placeholder == "default: all"
        form.value = {"q": ""}
        assert box.placeholder == "an empty string is sent"
        type_into(box, "x")
        receive(box, value="")
        assert (box.placeholder, form.value) == ("default: all", {})

    def test_an_empty_default_is_written_in_words(self):
        """A person who sees two quotation marks types them."""
        form = _form(q={"type": "string", "default": ""})
        assert named(form.widget, "q").placeholder == "optional"
        kinds = {"type": "array", "items": {"enum": ["a", "b"]}, "default": []}
        assert "[]" not in page(_form(kinds=kinds).widget)

    def test_text_a_box_cannot_show_is_shown_as_json(self):
        """A line break widens the box; a hidden character is spelled out."""
        form = _form(name={"type": "string"})
        assert type(named(form.widget, "name")) is w.Text
        form.value = {"name": "a\nb"}
        assert type(named(form.widget, "name")) is w.Textarea
        form.value = {"name": "a\u202eb"}
        assert named(form.widget, "name").value == '"a\\u202eb"'
        form.value = {"name": "plain"}
        assert type(named(form.widget, "name")) is w.Text


class TestOptional:
    def test_a_default_of_null_says_optional(self):
        """Null as a default says no more than that nothing has to be given."""
        part = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
        assert named(_form(a=part).widget, "a").placeholder == "optional"

    def test_a_group_is_required_with_a_child_that_is(self):
        """The star stands where a person has to give a value, and nowhere else."""
        text = {"type": "string"}
        loose = {"type": "object", "properties": {"a": text}}
        strict = {**loose, "required": ["a"]}
        around = {"type": "object", "properties": {"b": loose}, "required": ["b"]}
        parts = {"loose": loose, "strict": strict, "around": around}
        form = SchemaForm({"type": "object", "properties": parts, "required": [*parts]})
        form.widget  # noqa: B018
        starred = {name: form.slot.child(name).starred for name in parts}
        assert starred == {"loose": False, "strict": True, "around": False}


class TestChoices:
    def test_nothing_is_a_choice(self):
        """An option is picked, and taken back."""
        form = _form(unit={"enum": ["C", "F"], "default": "C"})
        options = named(form.widget, "unit")
        pick(options, "F")
        assert form.value == {"unit": "F"}
        pick(options, "C (default)")
        assert form.value == {}

    def test_labels_tell_values_of_different_types_apart(self):
        """`1`, `"1"`, `true` and `null` are four options."""
        form = _form(x={"enum": [1, "1", True, None]})
        options = named(form.widget, "x")
        for label, value in [("1", 1), ('"1"', "1"), ("true", True), ("null", None)]:
            pick(options, label)
            assert form.value == {"x": value}
            assert type(form.value["x"]) is type(value)

    def test_a_boolean_has_three_states(self):
        """True, false and not sent: all visible, none guessed."""
        form = _form(deep={"type": "boolean", "default": True})
        options = named(form.widget, "deep")
        for label, value in [("no", {"deep": False}), ("yes (default)", {})]:
            pick(options, label)
            assert form.value == value

    @pytest.mark.parametrize("kinds", [("integer", "string"), ("integer", "boolean")])
    def test_of_kinds_the_default_is_named_too(self, kinds):
        """An optional union says what is taken when nothing is sent."""
        parts = {"anyOf": [{"type": kind} for kind in kinds]}
        form = _form(x={**parts, "default": "0.10"}, y=parts)
        assert named(form.widget, "x").options[0][0] == 'default: "0.10"'
        assert named(form.widget, "y").options[0][0] == "not sent"
        assert form.value == {}

    def test_every_digit_of_a_decimal_is_kept(self):
        """One box: a number of JSON, or its text where a number would lose a digit."""
        usual = Decimal("1.10")

        @tool
        def pay(price: Decimal = usual) -> str:
            """Pay."""
            return str(price)

        form = SchemaForm(pay.input_schema, validate=pay.problems)
        box = named(form.widget, "price", w.Text)
        assert box.placeholder == "default: 1.10" and form.value == {}
        for text, value in (
            ("1.1", 1.1),
            ("1.10", "1.10"),
            (".25", 0.25),
            ("-2", -2),
            ("1e3", 1000.0),
            ("123456789012345678.90", "123456789012345678.90"),
        ):
            type_into(box, text)
            assert form.value == {"price": value} and form.errors == []
            assert type(form.value["price"]) is type(value)
        type_into(box, "much")
        assert "Should be a number" in page(form.widget)
        for value in ("1.1", 1.1, "1.10", True, " 5 "):
            form.value = {"price": value}
            assert form.value == {"price": value} and type(form.value["price"]) is type(value)
            assert named(form.widget, "price") is box

    def test_a_value_of_another_type_is_shown_in_its_field(self):
        """As it is, until it is edited: then it is read as the field reads."""
        form = _form(n={"type": "integer"}, t={"type": "string"}, s={"enum": [*range(60)]})
        boxes = [named(form.widget, name) for name in "nts"]
        form.value = {"n": "few", "t": 3, "s": True}
        assert form.value == {"n": "few", "t": 3, "s": True} and not form.blocked
        assert [box.value for box in boxes] == ["few", "3", "true"]
        assert [named(form.widget, name) for name in "nts"] == boxes
        assert {path for path, _ in form.errors} == {("n",), ("s",), ("t",)}
        for box, text in zip(boxes, ("4", "4", "5"), strict=True):
            receive(box, value=text)
        assert form.value == {"n": 4, "t": "4", "s": 5} and form.errors == []

    def test_many_values_are_searched(self):
        """From fifty on, one types a part of the name; what is no name blocks."""
        form = _form(region={"enum": [f"region-{i}" for i in range(50)]})
        box = named(form.widget, "region")
        assert type(box) is w.Combobox
        assert len(box.options) == 50
        type_into(box, "region-4")
        assert form.value == {"region": "region-4"}
        receive(box, value="region-x")
        assert form.value == {}
        assert form.blocked

    def test_titles_name_the_options(self):
        """`oneOf` constants and MCP's `enumNames` show their titles and send their values."""
        form = _form(
            a={"oneOf": [{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]},
            b={"type": "string", "enum": ["p"], "enumNames": ["Pee"]},
        )
        pick(named(form.widget, "a"), "Why")
        pick(named(form.widget, "b"), "Pee")
        assert form.value == {"a": "y", "b": "p"}


class TestShortLists:
    def test_items_are_typed_one_per_line(self):
        """Blank lines are on the way to the next item; without any there is no value."""
        form = _form(tags={"type": "array", "items": {"type": "string"}})
        box = named(form.widget, "tags")
        type_into(box, "a\n\n b c \n")
        assert form.value == {"tags": ["a", "b c"]}
        receive(box, value="")
        assert form.value == {}

    def test_numbers_are_exact(self):
        """`1` is no float, and what is no number blocks."""
        form = _form(ids={"type": "array", "items": {"type": "number"}})
        box = named(form.widget, "ids")
        receive(box, value="1\n2.50\n12345678901234567890")
        assert form.value == {"ids": [1, 2.5, 12345678901234567890]}
        type_into(box, "1\nx")
        assert form.errors == [(("ids",), "'x' is not a number.")]
        assert form.blocked

    def test_the_empty_list_on_purpose_looks_different(self):
        """An untouched list is not sent; `[]` is, when it was set."""
        form = _form(tags={"type": "array", "items": {"type": "string"}})
        box = named(form.widget, "tags")
        assert box.placeholder == "one per line · optional"
        form.value = {"tags": []}
        assert box.placeholder == "an empty list is sent"
        assert form.value == {"tags": []}

    @pytest.mark.parametrize("default", [["a"], []])
    def test_how_to_type_is_said_beside_a_default(self, default):
        """The box of a list says "one per line", whatever its default is."""
        tags = {"type": "array", "items": {"type": "string"}, "default": default}
        box = named(_form(tags=tags).widget, "tags")
        rest = 'default: ["a"]' if default else "optional"
        assert box.placeholder == f"one per line · {rest}"

    def test_commas_between_values_are_asked_about(self):
        """A line that seems to be several values stays one, and the form says so."""
        form = _form(tags={"type": "array", "items": {"type": "string"}})
        box = named(form.widget, "tags")
        type_into(box, "Austen, Melville\nWoolf")
        assert form.value == {"tags": ["Austen, Melville", "Woolf"]}
        assert "“Austen, Melville” is one value" in page(form.widget)

    def test_semicolons_between_values_are_asked_about(self):
        """A semicolon between values counts as a comma does; one at the end does not."""
        form = _form(tags={"type": "array", "items": {"type": "string"}})
        box = named(form.widget, "tags")
        type_into(box, "noir;")
        assert "is one value" not in page(form.widget)
        type_into(box, "noir; 1944")
        assert "“noir; 1944” is one value" in page(form.widget)

    def test_commas_that_nobody_typed_are_not_asked_about(self):
        """What a program or a model put into the form was meant as it is."""
        form = _form(tags={"type": "array", "items": {"type": "string"}})
        form.widget  # noqa: B018
        form.value = {"tags": ["Paris, France"]}
        assert "is one value" not in page(form.widget)

    def test_what_a_line_cannot_hold_becomes_rows(self):
        """Blank and multi-line texts get a field each."""
        form = _form({"t": ["", "a\nb"]}, t={"type": "array", "items": {"type": "string"}})
        assert [type(named(form.widget, f"t, item {n}")) for n in (1, 2)] == [
            w.Text,
            w.Textarea,
        ]
        assert form.value == {"t": ["", "a\nb"]}

    def test_the_default_is_marked_while_nothing_is_sent(self):
        """Marks of the default are no value; without any, the empty list is sent in its place."""
        kinds = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "default": ["a", "b"]}
        form = _form(kinds={**kinds, "anyOf": [{}, {"type": "null"}]})
        marks = named(form.widget, "kinds", w.SelectMultiple)
        assert marks.index == (0, 1) and form.value == {}
        assert "Default: " not in page(form.widget)
        for index, value in (((0,), ["a"]), ((), []), ((0, 1, 2), ["a", "b", "c"])):
            receive(marks, index=list(index))
            assert form.value == {"kinds": value}
            assert ("An empty list is sent." in page(form.widget)) is (value == [])
        receive(marks, index=[0, 1])
        assert form.value == {}
        for value, index in ((["a", "b"], (0, 1)), ([], ()), (None, ()), (["c"], (2,))):
            form.value = {"kinds": value}
            assert form.value == {"kinds": value} and marks.index == index
        form.value = {}
        assert marks.index == (0, 1)

    def test_known_values_are_marked(self):
        """A set of known values is a list to mark; another order, or one twice, is typed."""
        form = _form(t={"type": "array", "items": {"enum": ["a", "b"]}})
        receive(named(form.widget, "t"), index=[0, 1])
        assert form.value == {"t": ["a", "b"]}
        receive(named(form.widget, "t"), index=[])
        assert form.value == {}
        form.value = {"t": ["b", "a", "a"]}
        box = named(form.widget, "t", w.Textarea)
        assert box.value == "b\na\na"
        type_into(box, "a\nc")
        assert form.errors == [(("t",), "'c' is not one of the 2 values.")]


class TestNull:
    _NULLABLE: ClassVar[dict[str, Any]] = {"type": ["integer", "null"]}

    def test_a_required_value_may_be_null(self):
        """There, null is a choice in front of the field."""
        form = SchemaForm(
            {"type": "object", "properties": {"n": self._NULLABLE}, "required": ["n"]}
        )
        switch = named(form.widget, "n", w.RadioButtons)
        assert labels(switch) == ["null", "a value"] and switch.index is None
        assert form.value == {}
        pick(switch, "null")
        assert form.value == {"n": None}
        pick(switch, "a value")
        type_into(named(form.widget, "n", w.Text), "4")
        assert form.value == {"n": 4}

    def test_typing_replaces_null(self):
        """An optional field that holds null shows so, until something is typed."""
        form = _form({"n": None}, n=self._NULLABLE)
        box = named(form.widget, "n")
        assert box.placeholder == "null is sent"
        type_into(box, "4")
        assert form.value == {"n": 4}


class TestThreads:
    def test_edits_may_come_from_many_threads(self):
        """Callbacks run on the main thread or a subshell's: all are counted."""
        form = _form(**{f"f{i}": {"type": "string"} for i in range(8)})
        boxes = [named(form.widget, f"f{i}") for i in range(8)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda box: type_into(box, "x" * 20), boxes))
        assert form.value == {f"f{i}": "x" * 20 for i in range(8)}

    def test_who_is_told_may_take_any_lock(self):
        """Listeners are called when the form's own lock is free again."""
        form = _form(q={"type": "string"})
        with ThreadPoolExecutor(1) as pool:
            form.observe(lambda change: pool.submit(lambda: form.value).result(PATIENCE))
            type_into(named(form.widget, "q"), "a")
        assert form.value == {"q": "a"}
