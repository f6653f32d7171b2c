"""Find the secrets in a value: by its schema, its names, its types, and the shapes of known keys."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import unquote_plus

from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr

from toolbench.jsonschema.node import Node, SchemaView
from toolbench.jsonschema.types import Json, types_of_value
from toolbench.jsonschema.walk import every, mapping
from toolbench.redaction import MARK
from toolbench.redaction.names import (
    is_misspelt,
    is_secret_argument,
    is_secret_number,
    is_secret_setting,
    name_at,
    name_in_map,
)
from toolbench.redaction.redactor import SHORTEST_SETTING, Redactor
from toolbench.redaction.writings import SCHEMES, parts
from toolbench.values import copied, every_part, key_text
from toolbench.values import parts as parts_of

IsSecret = Callable[[str, str], bool]
"""A function that gets a name and its value, and tells whether the value is a secret."""

_NAME_AND_VALUE = re.compile(r"(?P<name>-*\w[\w.-]*)(\s*=|:\s)\s*(?P<value>.+)", re.S)
_URL = re.compile(r"(?P<scheme>[A-Za-z][\w+.:-]{0,40})://((?P<user>[^/?#\s]*)@)?")
_QUERY = re.compile(r"[?&#;](?P<name>[^=&#;]+)=(?P<value>[^&#\s]*)")
_BEGINNING_OR_JSON = re.compile(r"\s*(?:[\[{]|-*[A-Za-z][\w.-]*\s*[=:])")
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
    """Yield the secrets in the JSON *value*.

    A string is a secret if it has the name of a secret, such as `password`. If the string is
    `Bearer x`, the part `x` is yielded too. Any string is also searched for secrets inside it: the
    password or token of a URL, and the value after the name of a secret in `name=value`, `Name:
    value`, a URL parameter, or JSON.

    Args:
        value: The JSON value.
        name: The name of *value* itself, for example the name of a setting.
        is_secret: A function that gets a name and a value, and tells whether the value is a secret.
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
    """Yield each word of a command line, with a list of the secrets in this word.

    In `--api-key VALUE`, for example, VALUE is a secret because of the option before it.
    """
    option = ""
    for word in words:
        text, name = word, option
        if _HEADER.fullmatch(option):
            text = word.replace(":", ": ", 1)
        if word.startswith("--"):
            name = ""
        yield word, list(secrets_in(text, name, is_secret))
        option = ""
        if word.startswith("-"):
            option = word


def is_short_secret(name: str, value: str) -> bool:
    """Tell whether a short *value* of the server setting *name* is a secret.

    A switch such as `AUTH=none` is not a secret. The name must also be a clear sign of a secret.
    For example, `SORT_KEY` is not a clear sign, so a short value of this setting is not a secret.
    """
    return is_secret_argument(name) and value.lower() not in _SWITCHES


def secrets_in_argument(text: str) -> Iterator[str]:
    """Yield the secrets inside *text*, an argument whose own name is not the name of a secret.

    The password and the tokens of a URL are secrets. If the whole text is `NAME=value` or `Name:
    value` with the name of a secret, the value is a secret too. Unlike `secrets_in`, this does not
    search the middle of sentences and code, where such names are often harmless.
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
        # It may be no JSON
        with suppress(ValueError, RecursionError):
            yield from secrets_in(json.loads(text), "", is_secret)
    elif pair := _NAME_AND_VALUE.fullmatch(text):
        yield from secrets_in(pair["value"], pair["name"], is_secret)


def _in_urls(text: str, is_secret: IsSecret, *, shortest_user: int = 1) -> Iterator[str]:
    urls = list(_URL.finditer(text))
    if not urls:
        return
    raw = [m["value"] for m in _QUERY.finditer(text) if is_secret(*m.groups())]
    for url in urls:
        user, _, password = (url["user"] or "").partition(":")
        is_web = url["scheme"].endswith(("http", "https"))
        if not is_web or password not in ("", "x-oauth-basic"):
            raw.append(password)
        # Without a password, it is a token for a web server, but only a user for a database
        elif len(user) >= shortest_user:
            raw.append(user)
    for value in filter(None, raw):
        yield from (value, unquote_plus(value))


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
    """Yield the keys and tokens in *text* that are recognised by their shape, such as `ghp_...`."""
    yield from (match[0] for match in _SHAPES.finditer(text))


# --- which place in a value is a secret ------------------------------------------------


def is_secret(name: str, node: Node) -> bool:
    """Tell whether a value with this *name* and the schema of *node* is a secret.

    The value is a secret if the schema has `format: password` or `writeOnly`. With a name such as
    `api_key` or `githubToken`, it is a secret if the schema allows any string, not only a choice
    from a list. With a name such as `passcode`, it is also a secret if it is a number. If the
    schema has several alternatives, one alternative that makes the value a secret is enough.
    """
    return _Place(node).is_secret(name)


class _Place:
    """A place that a schema describes, such as a property, and whether its value is a secret."""

    def __init__(self, node: Node, unread: frozenset[str] = frozenset()) -> None:
        self.node = node
        self.unread = unread
        """The names of secrets that are declared under keywords that nodes do not read.

        An example of such a keyword is `contains`.
        """
        self._whole = self
        self._inside: dict[str | int | None, _Place] = {}
        self._says_so = node.is_secret
        self._is_open = self._is_number = False
        for alternative in node.alternatives:
            if alternative.type in (None, "string") and not alternative.says("enum", "const"):
                self._is_open = True
            elif alternative.type in ("integer", "number"):
                self._is_number = True

    def is_secret(self, name: str) -> bool:
        """Tell whether the value is a secret, if *name* is its name."""
        if self._says_so or (self._is_open and is_secret_argument(name)):
            return True
        return self._is_number and is_secret_number(name)

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that the value may have; empty if it may have any type."""
        return frozenset(self.node.types)

    @cached_property
    def _has_patterns(self) -> bool:
        return any(alternative.patterns for alternative in self.node.alternatives)

    @cached_property
    def _last(self) -> int:
        """The index from which all items of a list have the same schema."""
        last = 0
        for alternative in self.node.alternatives:
            known = len(alternative.prefix_items)
            if known and alternative.items is None:
                known -= 1
            last = max(last, known)
        return last

    @cached_property
    def declared(self) -> frozenset[str]:
        """The names of the properties that the alternatives and cases declare."""
        return frozenset(self.node.names)

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The declared names whose values are secrets."""
        names = sorted(self.declared)
        return tuple(name for name in names if is_secret(name, self.node.at(name)))

    @cached_property
    def choices(self) -> list[Any]:
        """The values that the schema lists; none of them is a secret."""
        return self.node.choices

    @cached_property
    def has_secrets(self) -> bool:
        """Whether a part of the value, at any depth, is a secret."""
        if self.unread and self.types.isdisjoint(_WITHOUT_PARTS):
            return True
        if self._whole is not self and not self._whole.has_secrets:
            return False
        return any(_Place(node).is_secret(name) for name, node in _every_node(self.node))

    def name_of(self, key: str, above: str) -> str:
        """Return the name that decides whether the value of *key* is a secret.

        Usually, this is *key*. In a map of secrets, it is *above*, the name of this place. If *key*
        is a misspelt name of a declared secret, the result is `secret`.
        """
        if key in self.unread:
            return "secret"
        if key in self.declared:
            return key
        if self.declared and is_misspelt(key, self.secrets):
            return "secret"
        return name_in_map(key, above)

    def of_key(self, key: str) -> "_Place":
        """Return the place of the value of *key*."""
        # Undeclared keys may be any number: they are not remembered
        if key not in self.declared:
            if self._has_patterns:
                return self._made(key)
            return self._at(None, key)
        return self._at(key, key)

    def of_item(self, index: int) -> "_Place":
        """Return the place of the item at *index*."""
        step = min(index, self._last)
        return self._at(step, step)

    def _at(self, known: str | int | None, step: str | int) -> "_Place":
        if known not in self._inside:
            self._inside[known] = self._made(step)
        return self._inside[known]

    def _made(self, step: str | int) -> "_Place":
        place = _Place(self.node.at(step), self.unread)
        place._whole = self._whole
        return place


def _every_node(whole: Node) -> Iterator[tuple[str, Node]]:
    """Yield the name and the node of each part that *whole* describes, at any depth."""
    todo = [("", whole)]
    visited = {("", whole)}
    while todo and len(visited) < _MOST_PLACES:
        above, node = todo.pop()
        for part in _nodes_in(above, node):
            if part not in visited:
                visited.add(part)
                todo.append(part)
                yield part


def _nodes_in(above: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the name and the node of each direct part; list items have the name *above*."""
    yield from node.conditional.items()
    for alternative in node.alternatives:
        # Most nodes, which have no parts
        if alternative.type in _WITHOUT_PARTS:
            continue
        yield from alternative.properties.items()
        others = [alternative.additional, alternative.items, *alternative.prefix_items]
        for other in [*others, *alternative.patterns.values()]:
            if other is not None:
                yield above, other


_WITHOUT_PARTS = frozenset({"string", "integer", "number", "boolean", "null"})
# Of a schema that is made of ever new parts; the most in a public tool is 400
_MOST_PLACES = 1_000


# --- the secrets in a value ------------------------------------------------------------

WRAPPED = (SecretStr, SecretBytes, Secret)
SecretsByPath = dict[tuple[Any, ...], Any]
"""Secrets, each by its path in the value."""


def hide(arguments: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return a copy of *arguments* with `<secret-hidden>` in place of each secret.

    The names of the values, and *schema*, the JSON Schema of the arguments, decide which values are
    secrets.
    """
    hidden: dict[str, Any] = Secrecy(schema).hide(arguments)[0]
    return hidden


class Secrecy:
    """Decides, by one JSON Schema, which parts of a value are secrets, at any depth.

    A part is a secret if its schema says so, directly, by a reference, or in an alternative. A part
    with the name of a secret, such as `password`, is a secret too, and so is every `SecretStr`. If
    the schema contains a secret, but the value has another type, such as a string instead of an
    object, the whole value is hidden. Any part of it may be the secret.

        secrecy = Secrecy(tool.input_schema)
        shown, secrets = secrecy.hide({"user": "ada", "password": "correct-horse-9"})
    """

    def __init__(self, schema: Any, view: SchemaView | None = None) -> None:
        """Read *schema*. If it is part of a larger schema, *view* is the view of the larger one."""
        self._schema = schema
        self._view = view or SchemaView(schema)
        self._harmless: frozenset[str] | None = None
        # The class of models whose names are harmless
        self._harmless_model: type[BaseModel] | None = None

    @cached_property
    def _place(self) -> _Place:
        """The place of the whole value, made only when it is needed."""
        whole = self._view.node(self._schema)
        names = self._view.names_of_secrets(self._schema)
        if names:
            names -= {name for name, node in _every_node(whole) if node.is_secret}
        return _Place(whole, names)

    @property
    def has_secrets(self) -> bool:
        """Whether a value of the schema can have a secret by its name or schema, at any depth."""
        return self._place.has_secrets

    def declares(self, name: Any) -> bool:
        """Tell whether the schema declares a property *name*."""
        return name in self._place.declared

    @cached_property
    def defaults(self) -> list[str]:
        """The secrets among the default values in the schema, where servers sometimes put them.

        Plain words such as `none` or `changeme` are left out, because they occur in many strings.
        """
        # Most schemas have none: reading all their nodes takes much longer
        if not any(
            isinstance(part, dict) and "default" in part for part in every_part(self._schema)
        ):
            return []
        known: list[str] = []
        for name, node in _every_node(self._place.node):
            for part in {node, *node.alternatives}:
                if part.has_default:
                    known += _secrets_of_sample(part.default, name, node)
        return [s for s in known if len(s) >= SHORTEST_SETTING and not s.isalpha()]

    def is_harmless(self, arguments: Any) -> bool:
        """Tell quickly whether *arguments* certainly have no secret. If False, `hide` must check.

        The result is true for most calls of most tools. In these calls, the schema declares all
        names, no name means a secret, and all values are plain JSON.
        """
        if type(arguments) is self._harmless_model and not arguments.__pydantic_extra__:
            values: Any = arguments.__dict__
        else:
            values = self._values_of_harmless_names(arguments)
            if values is None:
                return False
        for value in values.values():
            kind = type(value)
            if kind is str:
                if _may_hold(value):
                    return False
            elif kind in _SIMPLE:
                continue
            # Names under keywords that nodes leave out may be anywhere
            elif kind not in _CONTAINERS or self._place.unread or not _is_harmless_json(value):
                return False
        return True

    def _values_of_harmless_names(self, arguments: Any) -> dict[Any, Any] | None:
        """Return the values in *arguments* by name; None if one of the names may mean a secret."""
        values = parts_of(arguments)
        if not isinstance(values, dict):
            return None
        # Made when first needed: the schema may be large
        if self._harmless is None:
            self._harmless = self._harmless_names()
        if not self._harmless.issuperset(values):
            return None
        if isinstance(arguments, BaseModel) and not arguments.model_extra:
            # Its names need no second look
            self._harmless_model = type(arguments)
        return values

    def _harmless_names(self) -> frozenset[str]:
        """Return the declared names whose values are never a secret if they are simple."""
        whole = self._place
        names: set[str] = set()
        if whole.is_secret("") or "object" not in whole.types:
            return frozenset()
        for name in whole.declared:
            if is_secret_argument(name) or name in whole.unread:
                continue
            if whole.has_secrets:
                # Not kept: there may be thousands
                place = _Place(whole.node.at(name))
                if place.is_secret(name) or place.has_secrets:
                    continue
            names.add(name)
        return frozenset(names)

    def hide(self, arguments: Any) -> tuple[Any, list[str]]:
        """Return a copy of *arguments* that is safe to show, and the hidden secrets as strings.

        The copy hides all secrets that `mask` hides. It also hides secrets inside strings: in JSON,
        in a URL, or in a setting such as `NAME=value`. The names of arguments are always shown.

        All values are hidden if *arguments* are nested too deeply or contain themselves. They are
        also hidden if the schema contains a secret but does not describe an object.
        """
        value = arguments
        if isinstance(arguments, Mapping):
            value = dict(arguments)
        if self.is_harmless(value):
            # The caller may change what is inside
            return copied(value), []
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
        """Return a copy of *value* with `<secret-hidden>` for each secret, and the secrets by path.

        Dicts and lists are copied. A model, a dataclass, a tuple or a set that contains a secret
        becomes a dict or a list; otherwise, it is returned unchanged. *name* is the name of *value*
        itself, which may be the name of a secret.

        Raises:
            RecursionError: If *value* is too deep, or contains itself.
        """
        secrets: SecretsByPath = {}
        return _masked(value, name, self._place, (), secrets), secrets

    def secrets_in(self, arguments: Any) -> list[str]:
        """Return the secrets in *arguments*, as strings."""
        if self.is_harmless(arguments):
            return []
        return self.hide(arguments)[1]

    def redactor(self, arguments: Any) -> Redactor:
        """Return a redactor of the secrets in *arguments*, to hide them in other strings."""
        return Redactor(self.secrets_in(arguments))


def _secrets_of_sample(sample: Any, name: str, node: Node) -> list[str]:
    """Return the secrets in *sample*: a default or an example of the property *name*."""
    secrets: SecretsByPath = {}
    with suppress(RecursionError):
        masked = _masked(sample, name, _Place(node), (name,), secrets)
        return [*_known(secrets), *_in_texts(masked)]
    return []


def _masked(
    value: Any, name: str, place: _Place, path: tuple[Any, ...], secrets: SecretsByPath
) -> Any:
    """Return *value* with its secrets hidden, and add these secrets to *secrets* by their paths.

    *name* is the name of the value, and *path* is its path.
    """
    if value is None or isinstance(value, bool):
        return value
    before, root, inside = len(secrets), value, None
    try:
        # A large argument has many of these
        if type(value) not in _SIMPLE:
            while isinstance(root, RootModel):
                root = root.root
            inside = parts_of(root)
        if _is_hidden_whole(root, inside, name, place):
            secrets[path] = root
            return MARK
        if inside is None:
            return value
        masked = _parts_masked(inside, name, place, path, secrets)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - an object's own code: its secrets are unknown
        secrets[path] = value
        return MARK
    if len(secrets) > before or isinstance(value, dict | list):
        return masked
    return value


def _parts_masked(
    inside: dict[Any, Any] | list[Any],
    name: str,
    place: _Place,
    path: tuple[Any, ...],
    secrets: SecretsByPath,
) -> dict[Any, Any] | list[Any]:
    if isinstance(inside, list):
        items = []
        for index, item in enumerate(inside):
            items.append(_masked(item, name, place.of_item(index), (*path, index), secrets))
        return items
    fields, label = {}, _name_beside(inside)
    for key, item in inside.items():
        text = key_text(key)
        own = place.name_of(text, name)
        if label and key == "value":
            own = label
        fields[key] = _masked(item, own, place.of_key(text), (*path, key), secrets)
    return fields


def _is_hidden_whole(value: Any, inside: Any, name: str, place: _Place) -> bool:
    # An empty password is not a secret
    if inside is not None and not inside:
        return False
    if isinstance(value, str | bytes) and not value:
        return False
    if isinstance(value, WRAPPED) or place.is_secret(name):
        return True
    if isinstance(value, str) and is_secret_argument(name) and value not in place.choices:
        # Whatever type the schema wants
        return True
    # Objects without a JSON type count as text
    read = value
    if inside is not None:
        read = inside
    if not place.types or place.types & (types_of_value(read) or {"string"}):
        return False
    # What the schema describes as something else, as an object that is sent as a string
    return place.has_secrets


def _known(secrets: SecretsByPath) -> Iterator[str]:
    """Yield each secret as a string, and the parts of it that are also secrets.

    For example, `Bearer abc` is followed by the token `abc`.
    """
    for path, value in secrets.items():
        for text in texts(value):
            yield from parts(text, name_at(path))


def _in_texts(value: Any) -> Iterator[str]:
    """Yield the secrets inside longer strings in *value*: in JSON, in URLs, and in settings.

    The name before a value, such as `token` in `token=abc`, shows that the value is a secret.
    """
    for text in texts(value, numbers=False):
        if len(text) > _LONGEST or not _may_hold(text):
            continue
        yield from secrets_in_argument(text)
        if _JSON.match(text):
            with suppress(ValueError, RecursionError):
                yield from BY_NAMES.hide(json.loads(text))[1]


def _may_hold(text: str) -> bool:
    """Tell quickly whether *text* may contain a secret: in a URL, in a setting, or in JSON."""
    # Most arguments have none of these characters, which is seen sooner than by the pattern
    if ":" in text or "=" in text or "{" in text or "[" in text:
        return "://" in text or _BEGINNING_OR_JSON.match(text) is not None
    return False


def _is_harmless_json(value: dict[Any, Any] | list[Any]) -> bool:
    """Tell quickly whether *value*, whose schema declares no secret, certainly has no secret."""
    try:
        return _are_parts_harmless(value, set())
    except RecursionError:
        # It contains itself, or is too deep
        return False


def _are_parts_harmless(value: dict[Any, Any] | list[Any], names: set[str]) -> bool:
    """Check *value* for `_is_harmless_json`, and add harmless keys to *names*.

    A key in *names* is not checked again.
    """
    items: Iterable[Any] = value
    if isinstance(value, dict):
        # The value of a pair is named by its neighbour
        if "value" in value or not _are_names_harmless(value, names):
            return False
        items = value.values()
    for item in items:
        kind = type(item)
        if kind is str:
            if _may_hold(item):
                return False
        elif kind in _CONTAINERS:
            if not _are_parts_harmless(item, names):
                return False
        elif kind not in _SIMPLE:
            return False
    return True


def _are_names_harmless(value: Mapping[Any, Any], names: set[str]) -> bool:
    if names.issuperset(value):
        return True
    for name in value:
        if type(name) is not str or len(names) > _MOST_NAMES:
            return False
        if is_secret_argument(name) or is_secret_number(name) or is_misspelt(name, ()):
            return False
        names.add(name)
    return True


def _name_beside(pair: dict[Any, Any]) -> str:
    """Return the name of the secret in a pair such as `{"name": "token", "value": ...}`.

    The result is empty if *pair* is not of this form, or its name does not mean a secret.
    """
    if "value" in pair and len(pair) <= _PAIR:
        for key in ("name", "key", "header"):
            name = pair.get(key)
            if isinstance(name, str) and is_secret_argument(name):
                return name
    return ""


# The most members of an object with a name, a value and little else
_PAIR = 4
_JSON = re.compile(r"\s*[\[{]")
# Characters of a JSON text that is searched, in about 50 ms
_LONGEST = 200_000
_SIMPLE = frozenset({str, int, float, bool, type(None)})
_CONTAINERS = frozenset({dict, list})
# Different names in one value: to judge a name takes longer than to search its value
_MOST_NAMES = 100
BY_NAMES = Secrecy({})
"""The rules for values without a schema: only the names tell which values are secret."""


def texts(value: Any, *, numbers: bool = True) -> Iterator[str]:
    """Yield the strings in *value*, at any depth.

    If *numbers* is true, also yield the numbers, as strings.
    """
    for part in every_part(value):
        # By the type: the `__class__` of an object may run code
        kind = type(part)
        if kind is str or issubclass(kind, str):
            yield part
        elif issubclass(kind, bytes | bytearray):
            # Bytes that are not text stay unchanged
            yield part.decode(errors="surrogateescape")
        elif issubclass(kind, WRAPPED):
            yield from texts(part.get_secret_value(), numbers=numbers)
        elif numbers and issubclass(kind, int | float) and kind is not bool:
            # If it is too long to print, then no text has it
            with suppress(ValueError):
                yield repr(part)


# --- a masked value that was edited ----------------------------------------------


def put_back(value: Any, secrets: SecretsByPath, path: tuple[Any, ...] = ()) -> Any:
    """Return *value* with each `<secret-hidden>` replaced by the secret with the same path.

    *secrets* are the secrets that `Secrecy.mask` returned. Use this after a user has edited a copy
    in which the secrets are hidden.
    """
    if not secrets:
        return value
    if isinstance(value, dict):
        return {k: put_back(item, secrets, (*path, k)) for k, item in value.items()}
    if isinstance(value, list):
        return [put_back(item, secrets, (*path, i)) for i, item in enumerate(value)]
    if isinstance(value, str) and value == MARK:
        return secrets.get(path, value)
    return value


def hidden_in(value: Any, masked: Any, path: tuple[Any, ...] = ()) -> SecretsByPath:
    """Compare *value* with its copy *masked*, and return the hidden parts by their paths.

    *path* is the path of *value* itself.
    """
    secrets: SecretsByPath = {}
    if isinstance(masked, str):
        if masked == MARK != value:
            secrets[path] = value
    elif isinstance(value, dict) and isinstance(masked, dict):
        for key, item in value.items():
            secrets |= hidden_in(item, masked.get(key), (*path, key))
    elif isinstance(value, list) and isinstance(masked, list):
        for index, (left, right) in enumerate(zip(value, masked, strict=False)):
            secrets |= hidden_in(left, right, (*path, index))
    return secrets


# --- defaults and examples in a schema -------------------------------------------

_SAMPLES = ("default", "examples")
# Of an address, a setting or JSON, which may contain a secret
_SIGNS = frozenset(":={[")


def without_secret_samples(schema: Json) -> Json:
    """Return *schema* without the defaults and examples that have a secret.

    The result is safe to send to a model. A call without such an argument still uses the default,
    because the tool or its server adds the default.
    """
    if not any(_secret_samples(schema)):
        return schema
    whole: Json = copied(schema)
    for field, keyword in list(_secret_samples(whole)):
        del field[keyword]
    return whole


def _secret_samples(schema: Json) -> Iterator[tuple[Json, str]]:
    """Yield each property whose `default` or `examples` have a secret, with this keyword."""
    view = SchemaView(schema)
    for _, part in every(schema):
        for name, field in mapping(part, "properties").items():
            if not isinstance(field, dict):
                continue
            for keyword in _SAMPLES:
                samples = field.get(keyword)
                if keyword == "default" or not isinstance(samples, list):
                    samples = [samples]
                if any(_has_secret(sample, name, field, view) for sample in samples):
                    yield field, keyword


def _has_secret(sample: Any, name: str, field: Json, view: SchemaView) -> bool:
    if not sample:
        return False
    may_have = isinstance(sample, dict | list) or is_secret_argument(name)
    if isinstance(sample, str):
        may_have = may_have or not _SIGNS.isdisjoint(sample)
    node = view.node(field)
    return (may_have or is_secret(name, node)) and bool(_secrets_of_sample(sample, name, node))
