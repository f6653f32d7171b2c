"""Where a library cuts a long value in the middle, neither end of a secret shows."""

import traceback
from functools import partial
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from toolbench import Action
from toolbench.redaction.redactor import Redactor

LONG = "".join(f"{n:02d}-hunter2" for n in range(30))


class Name(BaseModel):
    name: Annotated[str, Field(max_length=5)]


class Tight(Action):
    name: Annotated[str, Field(max_length=5)]
    inner: Name | None = None


class TestCutInTheMiddle:
    """Both ends of a long secret are secrets where a library has cut out its middle."""

    @pytest.mark.parametrize("dots", ["...", "…"])
    @pytest.mark.parametrize("kind", [ValueError, KeyError, OSError, ExceptionGroup])
    def test_in_an_error_of_a_plain_call(self, kind, dots):
        """Also in what it came from, and in the attributes that it keeps."""
        cut = f"refused: {LONG[:40]}{dots}{LONG[-40:]} of length {len(LONG)}"
        error = kind(cut, [ValueError(cut)]) if kind is ExceptionGroup else kind(cut)
        error.detail, error.__cause__ = [cut], ValueError(cut)
        masked = Redactor([LONG]).error(error)
        text = "".join(traceback.format_exception(masked)) + repr(vars(masked))
        assert "hunter2" not in text
        assert "of length" in text

    @pytest.mark.parametrize(
        "login",
        [
            {"name": LONG},
            {"name": "a", "inner": {"name": LONG}},
        ],
        ids=["text", "inner"],
    )
    def test_in_what_pydantic_says_of_an_action(self, login):
        """It names the field and the reason, and quotes nothing; `errors()` is for programs."""
        for action_type in (
            Tight,
            Tight.from_mcp_schema("Same", Tight.to_mcp_schema()),
        ):
            for build in (action_type.model_validate, partial(_called, action_type)):
                with pytest.raises(ValidationError) as caught:
                    build(login)
                assert "hunter2" not in str(caught.value) + repr(caught.value)
                assert "at most 5" in str(caught.value)


def _called(action_type, login):
    return action_type(**login)
