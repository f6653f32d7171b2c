"""Tools of a notebook that tell their secret in every way there is: one for each kind of secret."""

import json
import logging
import sys
from typing import Annotated, Any

from IPython.display import HTML, Markdown, display
from pydantic import BaseModel, Field, SecretStr

from test_redaction.writings import writings
from toolbench import current_run

received: list[str] = []


class Login(BaseModel):
    token: str


def written_out(fails: bool, *secrets: Any) -> str:
    """Say the secrets in every way there is, printed, displayed, logged, in pieces.

    What fails writes the pieces to stderr, and what does not to stdout: they take time.
    """
    text = "\n".join(writings(plain(secret)) for secret in secrets)
    received.extend(plain(secret) for secret in secrets)
    for stream in (sys.stdout, sys.stderr):
        print(text, file=stream)
    for piece in (text[i : i + 7] for i in range(0, len(text), 7)):
        (sys.stderr if fails else sys.stdout).write(piece)
    display(HTML(f"<b>{text}</b>"), Markdown(text), [plain(secret) for secret in secrets])
    current_run().progress(1, 2, text)
    current_run().log(text)
    logging.getLogger("leaky").warning(text)
    return text


def plain(secret: Any) -> str:
    return secret.get_secret_value() if isinstance(secret, SecretStr) else secret


# How a tool of the kind "default" comes to its secret
KNOWN = dict[str, str]()


def key() -> SecretStr:
    return SecretStr(KNOWN["secret"])


def by_name(password: str, fails: bool = False):
    return text_with(fails, password)


def by_format(
    code: Annotated[str, Field(json_schema_extra={"format": "password"})],
    fails: bool = False,
):
    return text_with(fails, code)


def write_only(
    code: Annotated[str, Field(json_schema_extra={"writeOnly": True})],
    fails: bool = False,
):
    return text_with(fails, code)


def wrapped(code: SecretStr, fails: bool = False):
    return text_with(fails, code)


def default(code: Annotated[SecretStr, Field(default_factory=key)], fails: bool = False):
    return text_with(fails, code)


def nested(login: Login, fails: bool = False):
    return text_with(fails, login.token)


def in_a_list(api_keys: list[str], fails: bool = False):
    return text_with(fails, *api_keys)


def in_a_map(api_keys: dict[str, str], fails: bool = False):
    return text_with(fails, *api_keys.values())


def in_json(body: str, fails: bool = False):
    return text_with(fails, json.loads(body)["password"])


def text_with(fails: bool, *secrets: Any) -> str:
    text = written_out(fails, *secrets)
    if fails:
        raise ValueError(text)
    return text


KINDS = {
    "by name": (by_name, lambda secret: {"password": secret}),
    "format": (by_format, lambda secret: {"code": secret}),
    "writeOnly": (write_only, lambda secret: {"code": secret}),
    "SecretStr": (wrapped, lambda secret: {"code": secret}),
    "default": (default, lambda secret: {}),
    "nested": (nested, lambda secret: {"login": {"token": secret}}),
    "in a list": (in_a_list, lambda secret: {"api_keys": ["other-secret", secret]}),
    "in a map": (in_a_map, lambda secret: {"api_keys": {"work": secret}}),
    "in JSON": (in_json, lambda secret: {"body": json.dumps({"password": secret})}),
}
