"""Read `server.json`, the registry's description of a server, as an entry of a configuration.

A package becomes the command that starts it, and a remote becomes its URL. Source: the MCP
registry's server.json, schema of 2025-12-11. The first form of the schema, with names like
`registry_type`, is read too.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from toolbench.errors import ServerError
from toolbench.redaction.writings import parts
from toolbench.values import clip

_RUNNERS = {
    "npm": ("npx", ["-y"], "@"),
    "pypi": ("uvx", [], "=="),
    "nuget": ("dnx", ["--yes"], "@"),
    "oci": ("docker", ["run", "-i", "--rm"], ":"),
}
"""For each registry: the program, its arguments, and the text between a package and its version."""
_HINTS = {
    "npm": {"npx", "bunx", "pnpx"},
    "pypi": {"uvx", "pipx"},
    "nuget": {"dnx"},
    "oci": {"docker", "podman"},
}
"""For each registry: the programs that a package may ask for. Others are refused: they could run
anything."""
_OWN = "MCP_"
"""The prefix of the variables that are sent to a remote. The remote gets no other variables."""
_REFERENCE = re.compile(r"\$\{(?=\w)")
_REFERENCED = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_VARIABLE = re.compile(r"\{([A-Za-z_][\w-]*)\}")
_OPEN = {"valueHint", "value_hint", "choices", "format", "placeholder"}
"""Keys of an argument that needs a value. Without a value, the argument is left out."""
_NAME = re.compile(r"[\w@./:+~-]+")


def is_registry_file(config: Any) -> bool:
    """Tell whether *config* is a `server.json`, or a registry's answer with one."""
    return _document(config) is not None


def registry_table(config: Any) -> dict[str, Any]:
    """Return the server of *config*, a `server.json`, by its short name.

    The first remote is taken, else the first package whose registry is known.

    Raises:
        ServerError: If the file has no such server, or the server cannot be read.
    """
    document = _document(config) or {}
    name = str(document["name"]).rpartition("/")[2]
    if "${" in json.dumps(document, default=str):
        _refuse(
            f"server.json of {name!r} contains ${{, which could read variables of this machine, so it "
            "is refused. Write an entry of your own for it in mcp.json."
        )
    problems = list[str]()
    for remote in _mappings(document, "remotes"):
        return {name: _remote(remote)}
    for package in _mappings(document, "packages"):
        kind = _field(package, "registryType", "registry_name")
        if kind in _RUNNERS:
            return {name: _package(package, str(kind))}
        problems.append(clip(kind))
    known = ", ".join(_RUNNERS)
    offered = f"packages of {' and '.join(problems)}" if problems else "nothing to use"
    msg = f"server.json of {name!r} has {offered}: known are remotes and {known}."
    raise ServerError(msg)


def _document(config: Any) -> Mapping[str, Any] | None:
    for place in (
        config,
        config.get("server") if isinstance(config, Mapping) else None,
    ):
        if (
            isinstance(place, Mapping)
            and isinstance(place.get("name"), str)
            and any(isinstance(place.get(key), list) for key in ("packages", "remotes"))
        ):
            return place
    return None


def _refuse(message: str) -> NoReturn:
    raise ServerError(message)


# --- remotes --------------------------------------------------------------------------


def _remote(remote: Mapping[str, Any]) -> dict[str, Any]:
    url = _field(remote, "url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://", "{")):
        _refuse(f"The URL of a remote in server.json is {clip(url)}: expected https://...")
    kind = _field(remote, "type", "transport_type")
    headers = _settings(_mappings(remote, "headers"), prefix=_OWN)
    required = _required([(url, remote)], headers)
    return {
        "url": _own(_filled(url, remote)),
        "transport": "sse" if kind == "sse" else "http",
        "headers": {name: _own(value) for name, value, _ in headers},
        "requiredVariables": {_OWN + name: text for name, text in required.items()},
        **_secrets([(_filled(url, remote), remote)], headers, prefix=_OWN),
    }


def _own(text: str) -> str:
    """Return *text*, and put the prefix `_OWN` before the name of each variable in it."""
    return _REFERENCE.sub("${" + _OWN, text)


# --- packages -------------------------------------------------------------------------


def _package(package: Mapping[str, Any], kind: str) -> dict[str, Any]:
    transport = package.get("transport")
    way = transport.get("type") if isinstance(transport, Mapping) else "stdio"
    if way not in (None, "stdio"):
        _refuse(
            f"The package in server.json speaks {clip(way)}: start it yourself, and connect its URL."
        )
    program, options, mark = _RUNNERS[kind]
    hint = _field(package, "runtimeHint", "runtime_hint")
    if isinstance(hint, str) and hint != program:
        if hint not in _HINTS[kind]:
            known = " or ".join(sorted(_HINTS[kind]))
            _refuse(
                f"The package in server.json asks for the program {clip(hint)}: expected {known}. "
                "Write an entry of your own for it in mcp.json."
            )
        program, options = hint, []
    variables = _settings(_mappings(package, "environmentVariables"))
    runtime = _arguments(package, "runtimeArguments")
    if program == "docker" and not runtime:
        runtime = [word for name, _, _ in variables for word in ("-e", name)]
    every = _all_arguments(package)
    arguments = [(str(a.get("value", "")), a) for a in every]
    words = [(_value(a, _variable_of(a)) or "", a) for a in every]
    return {
        "command": program,
        "args": [
            *(options if not runtime or program == "docker" else _without(options, runtime)),
            *runtime,
            _identifier(package, mark),
            *_arguments(package, "packageArguments"),
        ],
        "env": {name: value for name, value, _ in variables},
        "requiredVariables": _required(arguments, variables),
        **_secrets(words, variables),
    }


def _without(options: list[str], runtime: list[str]) -> list[str]:
    return [option for option in options if option not in runtime]


def _identifier(package: Mapping[str, Any], mark: str) -> str:
    identifier = _word(_field(package, "identifier", "name"))
    version = package.get("version")
    is_versioned = mark in identifier.lstrip("@") or "@sha256" in identifier
    if version in (None, "", "latest") or is_versioned:
        return identifier
    return f"{identifier}{mark}{_word(version)}"


def _word(value: Any) -> str:
    """Return *value*; raise if it is more than one word, or if a program may take it for an option."""
    if isinstance(value, str) and _NAME.fullmatch(value) and not value.startswith("-"):
        return value
    _refuse(f"server.json names a package {clip(value)}, which cannot be the name of a package.")


def _all_arguments(package: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    keys = ("runtimeArguments", "packageArguments")
    return [argument for key in keys for argument in _mappings(package, key)]


def _arguments(package: Mapping[str, Any], key: str) -> list[str]:
    return [word for argument in _mappings(package, key) for word in _argument(argument)]


def _argument(argument: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of one argument; none if it is optional and has no value."""
    name = argument.get("name") if argument.get("type") == "named" else None
    value = _value(argument, _variable_of(argument))
    if isinstance(name, str) and argument.get("format") == "boolean":
        if str(_field(argument, "value", "default")).lower() == "true":
            yield name
        return
    is_flag = value is None and _OPEN.isdisjoint(argument)
    if isinstance(name, str) and (is_flag or value is not None):
        yield name
    if value is not None:
        yield value


# --- values ---------------------------------------------------------------------------


def _settings(
    items: list[Mapping[str, Any]], *, prefix: str = ""
) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return (name, value, item) for each of *items* that has a value.

    An item is a variable or a header. An item without a value becomes a reference, if an
    environment variable with *prefix* and the name of the item is set.
    """
    settings = []
    for item in items:
        name = item.get("name")
        if not isinstance(name, str) or not name:
            continue
        value = _value(item, _variable_of(item))
        if value is None and os.environ.get(prefix + _variable_of(item)):
            value = f"${{{_variable_of(item)}}}"
        if value is not None:
            settings.append((name, value, item))
    return settings


def _value(item: Mapping[str, Any], variable: str) -> str | None:
    """Return the value of *item*: fixed, or a reference to *variable*; None if there is none."""
    value, default = item.get("value"), item.get("default")
    if isinstance(value, str):
        return _filled(value, item)
    if isinstance(default, str | int | float) and not isinstance(default, bool):
        text = str(default)
        return text if "}" in text or not text else f"${{{variable}:-{text}}}"
    return f"${{{variable}}}" if _is_required(item) else None


def _filled(text: str, item: Mapping[str, Any]) -> str:
    """Return *text* with each `{name}` replaced, if `name` is among the `variables` of *item*.

    The replacement is the variable's value, or a reference (`${NAME}`).
    """
    variables = item.get("variables")
    known = variables if isinstance(variables, Mapping) else {}

    def reference(match: re.Match[str]) -> str:
        setting = known.get(match[1])
        if not isinstance(setting, Mapping):
            return match[0]
        variable = _upper(match[1])
        return _value(setting, variable) or f"${{{variable}:-}}"

    return _VARIABLE.sub(reference, text)


def _required(
    texts: list[tuple[str, Mapping[str, Any]]],
    settings: list[tuple[str, str, Mapping[str, Any]]],
) -> dict[str, str]:
    """Return the variables that have to be set in the environment, each with its description."""
    items = [item for _, _, item in settings] + [item for _, item in texts]
    needs = {_variable_of(i): i for i in items if _is_open(i) and _is_required(i)}
    for item in items:
        variables = item.get("variables")
        for name, setting in variables.items() if isinstance(variables, Mapping) else ():
            if isinstance(setting, Mapping) and _is_open(setting) and _is_required(setting):
                needs[_upper(str(name))] = setting
    return {name: str(needs[name].get("description") or "") for name in sorted(needs)}


def _secrets(
    texts: list[tuple[str, Mapping[str, Any]]],
    settings: list[tuple[str, str, Mapping[str, Any]]],
    *,
    prefix: str = "",
) -> dict[str, list[str]]:
    """Return the secrets that `isSecret` marks: names of variables, and values in the file itself."""
    secrets = [(text, item) for text, item in texts if _is_secret(item)]
    secrets += [(text, item) for _, text, item in settings if _is_secret(item)]
    for item in [item for _, item in texts] + [item for _, _, item in settings]:
        variables = item.get("variables")
        for name, setting in variables.items() if isinstance(variables, Mapping) else ():
            if isinstance(setting, Mapping) and _is_secret(setting):
                variable = _upper(str(name))
                secrets.append((_value(setting, variable) or f"${{{variable}}}", setting))
    names, fixed = set[str](), list[str]()
    for text, _ in secrets:
        for name, default in _REFERENCED.findall(text):
            names.add(prefix + name)
            fixed.append(default)
        if "${" not in text:
            fixed += parts(text)
    return {
        "secretVariables": sorted(names),
        "secretTexts": list(dict.fromkeys(filter(None, fixed))),
    }


def _is_secret(item: Mapping[str, Any]) -> bool:
    return _field(item, "isSecret", "is_secret") is True


def _is_open(item: Mapping[str, Any]) -> bool:
    return item.get("value") is None and item.get("default") is None


def _is_required(item: Mapping[str, Any]) -> bool:
    return _field(item, "isRequired", "is_required") is True


def _variable_of(item: Mapping[str, Any]) -> str:
    """Return the name of the environment variable for *item*: its own name, or a similar name."""
    name = _field(item, "valueHint", "name") or "VALUE"
    text = str(item.get("name") or name).lstrip("-")
    return text if re.fullmatch(r"[A-Z_][A-Z0-9_]*", text) else _upper(text)


def _upper(name: str) -> str:
    text = re.sub(r"\W+", "_", name).strip("_").upper()
    return text if text[:1].isalpha() else f"VALUE_{text}"


def _field(item: Mapping[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _mappings(item: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    older = re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)
    values = _field(item, key, older)
    values = values if isinstance(values, list) else []
    return [value for value in values if isinstance(value, Mapping)]
