import json
from collections.abc import Callable
from io import StringIO
from typing import Generic, TypeVar

import pytest
from pydantic import BaseModel, Field, SecretStr, ValidationError
from rich.console import Console

from toolbench import Action, ImageContent, Observation, Schema, TextContent
from toolbench.core.builtins import FinishAction, ThinkObservation
from toolbench.errors import KindError
from toolbench.wording import CROSS

T = TypeVar("T")


class MoveAction(Action):
    to: str
    speed: float = 1.0


class MovedObservation(Observation):
    where: str = ""


class BoxAction(Action, Generic[T]):
    inner: T


class TaggedAction(Action):
    kind: str
    mcp: int = 0


def plain_text(renderable):
    console = Console(width=60, file=StringIO())
    console.print(renderable)
    return console.file.getvalue()


class TestSchemas:
    def test_are_frozen(self):
        """An action does not change under the hands of who holds it."""
        with pytest.raises(ValidationError, match=r"frozen"):
            MoveAction(to="a").to = "b"

    @pytest.mark.parametrize("cls", [MoveAction, MovedObservation, Observation])
    def test_take_their_fields_only(self, cls):
        """A field nobody declared is refused."""
        with pytest.raises(ValidationError, match=r"extra_forbidden"):
            cls.model_validate({"to": "a", "unheard": 1})

    def test_may_have_fields_called_model_something(self):
        """Names that pydantic protects are nobody's business here: no warning."""

        class ModelAction(Action):
            model_name: str
            model_dump_it: bool = False

        assert ModelAction(model_name="x").to_arguments() == {"model_name": "x"}


class TestArguments:
    def test_are_what_was_given(self):
        """Unset fields are left out; what is left makes the same action again."""
        action = MoveAction(to="a")
        assert action.to_arguments() == {"to": "a"}
        assert MoveAction.model_validate(action.to_arguments()) == action

    def test_are_json_whatever_was_given(self):
        """An object JSON does not know is written as its text."""
        assert json.dumps(BoxAction(inner=Console).to_arguments())

    def test_never_tell_a_secret(self):
        """A SecretStr is stars wherever the action is written."""

        class LoginAction(Action):
            password: SecretStr

        action = LoginAction(password="hunter2")
        assert "hunter2" not in repr(action) + json.dumps(action.to_dict())

    def test_of_a_value_that_contains_itself_are_written_too(self):
        """Each field by itself: the others stay as they are."""
        loop: list = []
        loop.append(loop)
        arguments = BoxAction[list](inner=loop).to_arguments()
        assert list(arguments) == ["inner"]
        assert json.loads(json.dumps(arguments)) == arguments


class TestKinds:
    @pytest.mark.parametrize(
        "thing",
        [
            MoveAction(to="a", speed=2),
            MovedObservation.from_text("done", where="b"),
            FinishAction(message="m"),
            ThinkObservation(),
            BoxAction[int](inner=1),
            TaggedAction(kind="mine"),
            Observation.from_text("plain"),
            Observation(content=[ImageContent(image_urls=["data:,"])]),
        ],
        ids=repr,
    )
    def test_whatever_is_written_down_is_read_again(self, thing):
        """`from_dict(to_dict(x)) == x`, through JSON, for whoever asks any base class."""
        written = json.loads(json.dumps(thing.to_dict()))
        assert Schema.from_dict(written) == thing
        assert type(thing).from_dict(written) == thing

    @pytest.mark.parametrize("tag", ["MoveAction", f"{__name__}.MoveAction"])
    def test_load_through_pydantic_too(self, tag):
        """The class itself takes what `to_dict` wrote, `kind` included, from Python and JSON."""
        written = {"kind": tag, "to": "a"}
        assert MoveAction.model_validate(written) == MoveAction(to="a")
        text = json.dumps(written)
        assert MoveAction.model_validate_json(text) == MoveAction(to="a")
        assert MoveAction.model_validate_json(text.encode()) == MoveAction(to="a")

    @pytest.mark.parametrize("tag", ["MovedObservation", "Nowhere", 3, None])
    def test_refuse_another_kind(self, tag):
        """A class is loaded from its own kind only."""
        for load, written in (
            (MoveAction.model_validate, {"kind": tag, "to": "a"}),
            (MoveAction.model_validate_json, json.dumps({"kind": tag, "to": "a"})),
        ):
            with pytest.raises(ValidationError, match="kind"):
                load(written)

    def test_know_their_kind(self):
        """`.kind` is the name of the class, but where a field of that name says otherwise."""
        assert MoveAction(to="a").kind == "MoveAction"
        assert MovedObservation(where="b").kind == "MovedObservation"
        assert TaggedAction(kind="mine").kind == "mine"
        with pytest.raises(AttributeError, match="no attribute 'kin'"):
            MoveAction(to="a").kin  # noqa: B018 - to see that it raises

    def test_leave_a_field_called_kind_alone(self):
        """The tag moves the field aside, and back."""
        written = TaggedAction(kind="mine").to_dict()
        assert written == {"kind": "TaggedAction", "mcp_arg_kind": "mine"}
        assert Action.from_dict(written).kind == "mine"
        data = {"kind": "TaggedAction"}
        assert TaggedAction.model_validate(data).kind == "TaggedAction"

    def test_classes_defined_in_functions_are_fine(self):
        """A local class is as good as any other."""

        class InsideAction(Action):
            a: int

        assert Action.from_dict({"kind": "InsideAction", "a": 1}) == InsideAction(a=1)

    def test_unknown_ones_are_errors(self):
        """There is no falling back to another class."""
        with pytest.raises(KindError, match=r"'MoveActon'. Did you mean 'MoveAction'"):
            Action.from_dict({"kind": "MoveActon"})


class Step(BaseModel):
    action: Action
    observation: Observation
    more: list[Observation] = []


class TestFields:
    """A pydantic model may declare Action or Observation and hold any of them."""

    STEP = Step(
        action=MoveAction(to="a"),
        observation=MovedObservation.from_text("done", where="b"),
        more=[Observation.from_text("plain"), MovedObservation(where="c")],
    )

    def test_lose_nothing_of_subclasses(self):
        """Dumping and loading keeps the class and every field."""
        assert Step.model_validate_json(self.STEP.model_dump_json()) == self.STEP
        assert Step.model_validate(self.STEP.model_dump()) == self.STEP

    def test_say_the_kind(self):
        """What is written of a subclass names it; the declared class needs no name."""
        written = self.STEP.model_dump()
        assert written["action"] == {"kind": "MoveAction", "to": "a"}
        assert "kind" not in written["more"][0]

    def test_report_unknown_kinds_as_pydantic_does(self):
        """A kind nobody knows is a validation error at its place."""
        written = {**self.STEP.model_dump(), "action": {"kind": "Nowhere"}}
        with pytest.raises(ValidationError, match=r"No schema of kind 'Nowhere'"):
            Step.model_validate(written)

    def test_refuse_the_wrong_family(self):
        """An observation is no action."""
        written = {**self.STEP.model_dump(), "action": {"kind": "MovedObservation"}}
        with pytest.raises(ValidationError, match=r"not an Action"):
            Step.model_validate(written)


class TestObservations:
    def test_from_text_is_one_block(self):
        """The usual observation: a text, and whether it failed."""
        observation = MovedObservation.from_text("gone", is_error=True, where="x")
        assert observation.content == [TextContent(text="gone")]
        assert (observation.is_error, observation.where) == (True, "x")

    def test_text_is_the_text_of_all_blocks(self):
        """Images have none."""
        blocks = [
            TextContent(text="a"),
            ImageContent(image_urls=["u"]),
            TextContent(text="b"),
        ]
        assert Observation(content=blocks).text == "ab"

    def test_text_without_content_is_what_the_class_gives_a_model(self):
        """A class with fields of its own, as OpenHands writes them, has no content; its text is not empty."""

        class Count(Observation):
            lines: int

            @property
            def to_llm_content(self):
                return [
                    *super().to_llm_content,
                    TextContent(text=f"{self.lines} lines"),
                ]

        assert Count(lines=2).text == "2 lines"
        assert Count(lines=2, is_error=True).text == "2 lines"
        assert Count.from_text("no file", lines=0).text == "no file"

    def test_text_is_empty_where_what_a_model_gets_needs_it(self):
        """`to_llm_content` may read `text`, and may raise an error: neither is an error of `text`."""

        class Quoting(Observation):
            @property
            def to_llm_content(self):
                return [TextContent(text=f"<{self.text}>")]

        class Broken(Observation):
            @property
            def to_llm_content(self):
                raise ValueError

        assert Quoting().text == "<>"
        assert Quoting.from_text("a").text == "a"
        assert Broken().text == ""

    def test_a_model_reads_a_header_first_if_it_failed(self):
        """The header is the reference's, word for word."""
        failed = Observation.from_text("why", is_error=True)
        assert [c.text for c in failed.to_llm_content] == [
            "[An error occurred during execution.]\n",
            "why",
        ]
        assert Observation.from_text("x").to_llm_content == [TextContent(text="x")]

    def test_a_person_sees_the_same(self):
        """The text, a cross if it failed, and a word where there is no text."""
        view = plain_text(Observation.from_text("w", is_error=True).visualize)
        assert view.startswith(f"{CROSS} [An error occurred")
        # What every font has; without an emoji font, one is a box
        view.encode("cp1252")
        assert plain_text(Observation.from_text("fine").visualize) == "fine\n"
        assert plain_text(Observation().visualize) == "[no text content]\n"

    def test_text_is_no_markup(self):
        """Square brackets are square brackets."""
        assert plain_text(Observation.from_text("[red]x[/red]").visualize) == "[red]x[/red]\n"


class TestVisualize:
    def test_shows_the_arguments(self):
        """A person sees the name and what was given."""
        assert plain_text(MoveAction(to="[b]a").visualize) == "Action: MoveAction\n  to: [b]a\n"

    def test_hides_what_is_secret_by_name_or_schema(self):
        """What a name or a format calls secret is not shown, inside lists neither."""

        class KeyAction(Action):
            api_key: str
            code: str = Field(json_schema_extra={"format": "password"})
            nested: list[dict[str, str]] = Field([])

        text = plain_text(KeyAction(api_key="k-1", code="c-2", nested=[{"token": "t-3"}]).visualize)
        assert not any(secret in text for secret in ("k-1", "c-2", "t-3"))

    def test_a_repr_hides_the_same(self):
        """A log or a cell that shows the object shows no secret; all else as it is."""

        class Login(BaseModel):
            password: str
            user: str = "ada"

        class LoginAction(Action):
            login: Login
            token_: str = Field(alias="token")
            to: tuple[int, ...] = (1,)
            secret: SecretStr | None = None
            anything: object = None

        action = LoginAction(login=Login(password="p-1"), token="t-2", secret="s-3")
        assert repr(action) == (
            "LoginAction(login={'password': '<secret-hidden>', 'user': 'ada'}, token_='<secret-hidden>', "
            "to=(1,), secret='<secret-hidden>', anything=None)"
        )
        assert not any(secret in str(action) for secret in ("p-1", "t-2", "s-3"))

    def test_a_repr_needs_no_schema(self):
        """What JSON cannot describe still says what it holds."""

        class BackAction(Action):
            back: Callable[[], None] = print
            password: str = ""

        text = repr(BackAction(password="p-1"))
        assert text == "BackAction(back=<built-in function print>, password='<secret-hidden>')"

    def test_cuts_what_is_long(self):
        """A megabyte of argument is a line and a number."""
        text = plain_text(MoveAction(to="x" * 1_000_000).visualize)
        assert len(text) < 1_000
        assert "(1,000,000 characters)" in text.replace("\n", "")


class TestContent:
    def test_is_written_for_models_as_openai_has_it(self):
        """Text is a part, and so is every image."""
        assert TextContent(text="a").to_llm_dict() == [{"type": "text", "text": "a"}]
        assert ImageContent(image_urls=["u", "v"]).to_llm_dict() == [
            {"type": "image_url", "image_url": {"url": "u"}},
            {"type": "image_url", "image_url": {"url": "v"}},
        ]
