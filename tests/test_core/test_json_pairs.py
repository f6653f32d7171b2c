"""An object says each key once."""

import json

import pytest

from toolbench.values import each_once


@pytest.mark.parametrize("text", ["{}", '{"a": 1, "b": {"a": 1}}'])
def test_reads_what_is_clear(text):
    """The same key in another object is another key."""
    assert json.loads(text, object_pairs_hook=each_once) == json.loads(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]'])
def test_refuses_a_key_that_stands_there_twice(text):
    """Whatever its values, and however deep it stands."""
    with pytest.raises(ValueError, match='the key "a" is there twice'):
        json.loads(text, object_pairs_hook=each_once)
