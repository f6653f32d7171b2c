"""Find secrets in our messages by their places: a search cannot find numbers and short texts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbench.mcp.recording.tape import mapping_of, params_of
from toolbench.redaction.detect import Secrecy

Path = tuple[str, ...]
"""The keys that lead to a part of a message."""
_FORM = "elicitation/create"
# Open forms
_MOST_FORMS = 100


class SecretPlaces:
    """Finds the parts with secrets in our messages to one server."""

    def __init__(self, hide: Callable[[str, Mapping[str, Any]], Any]) -> None:
        """Take *hide*, which returns arguments of a tool with secrets replaced by `MARK`."""
        self._hide = hide
        self._forms: dict[Path, Secrecy] = {}

    def note(self, message: Mapping[str, Any]) -> None:
        """Keep the forms that *message*, from the server, asks a person to fill in."""
        if message.get("method") == _FORM:
            self._keep(("", str(message.get("id"))), params_of(message))
            return
        result = message.get("result")
        if not isinstance(result, Mapping) or "inputRequests" not in result:
            return
        state = str(result.get("requestState"))
        for key, request in mapping_of(result["inputRequests"]).items():
            self._keep((state, key), params_of(mapping_of(request)))

    def _keep(self, form: Path, params: Mapping[str, Any]) -> None:
        if isinstance(schema := params.get("requestedSchema"), Mapping):
            self._forms[form] = Secrecy(schema)
            while len(self._forms) > _MOST_FORMS:
                del self._forms[next(iter(self._forms))]

    def parts(self, message: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
        """Yield the parts of *message*, which we send, that have secrets.

        Each part has its path, and `MARK` in place of each secret.
        """
        for path, value, masked in self._looked_at(message):
            if masked != value:
                yield path, masked

    def _looked_at(self, message: Mapping[str, Any]) -> Iterator[tuple[Path, Any, Any]]:
        if "result" in message:
            form, answer = ("", str(message.get("id"))), mapping_of(message["result"])
            yield from self._filled_in(form, ("result", "content"), answer)
            return
        params = params_of(message)
        arguments = mapping_of(params.get("arguments"))
        match message.get("method"):
            case "tools/call" if arguments:
                masked = self._hide(str(params.get("name")), arguments)
                yield ("params", "arguments"), arguments, masked
            case "prompts/get" if arguments:
                yield ("params", "arguments"), arguments, _by_name(arguments)
            case "completion/complete":
                yield from _typed(params)
        state = str(params.get("requestState"))
        for key, answer in mapping_of(params.get("inputResponses")).items():
            path = ("params", "inputResponses", key, "content")
            yield from self._filled_in((state, key), path, mapping_of(answer))

    def _filled_in(
        self, form: Path, path: Path, answer: Mapping[str, Any]
    ) -> Iterator[tuple[Path, Any, Any]]:
        secrecy, content = self._forms.pop(form, None), answer.get("content")
        if secrecy is not None and isinstance(content, Mapping):
            yield path, content, secrecy.hide(content)[0]


def _typed(params: Mapping[str, Any]) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the typed values in a request to complete an argument."""
    argument = mapping_of(params.get("argument"))
    name, value = str(argument.get("name")), argument.get("value")
    yield ("params", "argument", "value"), value, _by_name({name: value})[name]
    others = mapping_of(mapping_of(params.get("context")).get("arguments"))
    yield ("params", "context", "arguments"), others, _by_name(others)


def _by_name(arguments: Mapping[str, Any]) -> Any:
    return Secrecy({}).hide(arguments)[0]


def at(message: Any, path: Path) -> Any:
    """Return the part of *message* at *path*."""
    for key in path:
        message = message[key]
    return message


def with_part(message: Any, path: Path, part: Any) -> Any:
    """Return *message* with the value at *path* replaced by *part*."""
    if not path:
        return part
    first, *rest = path
    return {**message, first: with_part(message[first], tuple(rest), part)}
