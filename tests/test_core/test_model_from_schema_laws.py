from json import dumps

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from test_core.schemas import OBJECTS, SCHEMAS, VALUES, fitting, judge
from toolbench import Action
from toolbench.jsonschema.compose import inline_defs, without_unset_nulls
from toolbench.jsonschema.validate import validator_of


def accepts(model, value):
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


@st.composite
def cases(draw):
    schema = draw(SCHEMAS)
    return schema, draw(st.lists(fitting(schema) | OBJECTS, min_size=1, max_size=6))


class TestForeignModels:
    @pytest.mark.slow
    @given(cases())
    @settings(max_examples=80)
    def test_accept_exactly_what_the_schema_accepts(self, case):
        """A model takes an object if and only if the reference implementation does."""
        schema, values = case
        model, reference = Action.from_mcp_schema("Generated", schema), judge(schema)
        for value in values:
            assert accepts(model, value) == reference.is_valid(value), value

    @given(cases())
    @settings(max_examples=50)
    def test_keep_values_as_they_came(self, case):
        """What was given comes out again, name by name and type by type."""
        schema, values = case
        model = Action.from_mcp_schema("Generated", schema)
        for value in values:
            if accepts(model, value):
                action = model.model_validate(value)
                text = dumps(action.to_arguments(), sort_keys=True)
                assert text == dumps(value, sort_keys=True)
                assert model.from_dict(action.to_dict()) == action

    @given(SCHEMAS)
    @settings(max_examples=50)
    def test_give_their_schema_back(self, schema):
        """Nothing is lost on the way in and out."""
        assert Action.from_mcp_schema("Generated", schema).to_mcp_schema() == schema

    @given(SCHEMAS, st.one_of(st.none(), st.booleans(), st.lists(VALUES), st.text()))
    @settings(max_examples=50)
    def test_take_objects_only(self, schema, value):
        """The arguments of a call are an object, whatever else a schema may allow."""
        del schema["type"]
        assert not accepts(Action.from_mcp_schema("Generated", schema), value)


class TestProblems:
    @given(cases())
    @settings(max_examples=60)
    def test_are_there_exactly_if_the_value_does_not_fit(self, case):
        """A validator that refuses says why, and one that does not says nothing."""
        schema, values = case
        validator = validator_of(schema)
        for value in values:
            assert validator.is_valid(value) == (not validator.problems(value))

    @given(cases())
    @settings(max_examples=40)
    def test_point_into_the_value(self, case):
        """Every path leads somewhere; only its last step may be what is missing."""
        schema, values = case
        for value in values:
            for problem in validator_of(schema).problems(value):
                at = value
                for step in problem.path[:-1]:
                    assert step in at if isinstance(at, dict) else step < len(at)
                    at = at[step]
                assert not problem.path or isinstance(at, dict | list)


class TestInlining:
    @pytest.mark.slow
    @given(cases())
    @settings(max_examples=60)
    def test_changes_nothing_a_value_can_tell(self, case):
        """A schema with its definitions in place accepts the same values."""
        schema, values = case
        flat = inline_defs(schema)
        before, after = judge(schema), judge(flat)
        assert set(flat.get("$defs", ())) <= {"tree"}, "only recursion needs $defs"
        for value in values:
            assert before.is_valid(value) == after.is_valid(value), value

    @given(cases())
    @settings(max_examples=40)
    def test_of_optionals_only_narrows(self, case):
        """Whatever a schema without the nulls of unset optionals accepts, the first does."""
        schema, values = case
        assume(not any(f'"{word}"' in dumps(schema) for word in ("not", "oneOf", "if")))
        before, after = judge(schema), judge(without_unset_nulls(schema))
        for value in values:
            assert before.is_valid(value) or not after.is_valid(value), value
