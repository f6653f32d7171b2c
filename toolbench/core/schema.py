"""The base classes of a tool's input and output: Schema, Action, Observation."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import wraps
from inspect import getattr_static, isfunction
from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, PrivateAttr
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import CoreSchema, from_json, to_json
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.content import Content, TextContent
from toolbench.core.foreign import argument_schema, foreign_model
from toolbench.core.kinds import Kinds, by_kind, untagged
from toolbench.core.result_limit import cut_content
from toolbench.core.secrets import Secret, in_schema
from toolbench.core.validators import read_base64
from toolbench.errors import KindError, RegistrationError, indefinite
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.redaction.values import Hiding
from toolbench.values import argument_name, copied, plain, text_of
from toolbench.wording import CROSS

_kinds: Kinds[type["Schema"]] = Kinds("schema")
# Prefix of a field called `kind`: saved objects use `kind` for their class
_OWN = "mcp_arg_"
# A name that has the prefix gets another one, so that no two names become equal
_KINDS = re.compile(f"({_OWN})*kind")
_SAVED_KIND = re.compile(f"^{_OWN}((?:{_OWN})*)kind$")


class Schema(BaseModel):
    """A frozen pydantic model that can be made from a JSON Schema, and exported as one.

    Source: OpenHands SDK, `openhands.sdk.tool.schema`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    foreign_schema: ClassVar[dict[str, Any] | None] = None
    """The JSON Schema from which this class was made, if any."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for field in cls.model_fields.values():
            if isinstance(field.default, Secret):
                raise in_schema(field.default)
        # A reader would get the method
        for view in ("visualize", "to_llm_content"):
            if callable(getattr_static(cls, view, None)):
                msg = f"{cls.__name__}.{view} must be a property: put @property above `def {view}`."
                raise RegistrationError(msg)
        parent: Any = cls.__mro__[1]
        is_made = "foreign_schema" in vars(cls) or cls.foreign_schema is None
        if not is_made and cls.model_fields.keys() != parent.model_fields.keys():
            base = parent.__name__
            msg = f"{cls.__name__} adds a field to {base}: put it into the JSON Schema of {base}."
            raise RegistrationError(msg)
        _kinds.add(cls)

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        super().__pydantic_on_complete__()
        read_base64(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        own = handler(source)
        # Enough for most classes, and fast
        if cls.__module__ == __name__:
            return by_kind(cls, own)
        return own

    @classmethod
    def to_mcp_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the class for callers, in the form of MCP's `inputSchema`.

        It is pydantic's schema without the titles that pydantic invents, and without `null` as a
        value of optional fields. A class from `from_mcp_schema` returns its original schema.
        """
        if cls.foreign_schema is None:
            return argument_schema(cls)
        foreign: dict[str, Any] = copied(cls.foreign_schema)
        return foreign

    @classmethod
    def from_mcp_schema(cls, name: str, schema: Mapping[str, Any]) -> type[Self]:
        """Return a subclass called *name* that accepts exactly what *schema* accepts.

        Values are not converted: `1` stays an integer if the schema says number. A property
        whose name cannot be an attribute gets a similar attribute, such as `class_` or `a_b`, but
        keeps its name in JSON. The `__module__` of the class is the module of the caller.

        Raises:
            SchemaError: If *schema* is not a valid JSON Schema, or refers to another document.

        Examples:
            >>> from toolbench import Schema
            >>> schema = {"type": "object", "properties": {"class": {"type": "string"}}}
            >>> Seat = Schema.from_mcp_schema("Seat", schema)
            >>> seat = Seat.model_validate({"class": "business"})
            >>> seat.class_, seat.to_arguments()
            ('business', {'class': 'business'})
            >>> Seat.to_mcp_schema() == schema
            True
        """
        caller = sys._getframe(1)
        module = caller.f_globals.get("__name__", "__main__")
        where, place = caller.f_code.co_qualname, name
        # Not `<module>`: a function, which may make many
        if not where.startswith("<"):
            place = f"{where}.<locals>.{name}"
        return foreign_model(cls, name, schema, module=module, place=place)

    def to_arguments(self) -> dict[str, Any]:
        """Return the fields that were set, as values that JSON can express."""
        return self._dumped(exclude_unset=True)

    def _dumped(self, *, exclude_unset: bool) -> dict[str, Any]:
        try:
            return self.model_dump(
                mode="json", by_alias=True, exclude_unset=exclude_unset, fallback=str
            )
        except Exception:  # noqa: BLE001 - values may be anything: loops, keys, and their str()
            fields = {}
            for name, value in self:
                if not exclude_unset or name in self.model_fields_set:
                    fields[argument_name(self, name)] = plain(value)
            return fields

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that were set, JSON-ready, with the class name under the key `kind`.

        Examples:
            >>> from toolbench import Action
            >>> class Search(Action):
            ...     query: str
            ...     limit: int = 10
            >>> saved = Search(query="emma").to_dict()
            >>> saved
            {'kind': 'Search', 'query': 'emma'}
            >>> Action.from_dict(saved)
            Search(query='emma', limit=10)
        """
        saved = {"kind": self.kind_of()}
        for name, value in self.to_arguments().items():
            prefix = _OWN if _KINDS.fullmatch(name) else ""
            saved[prefix + name] = value
        return saved

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the object that `to_dict` saved as *data*.

        The key `kind` of *data* names the class of the object. Pydantic loads fields that are
        declared as Action or Observation in the same way.

        Raises:
            KindError: If the kind is unknown, ambiguous, or not a subclass of this class.
        """
        kind = data.get("kind", cls.__name__)
        target = cls
        if kind not in (cls.__name__, cls.kind_of()):
            target = cls.resolve_kind(kind)
        fields = {_SAVED_KIND.sub(r"\1kind", n): v for n, v in data.items() if n != "kind"}
        return target.model_validate(fields)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Validate *obj* as pydantic does; a dict may have the key `kind` from `to_dict`."""
        if options or not isinstance(obj, dict) or "kind" in obj:
            return super().model_validate(untagged(cls, obj), **options)
        # Quick: every call
        model: Self = cls.__pydantic_validator__.validate_python(obj)
        return model

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Validate JSON as pydantic does; the object may have the key `kind` from `to_dict`."""
        # pydantic says what is wrong if it is not JSON
        with suppress(ValueError):
            value = from_json(json_data)
            bare = untagged(cls, value)
            if bare is not value:
                json_data = to_json(bare, inf_nan_mode="constants")
        return super().model_validate_json(json_data, **options)

    if TYPE_CHECKING:

        @property
        def kind(self) -> str:
            """The name of the class; if the class has a field called `kind`, the field's value."""

    def __getattr__(self, name: str) -> Any:
        # called for missing attributes only; a property would hide a field called `kind`
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # hidden by pydantic
        except AttributeError:
            if name == "kind":
                return type(self).__name__
            raise

    @classmethod
    def kind_of(cls) -> str:
        """Return the kind of this class: its name, or `module.name` if the name is not unique."""
        return _kinds.kind_of(cls)

    @classmethod
    def newest(cls) -> type["Schema"]:
        """Return the newest definition of this class, because a cell may have redefined it."""
        return _kinds.newest(cls)

    @classmethod
    def resolve_kind(cls, kind: str) -> type[Self]:
        """Return the class of this *kind*, which is a class name or `module.qualname`.

        Raises:
            KindError: If no subclass of this class has this kind, or several modules use the name.
        """
        model_class = _kinds.resolve(kind)
        if not issubclass(model_class, cls):
            base = indefinite(model_class.__mro__[1].__name__)
            msg = f"Kind {kind!r} is {base}, not {indefinite(cls.__name__)}."
            raise KindError(msg)
        return model_class

    def __repr_str__(self, join_str: str) -> str:
        try:
            return super().__repr_str__(join_str)  # type: ignore[misc]  # as pydantic has it
        except Exception:  # noqa: BLE001 - the repr of a value may be a user's code
            return join_str.join(f"{n}={text_of(value)}" for n, value in self.__repr_args__())


class Action(Schema):
    """The arguments of one call. Subclass it with a field for every parameter."""

    # pydantic quotes both ends of a long value, which may be a secret; `errors()` has it whole
    model_config = ConfigDict(hide_input_in_errors=True)

    _lists_arguments: ClassVar[bool] = True
    """Whether `visualize`, as this class defines it, only lists the arguments."""

    @property
    def visualize(self) -> RenderableType:
        """The call as the user sees it: a Rich renderable in which secrets are masked.

        Examples:
            >>> from pydantic import Field
            >>> from rich import print
            >>> from toolbench import Action
            >>> class SplitBill(Action):
            ...     total: float = Field(gt=0, description="The whole bill, in euros.")
            ...     people: int = 2
            >>> print(SplitBill(total=84).visualize)
            Action: SplitBill
              total: 84.0
        """
        text = Text.assemble(("Action: ", "bold"), type(self).__name__)
        masked, _ = _secrecy_of(type(self)).hide(self.to_arguments())
        for name, value in masked.items():
            text.append(f"\n  {name}: ", style="cyan").append(_brief(value))
        return text

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str]:
        """Return the view of the call in a notebook."""
        from toolbench.display.objects import action_bundle  # noqa: PLC0415 - imports this module

        return action_bundle(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the fields for the repr, with each secret masked."""
        pairs = list(super().__repr_args__())
        names = [argument_name(self, field or "") for field, _ in pairs]
        values = (value for _, value in pairs)
        masked, _ = _secrecy_of(type(self)).hide(dict(zip(names, values, strict=True)))
        for (field, _), name in zip(pairs, names, strict=True):
            yield field, masked[name]


_secrecies: WeakKeyDictionary[type[Action], Secrecy] = WeakKeyDictionary()


def _secrecy_of(action_type: type[Action]) -> Secrecy:
    secrecy = _secrecies.get(action_type)
    if secrecy is None:
        try:
            schema = action_type.to_mcp_schema()
        except PydanticInvalidForJsonSchema:
            # Then only the names show which fields are secret
            schema = {}
        secrecy = _secrecies[action_type] = Secrecy(schema)
    return secrecy


NOTHING_HIDDEN = Hiding(NO_SECRETS)


def _cut_for_model(read: Callable[[Any], Sequence[Content]]) -> Callable[[Any], Sequence[Content]]:
    """Wrap *read*, the getter of a `to_llm_content`, so that it cuts to the limit of the tool."""

    @wraps(read)
    def limited(observation: "Observation") -> Sequence[Content]:
        blocks = read(observation)
        most = observation._max_tokens
        if most is None or _is_read_whole(observation):
            return blocks
        # It was called by that of a subclass, which adds to it
        if getattr(type(observation).to_llm_content, "fget", None) is not limited:
            return blocks
        return cut_content(blocks, most)

    return limited


class Observation(Schema):
    """The result of one call: content for the model, and the tool's own fields."""

    ERROR_MESSAGE_HEADER: ClassVar[str] = "[An error occurred during execution.]\n"

    content: list[Content] = []
    is_error: bool = False
    # A default would be copied for each observation
    _hiding: Hiding = PrivateAttr(default_factory=lambda: NOTHING_HIDDEN)
    _max_tokens: int | None = PrivateAttr(default=None)
    """The most tokens of the observation that a model sees: `max_result_tokens` of its tool."""

    @classmethod
    def from_text(
        cls,
        text: str,
        is_error: bool = False,  # noqa: FBT001, FBT002 - the signature of OpenHands
        **fields: Any,
    ) -> Self:
        """Return an observation with *text* as its content; *fields* are other fields of the class.

        Examples:
            >>> from toolbench import Observation
            >>> class Forecast(Observation):
            ...     celsius: float
            >>> forecast = Forecast.from_text("Sunny, 21 °C", celsius=21)
            >>> forecast.text, forecast.celsius
            ('Sunny, 21 °C', 21.0)
            >>> Observation.from_text("No such city: Pariss", is_error=True).is_error
            True
        """
        return cls(content=[TextContent(text=text)], is_error=is_error, **fields)

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str]:
        """Return the view of the result in a notebook."""
        from toolbench.display.live_results import (  # noqa: PLC0415 - imports this module
            observation_bundle,
        )

        return observation_bundle(self)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the fields for the repr, with each secret of the run masked."""
        redactor = redactor_of(self)
        for name, value in super().__repr_args__():
            yield name, redactor.value(value)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name, show in list(vars(cls).items()):
            if name in _MIME_TYPES and isfunction(show):
                setattr(cls, name, _without_secrets(show, _MIME_TYPES[name]))
        read = vars(cls).get("to_llm_content")
        if isinstance(read, property) and read.fget is not None:
            setattr(cls, "to_llm_content", property(_cut_for_model(read.fget)))  # noqa: B010

    @property
    def text(self) -> str:
        """The text blocks of the content, joined. They do not include the header of a failed call.

        If the content is empty and the class overrides `to_llm_content`, the text blocks are taken
        from `to_llm_content`.
        """
        return _texts(self.content or _own_content(self))

    @property
    @_cut_for_model
    def to_llm_content(self) -> Sequence[Content]:
        """The content for the model; if the call failed, it begins with `ERROR_MESSAGE_HEADER`.

        If the tool has `max_result_tokens`, longer content is cut, and its last line says so. A
        subclass may override this property with its own list of blocks. For an error, it should
        return `super().to_llm_content`.
        """
        if self.is_error:
            return [TextContent(text=self.ERROR_MESSAGE_HEADER), *self.content]
        return self.content

    def to_mcp_result(self) -> dict[str, Any]:
        """Return the observation as a server's answer to `tools/call`, JSON-ready.

        Examples:
            >>> from toolbench import Observation
            >>> Observation.from_text("Out of stock", is_error=True).to_mcp_result()
            {'content': [{'type': 'text', 'text': 'Out of stock'}], 'isError': True}
        """
        blocks = [block for item in self.content for block in item.to_mcp_blocks()]
        result = {"content": blocks, "isError": self.is_error}
        if not self.is_error:
            structured = self._structured()
            if structured is not None:
                result["structuredContent"] = structured
        return result

    def _structured(self) -> dict[str, Any] | None:
        """Return the fields as a JSON object; None if all of them are fields of Observation."""
        if type(self).model_fields.keys() == Observation.model_fields.keys():
            return None
        return self._dumped(exclude_unset=False)

    @property
    def visualize(self) -> RenderableType:
        """The result as the user sees it: any Rich renderable.

        A Rich `Table` becomes an HTML table, and a `Panel` becomes a box, even inside a `Group`.
        Any other renderable looks as it does in a terminal. A subclass may override this property.
        For an error, it should return `super().visualize`. If the view of an error does not contain
        the error's text, the panel shows a note.
        """
        view, hide = Text(), redactor_of(self).text
        if self.is_error:
            view.append(f"{CROSS} {self.ERROR_MESSAGE_HEADER}", style="bold red")
        texts = [c.text for c in self._person_content if isinstance(c, TextContent)]
        view.append(hide("\n".join(texts)) or "[no text content]")
        for aside in self._asides:
            view.append(f"\nWarning: {hide(aside)}", style="yellow")
        return view

    @property
    def _person_content(self) -> Sequence[Content]:
        """The content for people: all content, except what the tool marks as only for the model.

        If the content is empty, this is the class's own `to_llm_content`, if the class defines one.
        """
        return self.content or _own_content(self)

    @property
    def _asides(self) -> Sequence[str]:
        """Remarks about the result that are shown to the user and not sent to the model."""
        return ()

    @property
    def _is_as_declared(self) -> bool:
        """Whether the result fits the tool's output schema; only a server's result can break it."""
        return True

    @property
    def _unread_data(self) -> Any:
        """The data of the result if the text for people does not contain it; otherwise None."""
        return None


def redactor_of(observation: Observation) -> Redactor:
    """Return the redactor that masks secrets in views of *observation*; it may have no secrets."""
    redactor: Redactor | None = observation._hiding.redactor
    # It comes from another process
    if redactor is None:
        return remembered.redactor
    return redactor


def hide_in_views(observation: Observation, redactor: Redactor) -> None:
    """Mask the secrets of *redactor* in every view of *observation* and of its copies."""
    if redactor:
        secrets = redactor_of(observation).secrets
        observation._hiding = Hiding(redactor.including(secrets))


_MIME_TYPES = {
    "_repr_mimebundle_": "",
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}
"""IPython's display methods, with the mime type that each returns; empty for a mime bundle."""


def _without_secrets(show: Callable[..., Any], mime_type: str) -> Callable[..., Any]:
    """Wrap *show*, a display method of an observation class, to mask the observation's secrets.

    Args:
        show: The method; like IPython's, it returns data, or data and metadata.
        mime_type: The mime type of the data; empty for a mime bundle.
    """

    @wraps(show)
    def shown(observation: Observation, *args: Any, **options: Any) -> Any:
        redactor = redactor_of(observation)
        view = show(observation, *args, **options)
        data, metadata = view, None
        if isinstance(view, tuple) and len(view) == 2:
            data, metadata = view
        if mime_type:
            data = redactor.bundle({mime_type: data})[mime_type]
        elif isinstance(data, Mapping):
            data = redactor.bundle(data)
        if isinstance(view, tuple):
            return data, redactor.value(metadata)
        return data

    return shown


_read_now: ContextVar[tuple[Observation, ...]] = ContextVar("toolbench_read", default=())
"""The observations whose `to_llm_content` is running, because it may read `text` itself."""


def _own_content(observation: Observation) -> Sequence[Any]:
    """Return the content for a model that the class of *observation* itself defines.

    It does not have the header of an error.

    The result is empty if the class does not define its own content.
    """
    is_own = type(observation).to_llm_content is not Observation.to_llm_content
    if not is_own or _is_read_whole(observation):
        return []
    token = _read_now.set((*_read_now.get(), observation))
    try:
        header = TextContent(text=observation.ERROR_MESSAGE_HEADER)
        return [block for block in observation.to_llm_content if block != header]
    except Exception:  # noqa: BLE001 - a tool's own code; the card for the model shows the error
        return []
    finally:
        _read_now.reset(token)


def _is_read_whole(observation: Observation) -> bool:
    """Tell whether `to_llm_content` is being read for the user, who gets the uncut content."""
    return any(other is observation for other in _read_now.get())


def _texts(blocks: Sequence[Any]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def _brief(value: Any, limit: int = 500) -> str:
    text = value if isinstance(value, str) else text_of(value)
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"
