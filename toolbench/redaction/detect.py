"""Find the secrets in a value: by its schema, its names, its types, and the shapes of known keys."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import unquote_plus

from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr

from toolbench.jsonschema.types import Json, Schema, types_of_value
from toolbench.jsonschema.walk import (
    CASES,
    DEPENDENT,
    REFERENCES,
    TOGETHER,
    every,
    flat,
    mapping,
    rewritten,
    sequence,
    types_of,
)
from toolbench.redaction import MARK
from toolbench.redaction.matching.credential_parts import SCHEMES, parts
from toolbench.redaction.names import (
    is_misspelt,
    is_secret_argument,
    is_secret_number,
    is_secret_setting,
    name_at,
    name_in_map,
)
from toolbench.redaction.redactor import SHORTEST_SETTING, Redactor
from toolbench.values import every_part, key_text
from toolbench.values import parts as parts_of

IsSecret = Callable[[str, str], bool]
"""Tells by a name and its value whether the value is a secret."""

_NAME_AND_VALUE = re.compile(r"(?P<name>-*\w[\w.-]*)(\s*=|:\s)\s*(?P<value>.+)", re.S)
_URL = re.compile(r"(?P<scheme>[A-Za-z][\w+.:-]{0,40})://((?P<user>[^/?#\s]*)@)?")
_QUERY = re.compile(r"[?&#;](?P<name>[^=&#;]+)=(?P<value>[^&#\s]*)")
_BEGINNING = re.compile(r"\s*-*[A-Za-z][\w.-]*\s*[=:]")
_LINE = re.compile(r"\s*-*(?P<name>[A-Za-z][\w.-]*)(\s*=\s*|:\s*)(?P<value>\S.*?)\s*")
_PLACEHOLDER = re.compile(r"[\"']?(\$\{|\$\(|\{\{|<)")
# Characters: in an address, `key=PROJ-17` and `ada@` are not secrets
_LONG = 16
_HEADER = re.compile(r"-H|--?([\w-]+-)?headers?")
# Of settings such as `AUTH`: words that are in all JSON, and the ways to authenticate
_SWITCHES = SCHEMES | {"true", "false", "null", "none"}


def secrets_in(
    value: Any, name: str = "", is_secret: IsSecret = is_secret_setting
) -> Iterator[str]:
    """Yield the secrets in *value*, JSON data whose name is *name*.

    A text with the name of a secret is a secret. In `Bearer x`, the `x` alone is a secret too. In
    any text, the password or token of a URL is a secret, and so is the value after the name of a
    secret: in `name=value`, `Name: value`, a parameter of a URL, or a member of a JSON object.
    *is_secret* tells by a name and its value whether the value is a secret.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets_in(item, str(key), is_secret)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, name, is_secret)
    elif isinstance(value, str):
        if is_secret(name, value):
            yield from parts(value, name)
        yield from _in_text(value, is_secret)


def secrets_in_words(
    words: Iterable[str], is_secret: IsSecret = is_secret_setting
) -> Iterator[tuple[str, list[str]]]:
    """Yield each of *words*, a command line, with the secrets in the word, as in `--api-key VALUE`."""
    option = ""
    for word in words:
        text = word.replace(":", ": ", 1) if _HEADER.fullmatch(option) else word
        name = "" if word.startswith("--") else option
        yield word, list(secrets_in(text, name, is_secret))
        option = word if word.startswith("-") else ""


def is_short_secret(name: str, value: str) -> bool:
    """Tell whether *value*, with the name *name* in the settings of a server, is a secret if it is short.

    A switch such as `AUTH=none` is none, and neither is what a weaker name has, such as `SORT_KEY=name`.
    """
    return is_secret_argument(name) and value.lower() not in _SWITCHES


def may_hold_secret(text: str) -> bool:
    """Tell quickly whether `secrets_in_argument` may find something in *text*."""
    return "://" in text or bool(_BEGINNING.match(text))


def secrets_in_argument(text: str) -> Iterator[str]:
    """Yield the secrets in *text*, an argument whose own name is not the name of a secret.

    They are the password and tokens of a URL, and the value in `NAME=value` or `Name: value`, if
    this is the whole text and NAME means a secret. Sentences and program code also have such names
    inside: `secrets_in`, which searches inside texts, would hide values there that are not secret.
    """
    yield from _in_urls(text, _is_secret_parameter, shortest_user=_LONG)
    line = _LINE.fullmatch(text)
    if line is None or not is_secret_argument(line["name"]):
        return
    value, name = line["value"], line["name"]
    scheme, *credentials = value.split()
    is_one = not credentials or scheme.lower() in SCHEMES or "cookie" in name.lower()
    if is_one and not _PLACEHOLDER.match(value):
        yield from parts(value, name)


def _is_secret_parameter(name: str, value: str) -> bool:
    is_long = len(value) >= _LONG
    return is_secret_argument(name) or (is_long and is_secret_setting(name, value))


def _in_text(text: str, is_secret: IsSecret) -> Iterator[str]:
    yield from _in_urls(text, is_secret)
    if text.lstrip().startswith(("{", "[")):
        yield from _in_json(text, is_secret)
    elif pair := _NAME_AND_VALUE.fullmatch(text):
        yield from secrets_in(pair["value"], pair["name"], is_secret)


def _in_urls(text: str, is_secret: IsSecret, *, shortest_user: int = 1) -> Iterator[str]:
    urls = list(_URL.finditer(text))
    raw = [m["value"] for m in _QUERY.finditer(text) if is_secret(*m.groups())]
    for url in urls:
        user, _, password = (url["user"] or "").partition(":")
        is_web = url["scheme"].endswith(("http", "https"))
        # without a password, it is a token for a web server, but only a user for a database
        if is_web and password in ("", "x-oauth-basic"):
            raw.append(user if len(user) >= shortest_user else "")
        else:
            raw.append(password)
    for value in filter(None, raw if urls else ()):
        yield from (value, unquote_plus(value))


def _in_json(text: str, is_secret: IsSecret) -> Iterator[str]:
    try:
        yield from secrets_in(json.loads(text), "", is_secret)
    except (ValueError, RecursionError):
        # It is not JSON
        return


# The prefixes that the issuers document, each with the least number of characters of such a key.
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_-])("
    r"sk-(ant-|proj-|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}"
    r"|gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{50,}"
    r"|(AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{20,}|[sr]k_(live|test)_[A-Za-z0-9]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r")(?![A-Za-z0-9])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*"
)


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys and tokens in *text* that are known by their shape."""
    yield from (match[0] for match in _SHAPES.finditer(text))


_WRAPPERS = {*REFERENCES, *TOGETHER, *CASES, *DEPENDENT}
_OBJECTS = {
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
}
_NUMBERS = frozenset({"integer", "number"})
_REST = ("additionalItems", "unevaluatedItems")
_ARRAYS = {"items", "prefixItems", "contains", *_REST}
_HOLDERS = frozenset({*_OBJECTS, *_ARRAYS, "contentSchema"})


def is_secret(name: str, schema: Any) -> bool:
    """Tell whether the property *name* with *schema* holds a secret, by its name or by its schema.

    `format: password` and `writeOnly` mean a secret. Names such as `api_key` or `githubToken` mean
    a secret if the value is any text, not a choice from a list. Names such as `passcode` mean a
    secret if the value is a number.
    """
    if _says_so(schema) or (_may_be_text(schema) and is_secret_argument(name)):
        return True
    is_number = isinstance(schema, Mapping) and not _NUMBERS.isdisjoint(_types(schema))
    return is_number and is_secret_number(name)


class Locations:
    """The locations that one schema describes; each location is made when it is first needed."""

    def __init__(self, root: Any) -> None:
        """Prepare for *root*, the whole schema, in which references are followed."""
        self._root = root
        # By the ids of the schemas
        self._known: dict[tuple[int, ...], Location] = {}

    def of(self, schemas: Iterable[Any]) -> "Location":
        """Return the location that *schemas*, parts of the root schema, describe together."""
        parts = [schema for schema in schemas if isinstance(schema, Mapping)]
        key = tuple(map(id, parts))
        if key not in self._known:
            schemas = always = parts
            if not all(map(_WRAPPERS.isdisjoint, parts)):
                always = list(flat(self._root, parts))
                schemas = list(flat(self._root, parts, in_any_case=True))
            self._known[key] = Location(self, schemas, always)
        return self._known[key]


class Location:
    """A place inside a value, and all its schemas: if there is a union or a reference, it has several."""

    def __init__(self, locations: Locations, schemas: list[Schema], always: list[Schema]) -> None:
        """Make a location; *locations* makes the locations inside it.

        Args:
            locations: The locations of the whole schema.
            schemas: The schemas of this location and all their alternatives.
            always: The schemas that apply in every case. They decide if the value may be text.
        """
        # schemas that only refer to other schemas do not describe the value
        plain = [s for s in always if "type" in s or not s.keys() & _WRAPPERS]
        self._locations = locations
        self._schemas = schemas
        self._parts: dict[Any, Location] = {}
        self._says_so = any(map(_says_so, schemas))
        self._may_be_text = any(map(_may_be_text, plain or [{}]))
        self.types = frozenset(kind for schema in schemas for kind in _types(schema))
        """The JSON types that the value at this location may have."""

    @cached_property
    def choices(self) -> frozenset[str]:
        """The texts that the schemas list as a fixed choice; such a text is never a secret."""
        return frozenset(text for s in self._schemas for text in _choices(s))

    @cached_property
    def _declared(self) -> frozenset[str]:
        """The names of the properties that the schemas declare for this location."""
        return frozenset(k for s in self._schemas for k in mapping(s, "properties"))

    @cached_property
    def _first(self) -> int:
        """The number of the first items of a list at this location that have a schema each."""
        return max((len(_first_items(s)) for s in self._schemas), default=0)

    def is_secret(self, name: str) -> bool:
        """Tell whether the value at this location is a secret, if *name* is its name."""
        if self._says_so or (self._may_be_text and is_secret_argument(name)):
            return True
        return not self.types.isdisjoint(_NUMBERS) and is_secret_number(name)

    def name_of(self, key: str, above: str) -> str:
        """Return the name that decides whether the value of *key* at this location is a secret.

        *above* is the name of this location. If *key* is not declared and looks like a misspelt
        name of a declared secret, the result is `secret`.
        """
        if key in self._declared:
            return key
        if self._declared and is_misspelt(key, self._secrets):
            return "secret"
        return name_in_map(key, above)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """The declared names whose values are secrets."""
        names = sorted(self._declared)
        return tuple(name for name in names if self.of_key(name).is_secret(name))

    def of_key(self, key: Any) -> "Location":
        """Return the location of the value of *key*, in an object at this location."""
        known = key if key in self._declared else None
        if known not in self._parts:
            self._parts[known] = self._locations.of(_of_key(self._schemas, known))
        return self._parts[known]

    def of_item(self, index: int) -> "Location":
        """Return the location of the item at *index*, in a list at this location."""
        known = min(index, self._first)
        if known not in self._parts:
            self._parts[known] = self._locations.of(_of_item(self._schemas, known))
        return self._parts[known]

    @cached_property
    def content(self) -> "Location | None":
        """The location of the JSON inside a text at this location; None if no schema describes the JSON."""
        contents = [s["contentSchema"] for s in self._schemas if "contentSchema" in s]
        return self._locations.of(contents) if contents else None

    @cached_property
    def has_secrets(self) -> bool:
        """Whether a part of the value at this location, at any depth, is a secret."""
        return any(part.is_secret(name) for name, part in self.every_part())

    def every_part(self) -> Iterator[tuple[str, "Location"]]:
        """Yield the name and the location of each part of the value at this location, at any depth."""
        todo = [("", self)]
        visited = set(todo)
        while todo:
            above, location = todo.pop()
            for name, part in location._inside(above):
                if (name, part) not in visited:
                    visited.add((name, part))
                    todo.append((name, part))
                    yield name, part

    def defaults(self) -> Iterator[Any]:
        """Yield the defaults in the schemas of this location."""
        return (s["default"] for s in self._schemas if "default" in s)

    def harmless_names(self) -> Iterator[str]:
        """Yield each declared name whose value is never a secret if it is a text, a number or a bool."""
        if self._says_so or "object" not in self.types:
            return
        for name in self._declared:
            part = self.of_key(name)
            may_be = part.is_secret(name) or is_secret_argument(name)
            if not may_be and not part.has_secrets:
                yield name

    def _inside(self, above: str) -> Iterator[tuple[str, "Location"]]:
        """Yield the name and the location of each direct part; *above* is the name of this location."""
        for schema in self._schemas:
            if _HOLDERS.isdisjoint(schema):
                continue
            parts = list(mapping(schema, "properties").items())
            parts += [(above, part) for part in _of_any_key(schema)]
            parts += [(above, part) for part in _of_any_item(schema)]
            parts.append((above, schema.get("contentSchema")))
            for name, part in parts:
                if isinstance(part, Mapping):
                    yield name, self._locations.of([part])


def _says_so(schema: Any) -> bool:
    """Tell whether *schema* itself says that its value is a secret."""
    return isinstance(schema, Mapping) and (
        schema.get("format") == "password" or schema.get("writeOnly") is True
    )


def _may_be_text(schema: Any) -> bool:
    """Tell whether a value of *schema* may be any text: type string or no type, and no fixed choice."""
    if not isinstance(schema, Mapping):
        return True
    names = types_of(schema)
    is_open = "enum" not in schema and "const" not in schema
    return is_open and ("string" in names or "type" not in schema)


def _types(schema: Schema) -> Iterator[str]:
    if "type" in schema:
        yield from types_of(schema)
    elif schema.keys() & _OBJECTS:
        yield "object"
    elif schema.keys() & _ARRAYS:
        yield "array"
    elif "contentSchema" in schema:
        yield "string"


def _choices(schema: Schema) -> Iterator[str]:
    for choice in [*sequence(schema, "enum"), schema.get("const")]:
        if isinstance(choice, str):
            yield choice


def _of_undeclared_key(schema: Schema) -> Iterator[Any]:
    yield from mapping(schema, "patternProperties").values()
    yield schema.get("additionalProperties")


def _of_any_key(schema: Schema) -> Iterator[Any]:
    yield from _of_undeclared_key(schema)
    # not for a key that another of the schemas declares: that schema evaluates it
    yield schema.get("unevaluatedProperties")


def _of_key(schemas: Iterable[Schema], key: Any) -> Iterator[Any]:
    """Yield the schemas for the value of *key*; None stands for a key that no schema declares.

    The schemas of all patterns are yielded, so that no secret is missed.
    """
    for schema in schemas:
        declared = mapping(schema, "properties")
        if key in declared:
            yield declared[key]
        elif key is None:
            yield from _of_any_key(schema)
        else:
            yield from _of_undeclared_key(schema)


def _first_items(schema: Schema) -> list[Any]:
    """Return the schemas for the first items of a list, which old drafts of JSON Schema have in `items`."""
    return sequence(schema, "prefixItems") or sequence(schema, "items")


def _of_any_item(schema: Schema) -> Iterator[Any]:
    yield from _first_items(schema)
    yield from (schema.get(key) for key in ("items", "contains", *_REST))


def _of_item(schemas: Iterable[Schema], index: int) -> Iterator[Any]:
    """Yield the schemas for the item at *index*, and the schema of `contains`.

    An item after the first items has the schema of the other items. If *schemas* declare no schema
    for the other items, the schemas of all first items are yielded.
    """
    for schema in schemas:
        first = _first_items(schema)
        rest = [schema[key] for key in ("items", *_REST) if key in schema]
        rest = [part for part in rest if isinstance(part, Mapping)]
        if index < len(first):
            yield first[index]
        else:
            yield from rest or first
        yield schema.get("contains")


WRAPPED = (SecretStr, SecretBytes, Secret)
SecretsByPath = dict[tuple[Any, ...], Any]
"""Secrets, each by its path in the value."""


def hide(arguments: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return a copy of *arguments* with the secrets hidden; the JSON Schema *schema* says what is secret."""
    hidden: dict[str, Any] = Secrecy(schema).hide(arguments)[0]
    return hidden


class Secrecy:
    """The rules that tell which values are secret, at any depth, made from one JSON Schema.

    References, alternatives, items and the values of maps are followed: `SecretStr | None` is as
    secret as `SecretStr`. A value with the name of a secret is secret too, and so is every
    `SecretStr`. If the schema has a secret inside but does not describe the value (for example an
    object sent as text), the whole value is hidden, because any part of it may be the secret.
    """

    def __init__(self, schema: Any, root: Any = None) -> None:
        """Make the rules of *schema*. If it is a part of *root*, its references are followed in *root*."""
        # Kept alive: locations are found by the ids of its parts
        self._schema = schema
        self._root = schema if root is None else root
        self._harmless: frozenset[str] | None = None
        # The class of models whose names are harmless
        self._harmless_model: type[BaseModel] | None = None

    @cached_property
    def _location(self) -> Location:
        """The location of the whole value; not made for a schema of which only `defaults` are read."""
        return Locations(self._root).of([self._schema])

    @property
    def has_secrets(self) -> bool:
        """Whether a value of the schema can have a secret by its name or schema, at any depth."""
        return self._location.has_secrets

    @cached_property
    def defaults(self) -> list[str]:
        """The secrets among the defaults in the schema: a server may put secrets there.

        Plain words such as `none` or `changeme` are left out: they occur in too many other texts.
        """
        known = list[str]()
        if not any(isinstance(p, dict) and "default" in p for p in every_part(self._schema)):
            # Most schemas: reading all their locations takes much longer
            return known
        for name, location in self._location.every_part():
            for value in location.defaults():
                secrets: SecretsByPath = {}
                with suppress(RecursionError):
                    masked = _masked(value, name, location, (name,), secrets)
                    known += [*_known(secrets), *_in_texts(masked)]
        return [s for s in known if len(s) >= SHORTEST_SETTING and not s.isalpha()]

    def is_harmless(self, arguments: Any) -> bool:
        """Tell quickly whether *arguments* certainly have no secret; False means that `hide` must check.

        The result is true if all values are simple, the schema declares all names, and no name
        means a secret. Most calls of most tools are like this.
        """
        values: Any = None
        if type(arguments) is self._harmless_model and not arguments.model_extra:
            values = vars(arguments)
        else:
            values = parts_of(arguments)
            if not isinstance(values, dict):
                return False
            # Made when first needed: the schema may be large
            if self._harmless is None:
                self._harmless = frozenset(self._location.harmless_names())
            if not self._harmless.issuperset(values):
                return False
            if isinstance(arguments, BaseModel) and not arguments.model_extra:
                # Its names need no second look
                self._harmless_model = type(arguments)
        for value in values.values():
            if type(value) not in _SIMPLE or (type(value) is str and _may_hold(value)):
                return False
        return True

    def hide(self, arguments: Any) -> tuple[Any, list[str]]:
        """Return a copy of *arguments* that is safe to show, and the texts of the hidden secrets.

        The copy hides the secrets that `mask` hides. It also hides secrets inside texts: in JSON,
        in an address, or in a setting such as `NAME=value`. Names are always shown. All values are
        hidden if *arguments* are nested too deeply or contain themselves, or if the schema has a
        secret but does not describe an object.
        """
        value = dict(arguments) if isinstance(arguments, Mapping) else arguments
        if self.is_harmless(value):
            return value, []
        try:
            masked, secrets = self.mask(value)
        except RecursionError:
            # The deepest parts are unknown
            masked, secrets = MARK, {(): value}
        if masked is MARK and isinstance(value, dict):
            masked = dict.fromkeys(value, MARK)
        inner = list(_in_texts(masked))
        if inner:
            masked = Redactor(inner).value(masked)
        return masked, [*_known(secrets), *inner]

    def mask(self, value: Any, name: str = "") -> tuple[Any, SecretsByPath]:
        """Return a copy of *value* with the secrets hidden, and the secrets by their paths.

        *name* is the name of *value*; it may be the name of a secret. Dicts and lists are copied.
        Models, dataclasses, tuples and sets are searched; one that has a secret becomes a dict or a
        list, as in JSON.

        Raises:
            RecursionError: If *value* is too deep, or contains itself.
        """
        secrets: SecretsByPath = {}
        return _masked(value, name, self._location, (), secrets), secrets

    def secrets_in(self, arguments: Any) -> list[str]:
        """Return the secrets in *arguments*, as texts."""
        return self.hide(arguments)[1]

    def redactor(self, arguments: Any) -> Redactor:
        """Return a redactor of the secrets in *arguments*, to hide them in other texts."""
        return Redactor(self.secrets_in(arguments))


def _opened(value: Any) -> Any:
    """Return the parts of *value*; if it has none, its root or *value* itself."""
    while isinstance(value, RootModel):
        value = value.root
    inside = parts_of(value)
    return value if inside is None else inside


def _masked(
    value: Any,
    name: str,
    location: Location,
    path: tuple[Any, ...],
    secrets: SecretsByPath,
) -> Any:
    if value is None or isinstance(value, bool):
        return value
    try:
        inside = _opened(value)
        if (
            location.is_secret(name)
            # Of any type in the schema
            or _is_secret_text(inside, name, location)
            or (location.types.isdisjoint(_types_of(inside)) and location.has_secrets)
            or isinstance(value, WRAPPED)
        ):
            if isinstance(inside, str | bytes | dict | list) and not inside:
                # An empty password is not a secret
                return value
            secrets[path] = value
            return MARK
        if isinstance(inside, str) and location.content is not None:
            known = list(_in_content(inside, location.content))
            if known:
                secrets[path] = value
                secrets[*path, "contentSchema"] = known
                return MARK
        before = len(secrets)
        if isinstance(inside, dict):
            names = {"value": label} if (label := _name_beside(inside)) else {}
            masked: Any = {
                key: _masked(
                    item,
                    names.get(key) or location.name_of(key_text(key), name),
                    location.of_key(key),
                    (*path, key),
                    secrets,
                )
                for key, item in inside.items()
            }
        elif isinstance(inside, list):
            masked = [
                _masked(item, name, location.of_item(i), (*path, i), secrets)
                for i, item in enumerate(inside)
            ]
        else:
            return value
        return masked if isinstance(value, dict | list) or len(secrets) > before else value
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - an object's own code: its secrets are unknown
        secrets[path] = value
        return MARK


def _known(secrets: SecretsByPath) -> Iterator[str]:
    """Yield each secret text in *secrets*, and its parts that are secrets too, as the token after `Bearer`."""
    for path, value in secrets.items():
        for text in texts(value):
            yield from parts(text, name_at(path))


def _in_content(text: str, location: Location) -> Iterator[str]:
    """Yield the secrets in *text*, a JSON text whose content *location* describes."""
    if not location.has_secrets or len(text) > _LONGEST:
        return
    with suppress(ValueError, RecursionError):
        inner: SecretsByPath = {}
        _masked(json.loads(text), "", location, (), inner)
        yield from texts(list(inner.values()))


def _in_texts(value: Any) -> Iterator[str]:
    """Yield the secrets that stand inside longer texts in *value*.

    Their names in the texts show that they are secrets: in JSON, in addresses, and in settings.
    """
    for text in texts(value):
        if len(text) > _LONGEST:
            continue
        if may_hold_secret(text):
            yield from secrets_in_argument(text)
        if _JSON.match(text):
            with suppress(ValueError, RecursionError):
                yield from BY_NAMES.hide(json.loads(text))[1]


def _may_hold(text: str) -> bool:
    return may_hold_secret(text) or bool(_JSON.match(text))


def _name_beside(pair: dict[Any, Any]) -> str:
    """Return the name of a secret in *pair*, as in `{"name": "token", "value": ...}`; "" if there is none."""
    if "value" not in pair or len(pair) > _PAIR:
        return ""
    names = (pair.get(key) for key in ("name", "key", "header"))
    return next((n for n in names if isinstance(n, str) and is_secret_argument(n)), "")


# The most members of an object with a name, a value and little else
_PAIR = 4
_JSON = re.compile(r"\s*[\[{]")
# Characters of a JSON text that is searched, in about 50 ms
_LONGEST = 200_000
BY_NAMES = Secrecy({})
"""The rules for values without a schema: only the names tell which values are secret."""


def _is_secret_text(value: Any, name: str, location: Location) -> bool:
    if not isinstance(value, str) or value in location.choices:
        return False
    return is_secret_argument(name)


def _types_of(value: Any) -> frozenset[str]:
    """Return the JSON types of *value*; other objects count as text."""
    return types_of_value(value) or frozenset({"string"})


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def texts(value: Any) -> Iterator[str]:
    """Yield the strings in *value*, and its numbers as strings, at any depth."""
    for part in every_part(value):
        if isinstance(part, str):
            yield part
        elif isinstance(part, bytes | bytearray):
            # Bytes that are not text stay unchanged
            yield part.decode(errors="surrogateescape")
        elif isinstance(part, WRAPPED):
            yield from texts(part.get_secret_value())
        elif isinstance(part, int | float) and not isinstance(part, bool):
            # If it is too long to print, then no text has it
            with suppress(ValueError):
                yield repr(part)


# --- a masked value that was edited ----------------------------------------------


def put_back(value: Any, secrets: SecretsByPath, path: tuple[Any, ...] = ()) -> Any:
    """Return *value* with the secret back in place of each mark; *secrets* has the secrets by path."""
    if not secrets:
        return value
    if isinstance(value, str):
        return secrets.get(path, value) if value == MARK else value
    if isinstance(value, dict):
        return {k: put_back(item, secrets, (*path, k)) for k, item in value.items()}
    if isinstance(value, list):
        return [put_back(item, secrets, (*path, i)) for i, item in enumerate(value)]
    return value


def hidden_in(value: Any, masked: Any, path: tuple[Any, ...] = ()) -> SecretsByPath:
    """Return the parts of *value*, a value at *path*, that its copy *masked* hides, by their paths."""
    if isinstance(masked, str):
        return {path: value} if masked == MARK != value else {}
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(value, dict) and isinstance(masked, dict):
        pairs = ((key, item, masked.get(key)) for key, item in value.items())
    elif isinstance(value, list) and isinstance(masked, list):
        both = zip(value, masked, strict=False)
        pairs = ((i, left, right) for i, (left, right) in enumerate(both))
    secrets: SecretsByPath = {}
    for step, item, other in pairs:
        secrets |= hidden_in(item, other, (*path, step))
    return secrets


_SAMPLES = ("default", "examples")
# Of an address, a setting or JSON, which may contain a secret
_SIGNS = frozenset(":={[")


def without_secret_samples(schema: Json) -> Json:
    """Return *schema* without the defaults and examples that have a secret.

    So a model and its provider do not get these secrets. A call without such an argument still uses
    the default: the tool or its server adds the default.
    """
    if not any(_secret_samples(part, schema) for _, part in every(schema)):
        return schema

    def change(part: Json, _: str) -> Json:
        left_out = set(_secret_samples(part, schema))
        if not left_out:
            return part
        properties = {
            name: {k: v for k, v in field.items() if (name, k) not in left_out}
            if isinstance(field, dict)
            else field
            for name, field in mapping(part, "properties").items()
        }
        return {**part, "properties": properties}

    whole: Json = rewritten(schema, change)
    return whole


def _secret_samples(schema: Json, root: Json) -> list[tuple[str, str]]:
    """Return pairs of a property of *schema* and a keyword: the samples of this keyword have a secret."""
    return [
        (name, keyword)
        for name, field in mapping(schema, "properties").items()
        if isinstance(field, dict)
        for keyword in _SAMPLES
        if keyword in field
        and any(_is_secret(name, field, s, root) for s in _samples(field, keyword))
    ]


def _samples(field: Json, keyword: str) -> Iterator[Any]:
    sample = field.get(keyword)
    if keyword == "examples" and isinstance(sample, list):
        yield from sample
    elif sample is not None:
        yield sample


def _is_secret(name: str, field: Json, sample: Any, root: Json) -> bool:
    says_so = is_secret(name, field) or is_secret_argument(name)
    looks_so = isinstance(sample, dict | list) or (
        isinstance(sample, str) and not _SIGNS.isdisjoint(sample)
    )
    if not sample or not (says_so or looks_so):
        return False
    secrecy = Secrecy({"type": "object", "properties": {name: field}}, root)
    return bool(secrecy.secrets_in({name: sample}))
