"""Convert a `server.json`, by which a registry describes a server, to a configuration entry.

A package in the file becomes the command that starts the server, and a remote becomes a URL.
Source: the MCP registry's server.json, schema of 2025-12-11. Files in the first version of the
schema, with names like `registry_type`, are refused.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from toolbench.display.caps import shorten
from toolbench.display.escape import on_one_line
from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import names_in
from toolbench.mcp.config.server_entry import ServerEntry, Transport
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.writings import parts
from toolbench.values import clip, number_in

_RUNNERS = {
    "npm": ("npx", ["-y"], "@"),
    "pypi": ("uvx", [], "=="),
    "nuget": ("dnx", ["--yes"], "@"),
    "oci": ("docker", ["run", "-i", "--rm"], ":"),
}
"""For each registry: the program, its arguments, and the separator between package and version."""
_HINTS = {
    "npm": {"npx", "bunx", "pnpx"},
    "pypi": {"uvx", "pipx"},
    "nuget": {"dnx"},
    "oci": {"docker", "podman"},
}
"""For each registry: the programs that a package may ask for. Other programs could run anything."""
_HOSTS = {
    "npm": {"registry.npmjs.org"},
    "pypi": {"pypi.org"},
    "nuget": {"api.nuget.org"},
    "oci": {"docker.io", "hub.docker.com", "registry-1.docker.io"},
}
"""For each registry: the hosts from which its program loads packages by default."""
_OWN = "MCP_"
"""The prefix of the variables that may be sent to a remote; no others are sent."""
_REFERENCE = re.compile(r"\$\{(?=\w)")
_REFERENCED = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_VARIABLE = re.compile(r"\{([A-Za-z_][\w-]*)\}")
_OPEN = {"valueHint", "choices", "format", "placeholder"}
"""Keys that show that an argument needs a value; without one, the argument is left out."""
_NAME = re.compile(r"[\w@./:+~-]+")
_FIRST_FORM = {"registry_name", "registry_type", "transport_type"}
"""Keys of packages and remotes in files from before September 2025."""


class Setting(NamedTuple):
    """An environment variable, an HTTP header or an argument of the command, with its value."""

    name: str
    value: str
    item: Mapping[str, Any]
    """The description of the setting in the file."""


def is_registry_file(config: Any) -> bool:
    """Tell whether *config* is a `server.json`, or a registry's answer that contains one."""
    return _document(config) is not None


def registry_table(config: Any, base: Path) -> dict[str, ServerEntry]:
    """Return a dict with one server, made from *config*, a `server.json`.

    The key is the short name of the server, and the value is its entry. The entry is made from the
    first remote, which is a URL. If there is no remote, the first package that toolbench can start
    is used, for example an npm package. *base* is the folder for relative paths.

    Raises:
        ServerError: If the file cannot be read, or has neither a remote nor such a package.
    """
    document = _document(config) or {}
    name = str(document["name"]).rpartition("/")[2]
    if "${" in json.dumps(document, default=str):
        _refuse(
            f"server.json of {name!r} contains ${{, which could read variables of this machine, so it "
            "is refused. Write an entry of your own for it in mcp.json."
        )
    remotes, packages = _mappings(document, "remotes"), _mappings(document, "packages")
    for each in [*remotes, *packages]:
        if not _FIRST_FORM.isdisjoint(each):
            _refuse(
                f"server.json of {name!r} has the form from before September 2025, which is not read: "
                "get it from the registry again, or write an entry of your own for it in mcp.json."
            )
    if remotes:
        return {name: _remote(remotes[0], base)}
    unknown = []
    for package in packages:
        kind = package.get("registryType")
        if str(kind) in _RUNNERS:
            return {name: _package(package, str(kind), base)}
        unknown.append(clip(kind))
    offered = "nothing to use"
    if unknown:
        offered = f"packages of {' and '.join(unknown)}"
    msg = f"server.json of {name!r} has {offered}: known are remotes and {', '.join(_RUNNERS)}."
    raise ServerError(msg)


class Way:
    """One way to reach or start the server of a `server.json`, with values for the user to fill in.

    Missing values are never taken from the environment. A value becomes exactly one argument of the
    command, even if it contains spaces or quotes.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Read *document*, a `server.json` with one remote or one package.

        Raises:
            ServerError: If its remote or its package cannot be used.
        """
        # Raises before the user fills in anything
        registry_table(document, Path())
        self._document = document
        fields, required = {}, []
        for name, place in _places(document).items():
            fields[name] = _field(name, place.item)
            if place.item.get("isRequired") is True and not _default(place.item):
                required.append(name)
        self.schema = {"type": "object", "properties": fields, "required": required}
        """The JSON Schema of the values that the user fills in: an object of strings."""
        self.asks = bool(fields)
        """Whether there are values to fill in."""

    def entry(self, values: Mapping[str, Any], *, with_marks: bool = False) -> ServerEntry:
        """Return the configuration entry of the server with *values* filled in.

        Args:
            values: The values that the user filled in; they must fit `schema`. A missing value is
                replaced by its default. If it has no default, its argument, variable or header is
                left out.
            with_marks: Whether secrets in *values* are replaced by placeholders, so that the entry
                can be shown.

        Raises:
            ServerError: If a value could be misread, for example as an option of the command.
        """
        document = deepcopy(dict(self._document))
        for name, place in _places(document).items():
            default = _default(place.item)
            text = values.get(name) or default
            _check_value(name, text, place)
            if _is_secret(name, place.item):
                place.item["isSecret"] = True
                # A default from a stranger is not hidden, because it could be code
                if with_marks and text != default:
                    text = _HIDDEN
            place.fill(text)
        [entry] = registry_table(document, Path.cwd()).values()
        if names_in([entry.args, entry.env, entry.url, entry.headers]):
            _refuse(
                "The server.json has a value that no form can ask for: it would be a variable of "
                "this machine. Write an entry of your own for it in mcp.json."
            )
        return entry


def ways(document: Mapping[str, Any]) -> dict[str, Way]:
    """Return the ways to reach or start the server of *document*, a `server.json`.

    The keys are labels that the user can choose from. Ways to reach a remote server come before
    ways to start a server.

    Raises:
        ServerError: If none of the ways can be used.
    """
    usable: dict[str, Way] = {}
    problem = f"server.json of {clip(document.get('name'))} has no remote and no package to use."
    for key in ("remotes", "packages"):
        for each in _mappings(document, key):
            label = shorten(on_one_line(way_label(each)), _LONGEST)
            while label in usable:
                label += " (another)"
            single = {**document, "remotes": [], "packages": [], key: [each]}
            try:
                usable[label] = Way(single)
            except ServerError as error:
                problem = str(error)
    if not usable:
        _refuse(problem)
    return usable


def way_label(item: Mapping[str, Any]) -> str:
    """Return the label of *item*: the URL of a remote, or the kind and name of a package."""
    return str(item.get("url") or f"{item.get('registryType')}: {item.get('identifier')}")


def _document(config: Any) -> Mapping[str, Any] | None:
    if not isinstance(config, Mapping):
        return None
    for place in (config, config.get("server")):
        if not isinstance(place, Mapping) or not isinstance(place.get("name"), str):
            continue
        if isinstance(place.get("packages"), list) or isinstance(place.get("remotes"), list):
            return place
    return None


def _refuse(message: str) -> NoReturn:
    raise ServerError(message)


# --- remotes --------------------------------------------------------------------------


def _remote(remote: Mapping[str, Any], base: Path) -> ServerEntry:
    url = remote.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://", "{")):
        _refuse(f"The URL of a remote in server.json is {clip(url)}: expected https://...")
    transport: Transport = "http"
    if remote.get("type") == "sse":
        transport = "sse"
    place = Setting("", _filled(url, remote), remote)
    settings = _settings(_mappings(remote, "headers"), prefix=_OWN)
    headers, required = {}, {}
    for setting in settings:
        headers[setting.name] = _own(setting.value)
    for name, description in _required([*_items_of(settings), remote]).items():
        required[_OWN + name] = description
    variables, texts = _secrets([place, *settings])
    return ServerEntry(
        transport=transport,
        url=_own(place.value),
        headers=headers,
        required=required,
        secret_variables=frozenset(_OWN + name for name in variables),
        secret_texts=texts,
        base=base,
    )


def _own(text: str) -> str:
    """Add the prefix `_OWN` to the name of each variable in *text*."""
    return _REFERENCE.sub("${" + _OWN, text)


# --- packages -------------------------------------------------------------------------


def _package(package: Mapping[str, Any], kind: str, base: Path) -> ServerEntry:
    transport = package.get("transport")
    if isinstance(transport, Mapping) and transport.get("type") not in (None, "stdio"):
        _refuse(
            f"The package in server.json speaks {clip(transport['type'])}: start it yourself, and "
            "connect its URL."
        )
    _check_origin(package, kind)
    program, options, mark = _RUNNERS[kind]
    hint = package.get("runtimeHint")
    if isinstance(hint, str) and hint != program:
        if hint not in _HINTS[kind]:
            known = " or ".join(sorted(_HINTS[kind]))
            _refuse(
                f"The package in server.json asks for the program {clip(hint)}: expected {known}. "
                "Write an entry of your own for it in mcp.json."
            )
        program, options = hint, []
    variables = _settings(_mappings(package, "environmentVariables"))
    for_program = _mappings(package, "runtimeArguments")
    for_package = _mappings(package, "packageArguments")
    runtime = _words(for_program)
    if program == "docker" and not runtime:
        for variable in variables:
            runtime += ["-e", variable.name]
    elif program != "docker":
        options = [option for option in options if option not in runtime]
    arguments = []
    for item in [*for_program, *for_package]:
        arguments.append(Setting("", _value(item, _variable_of(item)) or "", item))
    secret_variables, secret_texts = _secrets([*arguments, *variables])
    return ServerEntry(
        transport="stdio",
        command=program,
        args=(*options, *runtime, _identifier(package, mark), *_words(for_package)),
        env={variable.name: variable.value for variable in variables},
        required=_required([*_items_of(variables), *_items_of(arguments)]),
        secret_variables=secret_variables,
        secret_texts=secret_texts,
        base=base,
    )


def _check_origin(package: Mapping[str, Any], kind: str) -> None:
    """Check that the program that runs *package* loads it from the registry named in *package*.

    From any other registry, the program could load a different package of the same name.

    Raises:
        ServerError: If *package* names a registry that the program does not use.
    """
    origin = package.get("registryBaseUrl")
    if not origin:
        return
    host = str(origin).partition("://")[2].partition("/")[0].lower()
    # The name of an image contains its host
    is_named = kind == "oci" and str(package.get("identifier")).startswith(f"{host}/")
    if host not in _HOSTS[kind] and not is_named:
        _refuse(
            f"The package in server.json is from {clip(origin)}, where {_RUNNERS[kind][0]} would not "
            "look for it. Write an entry of your own for it in mcp.json."
        )


def _identifier(package: Mapping[str, Any], mark: str) -> str:
    identifier = _word(package.get("identifier"))
    version = package.get("version")
    is_versioned = mark in identifier.lstrip("@") or "@sha256" in identifier
    if version in (None, "", "latest") or is_versioned:
        return identifier
    return f"{identifier}{mark}{_word(version)}"


def _word(value: Any) -> str:
    """Return *value* unchanged; raise if it is not one word, or could be read as an option."""
    if isinstance(value, str) and _NAME.fullmatch(value) and not value.startswith("-"):
        return value
    _refuse(f"server.json names a package {clip(value)}, which cannot be the name of a package.")


def _words(arguments: list[Mapping[str, Any]]) -> list[str]:
    words = list[str]()
    for argument in arguments:
        words += _argument(argument)
    return words


def _argument(argument: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of one argument; nothing if it is optional and has no value."""
    name = argument.get("name")
    is_named = argument.get("type") == "named" and isinstance(name, str)
    if is_named and argument.get("format") == "boolean":
        chosen = argument.get("value")
        if chosen is None:
            chosen = argument.get("default")
        if str(chosen).lower() == "true":
            yield str(name)
        return
    value = _value(argument, _variable_of(argument))
    is_flag = value is None and _OPEN.isdisjoint(argument)
    if is_named and (is_flag or value is not None):
        yield str(name)
    if value is not None:
        yield value


# --- values that the user fills in ----------------------------------------------------

# The most characters in the label of a way
_LONGEST = 100
# Shown in place of a secret that was typed
_HIDDEN = "********"
# Such a character could start another line or header
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class _Place(NamedTuple):
    """An item of a `server.json` that has no value yet."""

    item: Any
    """An argument, a variable or a header, or one of their `variables`."""
    owner: list[Any] | None
    """The list that contains the item; None if it is one of the `variables` of another item."""
    is_argument: bool
    """Whether the value becomes a part of the command."""

    def fill(self, text: str) -> None:
        """Set the item's value to *text*; if *text* is empty, remove the item from its list."""
        if text or self.owner is None:
            self.item["value"] = text
            self.item.pop("variables", None)
        else:
            # By identity, because another item may be equal
            self.owner[:] = [each for each in self.owner if each is not self.item]


def _places(document: Mapping[str, Any]) -> dict[str, _Place]:
    """Return the items of *document* that need a value, by name; it has one remote or package."""
    places: dict[str, _Place] = {}

    def note(name: object, place: _Place) -> None:
        unique = str(name)
        # There may be two arguments `--mount`, for example
        while unique in places:
            unique += " (another)"
        if place.item.get("value") is None:
            places[unique] = place

    [way] = [*_mappings(document, "remotes"), *_mappings(document, "packages")]
    for name, variable in _variables_in(way):
        note(name, _Place(variable, None, is_argument=False))
    for key in ("runtimeArguments", "packageArguments", "environmentVariables", "headers"):
        is_argument = key.endswith("Arguments")
        for item in _mappings(way, key):
            is_bare = _value(item, "") is None and _OPEN.isdisjoint(item)
            # A flag is a name alone, without anything to fill in
            if not (is_argument and is_bare):
                name = item.get("name") or item.get("valueHint") or "argument"
                note(name, _Place(item, way[key], is_argument))
            if item.get("value") is not None:
                for name, variable in _variables_in(item):
                    note(name, _Place(variable, None, is_argument))
    return places


def _field(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema of type string for the value of *item*, which is called *name*."""
    about = str(item.get("description") or "")
    if item.get("placeholder"):
        about = f"{about} Example: {item['placeholder']}".strip()
    field: dict[str, Any] = {"type": "string", "description": about}
    if default := _default(item):
        field["default"] = default
    choices = item.get("choices")
    if item.get("format") == "boolean":
        choices = ["true", "false"]
    if isinstance(choices, list) and choices:
        field["enum"] = [str(choice) for choice in choices]
    if _is_secret(name, item):
        field["format"] = "password"
    return field


def _default(item: Mapping[str, Any]) -> str:
    default = item.get("default")
    if default is None:
        return ""
    return str(default)


def _is_secret(name: str, item: Mapping[str, Any]) -> bool:
    return item.get("isSecret") is True or is_secret_argument(name)


def _check_value(name: str, text: str, place: _Place) -> None:
    """Check that *text* cannot be misread as an option, a variable or several lines.

    Raises:
        ServerError: If *text* can be misread, or is empty although a value is required. The message
            does not contain *text*, because *text* may be a secret.
    """
    why = ""
    if not text and place.item.get("isRequired") is True:
        why = "is empty"
    elif "${" in text:
        why = "contains ${, which stands for a variable of this machine"
    elif _CONTROL.search(text):
        why = "contains a line break or another control character"
    elif place.is_argument and text.startswith("-") and number_in(text) is None:
        why = "begins with a dash, so that the program could take it for an option"
    if why:
        _refuse(f"The value of {clip(name)} {why}: write another value.")


# --- values ---------------------------------------------------------------------------


def _settings(items: list[Mapping[str, Any]], *, prefix: str = "") -> list[Setting]:
    """Return a setting for each variable or header in *items* that has a value.

    An item without a value is included if the environment has a variable with its name, preceded by
    *prefix*. The value is then a reference to this variable (`${NAME}`).
    """
    settings = []
    for item in items:
        name = item.get("name")
        if not isinstance(name, str) or not name:
            continue
        variable = _variable_of(item)
        value = _value(item, variable)
        if value is None and os.environ.get(prefix + variable):
            value = f"${{{variable}}}"
        if value is not None:
            settings.append(Setting(name, value, item))
    return settings


def _items_of(settings: list[Setting]) -> list[Mapping[str, Any]]:
    return [setting.item for setting in settings]


def _value(item: Mapping[str, Any], variable: str) -> str | None:
    """Return the fixed value of *item*, or a reference to *variable*; None if neither is known."""
    value, default = item.get("value"), item.get("default")
    if isinstance(value, str):
        return _filled(value, item)
    if isinstance(default, str | int | float) and not isinstance(default, bool):
        text = str(default)
        if "}" in text or not text:
            return text
        return f"${{{variable}:-{text}}}"
    if item.get("isRequired") is True:
        return f"${{{variable}}}"
    return None


def _filled(text: str, item: Mapping[str, Any]) -> str:
    """Replace each `{name}` in *text* whose name is one of the `variables` of *item*.

    It is replaced by the value of the variable, or by a reference (`${NAME:-}`) if it has no value.
    """
    known = dict(_variables_in(item))

    def reference(match: re.Match[str]) -> str:
        if match[1] not in known:
            return match[0]
        variable = _upper(match[1])
        value = _value(known[match[1]], variable)
        if value is None:
            return f"${{{variable}:-}}"
        return value

    return _VARIABLE.sub(reference, text)


def _variables_in(item: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the description of each of the `variables` of *item*."""
    variables = item.get("variables")
    if isinstance(variables, Mapping):
        for name, setting in variables.items():
            if isinstance(setting, Mapping):
                yield str(name), setting


def _required(items: list[Mapping[str, Any]]) -> dict[str, str]:
    """Return the environment variables that must be set, each with its description."""
    needs = {}
    for item in items:
        if _has_to_be_set(item):
            needs[_variable_of(item)] = item
        for name, setting in _variables_in(item):
            if _has_to_be_set(setting):
                needs[_upper(name)] = setting
    return {name: str(needs[name].get("description") or "") for name in sorted(needs)}


def _has_to_be_set(item: Mapping[str, Any]) -> bool:
    is_open = item.get("value") is None and item.get("default") is None
    return is_open and item.get("isRequired") is True


def _secrets(settings: list[Setting]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of variables and the values in the file that `isSecret` marks as secret."""
    secrets = []
    for setting in settings:
        if setting.item.get("isSecret") is True:
            secrets.append(setting.value)
        for name, one in _variables_in(setting.item):
            if one.get("isSecret") is True:
                variable = _upper(name)
                secrets.append(_value(one, variable) or f"${{{variable}}}")
    names, texts = set[str](), dict[str, None]()
    for text in secrets:
        for name, default in _REFERENCED.findall(text):
            names.add(name)
            texts[default] = None
        if "${" not in text:
            texts |= dict.fromkeys(parts(text))
    texts.pop("", None)
    return frozenset(names), tuple(texts)


def _variable_of(item: Mapping[str, Any]) -> str:
    """Return the name of the environment variable for *item*, derived from the item's name."""
    text = str(item.get("name") or item.get("valueHint") or "VALUE").lstrip("-")
    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        return text
    return _upper(text)


def _upper(name: str) -> str:
    text = re.sub(r"\W+", "_", name).strip("_").upper()
    if text[:1].isalpha():
        return text
    return f"VALUE_{text}"


def _mappings(item: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    values = item.get(key)
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, Mapping)]
