"""What a model and a person read of what an executor raised."""

import asyncio
import logging
import sqlite3
from io import BytesIO
from pathlib import Path
from threading import Thread

import httpx2
import pytest
import requests
from patience import join
from pydantic import BaseModel, ValidationError

import toolbench
from toolbench import history, run_tool, tool
from toolbench.redaction import MARK
from toolbench.runs.exception_text import sentence_of, traceback_of


class TestGroups:
    def test_of_a_task_group_name_the_reason(self):
        """What the group only counts is what one needs to know."""

        @tool
        async def grp() -> None:
            """Fail in a task."""

            async def fail():
                raise ValueError("inner")

            async with asyncio.TaskGroup() as group:
                group.create_task(fail())

        assert run_tool(grp).text.endswith("(1 sub-exception): ValueError: inner")

    @pytest.mark.parametrize(("count", "end"), [(2, "V: 1"), (3, "V: 2"), (9, "...")])
    def test_name_the_first_few_however_deep(self, count, end):
        """Groups in groups are no errors of their own, and the sentence stays short."""
        kind = type("V", (ValueError,), {})
        errors = [kind(number) for number in range(count)]
        nested = ExceptionGroup("all", [ExceptionGroup("some", errors[:1]), *errors[1:]])
        text = sentence_of(nested)
        assert text.startswith("ExceptionGroup: all (")
        assert "some" not in text
        assert text.count("V: ") == min(count, 3)
        assert text.endswith(f"; {end}")

    def test_keep_their_notes_apart_from_their_errors(self):
        """A note of the group stands between its own message and the errors in it."""
        group = ExceptionGroup("both", [ValueError("a"), ValueError("b")])
        group.add_note("of two shelves")
        _, note, errors = sentence_of(group).split("\n")
        assert (note, errors) == ("of two shelves", "ValueError: a; ValueError: b")


def test_notes_are_read_too():
    """A model, the cell and the record have what a traceback shows below the message."""

    @tool
    def find(shelf: str, password: str = "") -> str:
        """Find a shelf."""
        error = ValueError("no such shelf")
        error.add_note(f"shelves are a, b and c{password}")
        error.__notes__.append(b"\xff")
        raise error

    text = "ValueError: no such shelf\nshelves are a, b and c\nb'\\xff'"
    assert run_tool(find, shelf="d").text == text
    assert history()[-1].observation.text == text
    assert "hunter22" not in run_tool(find, shelf="d", password="hunter22").text


def test_a_value_that_pydantic_cut_is_hidden_whole(caplog):
    """Both ends of a long secret are nearly all of it, whether it is the value or inside of it."""
    secret = "sk-0123456789-abcdefghij-" * 4

    class Login(BaseModel):
        user: int
        password: str

    @tool
    def enter(password: str, user: str = "") -> str:
        """Log in."""
        fields = {"password": password, "user": user or password}
        try:
            Login.model_validate(fields)
        except ValidationError:
            logging.getLogger("enter").exception("no")
        del fields["user"]
        Login.model_validate(fields)
        return "in"

    observation = run_tool(enter, password=secret)
    assert "Field required" in observation.text
    for text in (observation.text, history()[-1].traceback, caplog.text):
        assert f"input_value={MARK}, input_type=" in text
        assert not any(secret[n : n + 6] in text for n in range(len(secret) - 5))


def of_httpx(body: bytes, kind: str, *, is_read: bool) -> Exception:
    response = httpx2.Response(
        409,
        headers={"content-type": kind},
        stream=httpx2.ByteStream(body),
        request=httpx2.Request("GET", "http://tracker/issues"),
    )
    if is_read:
        response.read()
    with pytest.raises(httpx2.HTTPStatusError) as caught:
        response.raise_for_status()
    return caught.value


def of_requests(body: bytes, kind: str, *, is_read: bool) -> Exception:
    response = requests.Response()
    response.status_code, response.raw = 409, BytesIO(body)
    response.headers["content-type"] = kind
    response.encoding = requests.utils.get_encoding_from_headers(response.headers)
    assert not is_read or response.content
    with pytest.raises(requests.HTTPError) as caught:
        response.raise_for_status()
    return caught.value


@pytest.mark.parametrize("error_of", [of_httpx, of_requests])
class TestHTTP:
    """What a server answers is in its body; the error of the client has only the status."""

    @pytest.mark.parametrize(
        ("body", "kind", "said"),
        [
            (
                '{"error": "no Köln"}',
                "application/json",
                'The body of the response: {"error": "no Köln"}',
            ),
            ("<p>Köln", "text/html", "The body of the response: <p>Köln"),
            ("x" * 501, "text/plain", f"The body of the response: {'x' * 499}…"),
            ("\x89PNG", "image/png", "The body of the response is not text: image/png, 4 bytes."),
        ],
    )
    def test_the_body_is_read_with_the_error(self, error_of, body, kind, said):
        """By the model and the user; of a long one the beginning, of what is no text its kind."""
        encoded = body.encode("latin-1" if kind == "image/png" else "utf-8")
        status, *rest = sentence_of(error_of(encoded, kind, is_read=True)).split("\n")
        assert "409" in status
        assert rest[-1] == said

    def test_a_stream_that_the_tool_did_not_read_is_left_alone(self, error_of):
        """It may never end."""
        error = error_of(b"endless", "text/plain", is_read=False)
        assert "body" not in sentence_of(error)
        assert not vars(error.response).get("_content")

    def test_its_secrets_are_hidden_before_it_is_cut(self, error_of):
        """A part of a secret at the end would be found by nobody."""

        @tool
        def fetch(password: str) -> str:
            """Fetch it."""
            body = "x" * 490 + password + password
            raise error_of(body.encode(), "text/plain", is_read=True)

        text = run_tool(fetch, password="hunter22-hunter22").text
        assert "xxx" in text
        assert "hunt" not in text


def test_a_connection_of_another_thread_says_where_to_open_it():
    """CPython's sentence tells numbers of threads; what to do comes after it."""
    connection, texts = sqlite3.connect(":memory:"), []

    def use() -> None:
        try:
            connection.execute("select 1")
        except sqlite3.Error as error:
            texts.append(sentence_of(error))

    thread = Thread(target=use)
    thread.start()
    join(thread)
    connection.close()
    [text] = texts
    assert "created in a thread" in text
    assert text.endswith("open the connection inside the tool, or with check_same_thread=False.")


def test_a_package_whose_name_begins_with_ours_is_not_ours():
    """The traceback of a person's tool begins with the person's code, wherever that is."""
    package = Path(toolbench.__file__).parent
    place = package.with_name(f"{package.name}_of_mine") / "shop.py"
    names = {}
    exec(compile("import json\ndef sell():\n    json.loads('{')", place, "exec"), names)
    with pytest.raises(ValueError) as caught:
        names["sell"]()
    # Without the frame of this test
    caught.value.__traceback__ = caught.value.__traceback__.tb_next
    assert f'File "{place}", line 3, in sell' in traceback_of(caught.value)
