"""Find secrets in our messages by their places: a search cannot find numbers and short strings."""

from collections.abc import Callable, Mapping
from typing import Any

from toolbench.mcp.recording.tape import mapping_of, params_of
from toolbench.redaction.detect import Secrecy

Form = tuple[str, str]
"""A question of the server: the state of its request and its key there, or no state and its id."""
# Open forms
_MOST_FORMS = 100
_BY_NAME = Secrecy({})


class SecretPlaces:
    """Hides the secrets in our messages to one server."""

    def __init__(self, hide: Callable[[str, Mapping[str, Any]], Any]) -> None:
        """Take *hide*, which returns arguments of a tool with secrets replaced by `MARK`."""
        self._hide = hide
        self._forms: dict[Form, Secrecy] = {}

    def note(self, message: Mapping[str, Any]) -> None:
        """Keep the forms that *message*, from the server, asks the user to fill in."""
        if message.get("method") == "elicitation/create":
            self._keep(("", str(message.get("id"))), params_of(message))
            return
        result = mapping_of(message.get("result"))
        for key, request in mapping_of(result.get("inputRequests")).items():
            self._keep((str(result.get("requestState")), key), params_of(mapping_of(request)))

    def _keep(self, form: Form, params: Mapping[str, Any]) -> None:
        schema = params.get("requestedSchema")
        if isinstance(schema, Mapping):
            self._forms[form] = Secrecy(schema)
            while len(self._forms) > _MOST_FORMS:
                del self._forms[next(iter(self._forms))]

    def hidden(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return *message*, which we send, with `MARK` in place of each secret; itself without one."""
        hidden = dict(message)
        if "result" in message:
            form = "", str(message.get("id"))
            hidden["result"] = self._answer(form, message["result"])
        elif params := params_of(message):
            hidden["params"] = self._params(str(message.get("method")), params)
        if hidden == message:
            return message
        return hidden

    def _params(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        hidden = dict(params)
        arguments = mapping_of(params.get("arguments"))
        if method == "tools/call" and arguments:
            hidden["arguments"] = self._hide(str(params.get("name")), arguments)
        elif method == "prompts/get" and arguments:
            hidden["arguments"] = _BY_NAME.hide(arguments)[0]
        elif method == "completion/complete":
            argument, context = (
                mapping_of(params.get("argument")),
                mapping_of(params.get("context")),
            )
            if "value" in argument:
                typed = {str(argument.get("name")): argument["value"]}
                [value] = _BY_NAME.hide(typed)[0].values()
                hidden["argument"] = {**argument, "value": value}
            if others := mapping_of(context.get("arguments")):
                hidden["context"] = {**context, "arguments": _BY_NAME.hide(others)[0]}
        answers = dict[str, Any]()
        for key, answer in mapping_of(params.get("inputResponses")).items():
            answers[key] = self._answer((str(params.get("requestState")), key), answer)
        if answers:
            hidden["inputResponses"] = answers
        return hidden

    def _answer(self, form: Form, answer: Any) -> Any:
        """Return *answer*, the user's to *form*, with `MARK` in place of each secret."""
        secrecy, content = self._forms.pop(form, None), mapping_of(answer).get("content")
        if secrecy is None or not isinstance(content, Mapping):
            return answer
        return {**answer, "content": secrecy.hide(content)[0]}
