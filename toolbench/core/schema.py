"""The shapes that go into a tool and come out of it: Schema, Action, Observation."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from inspect import CO_OPTIMIZED
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import CoreSchema
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content, TextContent
from toolbench.core.displayed import Displayed
from toolbench.core.foreign import extended_schema, foreign_model
from toolbench.core.jsonschema import argument_schema
from toolbench.core.kinds import Kinds
from toolbench.core.polymorphism import by_kind
from toolbench.core.secrecy import Secrecy, argument_name
from toolbench.errors import KindError, indefinite

_kinds: Kinds[type["Schema"]] = Kinds("schema")
_OWN = "mcp_arg_"  # put before a field called `kind`, beside the tag of that name
_KINDS = re.compile(f"({_OWN})*kind")  # put again, so that no name is lost


class Schema(Displayed, BaseModel):
    """Frozen data with a JSON Schema that says everything, in both directions.

    Source: OpenHands SDK, `openhands.sdk.tool.schema`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    foreign_schema: ClassVar[dict[str, Any] | None] = None
    """The JSON Schema this class was made from, if it came from elsewhere."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        _kinds.add(cls)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        own = handler(source)  # alone, for the many: nothing slows them down
        return by_kind(cls, own) if cls.__module__ == __name__ else own

    @classmethod
    def to_mcp_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema a caller should follow, as MCP's `inputSchema`.

        Nothing is lost but titles pydantic made up and the `null` of unset optionals.
        """
        foreign = extended_schema(cls)
        return argument_schema(cls) if foreign is None else foreign

    @classmethod
    def from_mcp_schema(cls, name: str, schema: Mapping[str, Any]) -> type[Self]:
        """Return a subclass called *name* that accepts exactly what *schema* accepts.

        Values are kept as they came: `1` stays an integer where a number is asked for. A
        property whose name is no usable attribute gets one with an underscore behind it, and
        keeps its own name in JSON. The class counts as defined in the module of the caller.

        Raises:
            SchemaError: If *schema* is no valid JSON Schema, or refers to another document.
        """
        caller = sys._getframe(1)
        module = caller.f_globals.get("__name__", "__main__")
        where, flags = caller.f_code.co_qualname, caller.f_code.co_flags
        in_function = flags & CO_OPTIMIZED and not where.startswith("<")
        place = f"{where}.<locals>.{name}" if in_function else name
        return foreign_model(cls, name, schema, module=module, place=place)

    def to_arguments(self) -> dict[str, Any]:
        """Return what was given to make this object, JSON-ready, unset fields left out."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_unset=True, fallback=str
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, JSON-ready, and the `kind` by which `from_dict` finds the class."""
        fields = self.to_arguments()
        put = {_OWN + n if _KINDS.fullmatch(n) else n: v for n, v in fields.items()}
        return {"kind": self.kind_of(), **put}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the object that `to_dict` wrote down, of the class its `kind` names.

        Fields that pydantic models declare as Action or Observation do the same by themselves.

        Raises:
            KindError: If the kind is unknown, ambiguous, or no subclass of this class.
        """
        kind = data.get("kind", cls.__name__)
        own = kind in (cls.__name__, cls.kind_of())
        target = cls if own else cls.resolve_kind(kind)
        fields = {
            n.removeprefix(_OWN) if _KINDS.fullmatch(n) else n: value
            for n, value in data.items()
            if n != "kind"
        }
        return target.model_validate(fields)

    @classmethod
    def kind_of(cls) -> str:
        """Return the kind of this class: its name, with the module where others share it."""
        return _kinds.kind_of(cls)

    @classmethod
    def newest(cls) -> type["Schema"]:
        """Return the class defined last under this name at this place, as a re-run cell does."""
        return _kinds.newest(cls)

    @classmethod
    def resolve_kind(cls, kind: str) -> type[Self]:
        """Return the class that goes by *kind*, a bare name or `module.qualname`.

        Raises:
            KindError: If there is none, several modules use the name, or it is no *cls*.
        """
        found = _kinds.resolve(kind)
        if not issubclass(found, cls):
            base = indefinite(found.__mro__[1].__name__)
            msg = f"Kind {kind!r} is {base}, not {indefinite(cls.__name__)}."
            raise KindError(msg)
        return found


class Action(Schema):
    """The arguments of one call. Subclass it with a field for every parameter."""

    @property
    def visualize(self) -> RenderableType:
        """What a person sees of the call, secrets hidden; any Rich renderable."""
        text = Text.assemble(("Action: ", "bold"), type(self).__name__)
        shown, _ = _secrecy_of(type(self)).hide(self.to_arguments())
        for name, value in shown.items():
            text.append(f"\n  {name}: ", style="cyan").append(_brief(value))
        return text

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields, secrets hidden."""
        given = list(super().__repr_args__())
        names = [argument_name(self, field or "") for field, _ in given]
        values = (value for _, value in given)
        shown, _ = _secrecy_of(type(self)).hide(dict(zip(names, values, strict=True)))
        for (field, _), name in zip(given, names, strict=True):
            yield field, shown[name]


_secrecies: WeakKeyDictionary[type[Action], Secrecy] = WeakKeyDictionary()


def _secrecy_of(action_type: type[Action]) -> Secrecy:
    found = _secrecies.get(action_type)
    if found is None:
        try:
            schema = action_type.to_mcp_schema()
        except PydanticInvalidForJsonSchema:  # then names alone say what is secret
            schema = {}
        found = _secrecies[action_type] = Secrecy(schema)
    return found


class Observation(Schema):
    """What came out of one call: content for the model, and fields of the tool's own."""

    ERROR_MESSAGE_HEADER: ClassVar[str] = "[An error occurred during execution.]\n"

    content: list[Content] = []
    is_error: bool = False

    @classmethod
    def from_text(
        cls,
        text: str,
        is_error: bool = False,  # noqa: FBT001, FBT002 - the signature of OpenHands
        **fields: Any,
    ) -> Self:
        """Return an observation whose content is *text*; *fields* are the class's own."""
        return cls(content=[TextContent(text=text)], is_error=is_error, **fields)

    @property
    def text(self) -> str:
        """The text blocks of the content, joined."""
        return "".join(c.text for c in self.content if isinstance(c, TextContent))

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """What the model reads: the content, after a header if the call failed."""
        if self.is_error:
            return [TextContent(text=self.ERROR_MESSAGE_HEADER), *self.content]
        return self.content

    @property
    def visualize(self) -> RenderableType:
        """What a person sees of the result; any Rich renderable."""
        shown = Text()
        if self.is_error:
            shown.append("❌ " + self.ERROR_MESSAGE_HEADER, style="bold red")
        texts = [c.text for c in self.content if isinstance(c, TextContent)]
        shown.append("\n".join(texts) or "[no text content]")
        for aside in self._asides:
            shown.append(f"\n⚠ {aside}", style="yellow")
        return shown

    @property
    def _asides(self) -> Sequence[str]:
        """What a person is told beside the result; no model reads it."""
        return ()


def _brief(value: Any, limit: int = 500) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"
