"""Changes of schemas and what each means: for arguments that are sent, for output that comes.

A case is a name, the schema before, the schema after, the severity as an input schema, and the
severity as an output schema. The severity is that of the change that matters most.
"""

from typing import Any, NamedTuple

BREAKING, ROUTING, ADDITIVE, COSMETIC = "breaking", "routing", "additive", "cosmetic"

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
YES_NO = {"type": "boolean"}
NULL = {"type": "null"}


class Case(NamedTuple):
    name: str
    before: Any
    after: Any
    as_input: str
    as_output: str


def obj(*required, closed=False, **properties):
    """An object with *properties*, of which some are *required*."""
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    if closed:
        schema["additionalProperties"] = False
    return schema


def one(schema):
    """An object with one property."""
    return obj(x=schema)


def union(*branches, keyword="anyOf"):
    return {keyword: list(branches)}


def kinds(*names, keyword="oneOf"):
    """Objects that a constant tells apart."""
    return union(*(obj("kind", kind={"const": n}, v=TEXT) for n in names), keyword=keyword)


def listed(*values):
    return {"type": "string", "enum": list(values)}


def items(schema, **limits):
    return {"type": "array", "items": schema, **limits}


def tree(value, name="Tree"):
    """A schema that refers to itself."""
    ref = {"$ref": f"#/$defs/{name}"}
    inner = obj("value", value=value, children=items(ref))
    return {"$defs": {name: inner}, **obj("root", root=ref)}


def with_defs(ref, **definitions):
    return {**one({"$ref": f"#/$defs/{ref}"}), "$defs": definitions}


def _case(name, before, after, as_input, as_output=None):
    flipped = {BREAKING: ADDITIVE, ADDITIVE: BREAKING}
    return Case(name, before, after, as_input, as_output or flipped.get(as_input, as_input))


# fmt: off
SCHEMA_CHANGES = [
    # properties
    _case("optional property added", obj(a=TEXT), obj(a=TEXT, b=TEXT), ADDITIVE, ADDITIVE),
    _case("optional property added to a closed object", obj(a=TEXT, closed=True), obj(a=TEXT, b=TEXT, closed=True), ADDITIVE, ADDITIVE),
    _case("required property added", obj(a=TEXT), obj("b", a=TEXT, b=TEXT), BREAKING, ADDITIVE),
    _case("required property with a default added", obj(a=TEXT), obj("b", a=TEXT, b={**TEXT, "default": "z"}), BREAKING, ADDITIVE),
    _case("optional property removed", obj(a=TEXT, b=TEXT), obj(a=TEXT), BREAKING, BREAKING),
    _case("optional property removed, closed", obj(a=TEXT, b=TEXT, closed=True), obj(a=TEXT, closed=True), BREAKING, BREAKING),
    _case("required property removed", obj("b", a=TEXT, b=TEXT), obj(a=TEXT), BREAKING, BREAKING),
    _case("property renamed", obj(a=TEXT), obj(b=TEXT), BREAKING, BREAKING),
    _case("optional became required", obj(a=TEXT), obj("a", a=TEXT), BREAKING),
    _case("required became optional", obj("a", a=TEXT), obj(a=TEXT), ADDITIVE),
    _case("inner optional became required", one(obj(a=TEXT)), one(obj("a", a=TEXT)), BREAKING),
    _case("inner required became optional", one(obj("a", a=TEXT)), one(obj(a=TEXT)), ADDITIVE),
    _case("object closed", obj(a=TEXT), obj(a=TEXT, closed=True), BREAKING),
    _case("object opened", obj(a=TEXT, closed=True), obj(a=TEXT), ADDITIVE, ADDITIVE),
    _case("inner object closed", one(obj(a=TEXT)), one(obj(a=TEXT, closed=True)), BREAKING),
    _case("openness written down", obj(a=TEXT), {**obj(a=TEXT), "additionalProperties": True}, COSMETIC),
    _case("values of a map narrowed", one({"type": "object", "additionalProperties": NUMBER}), one({"type": "object", "additionalProperties": WHOLE}), BREAKING),
    _case("values of a map widened", one({"type": "object", "additionalProperties": WHOLE}), one({"type": "object", "additionalProperties": NUMBER}), ADDITIVE),
    _case("open object became a map of texts", one({"type": "object"}), one({"type": "object", "additionalProperties": TEXT}), BREAKING),
    _case("keys have to match", one({"type": "object"}), one({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}), BREAKING),
    _case("fewest keys raised", one({"type": "object", "minProperties": 1}), one({"type": "object", "minProperties": 2}), BREAKING),
    _case("most keys raised", one({"type": "object", "maxProperties": 1}), one({"type": "object", "maxProperties": 2}), ADDITIVE),
    _case("one property asks for another", obj(a=TEXT, b=TEXT), {**obj(a=TEXT, b=TEXT), "dependentRequired": {"a": ["b"]}}, BREAKING),
    _case("what a key asks for, in the older spelling", obj(a=TEXT, b=TEXT, c=TEXT), {**obj(a=TEXT, b=TEXT, c=TEXT), "dependencies": {"a": ["b"]}}, BREAKING),
    _case("what keys ask for, in both spellings", {**obj(a=TEXT, b=TEXT), "dependencies": {"a": ["b"], "b": obj("a")}}, {**obj(a=TEXT, b=TEXT), "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": obj("a")}}, BREAKING, BREAKING),
    # types
    _case("text became a whole number", one(TEXT), one(WHOLE), BREAKING, BREAKING),
    _case("whole number became a number", one(WHOLE), one(NUMBER), ADDITIVE),
    _case("number became a whole number", one(NUMBER), one(WHOLE), BREAKING),
    _case("text became text or number", one(TEXT), one({"type": ["string", "number"]}), ADDITIVE),
    _case("text or number became text", one({"type": ["string", "number"]}), one(TEXT), BREAKING),
    _case("null allowed", one(TEXT), one(union(TEXT, NULL)), ADDITIVE),
    _case("null allowed by a list of types", one(TEXT), one({"type": ["string", "null"]}), ADDITIVE),
    _case("null forbidden", one(union(TEXT, NULL)), one(TEXT), BREAKING),
    _case("type dropped", one(TEXT), one({}), ADDITIVE),
    _case("type stated", one({}), one(TEXT), BREAKING),
    _case("one text became a list of texts", one(TEXT), one(items(TEXT)), BREAKING, BREAKING),
    _case("one text or a list of texts", one(TEXT), one(union(TEXT, items(TEXT))), ADDITIVE),
    # listed values
    _case("listed value removed", one(listed("a", "b")), one(listed("a")), BREAKING),
    _case("listed value added", one(listed("a")), one(listed("a", "b")), ADDITIVE),
    _case("listed value exchanged", one(listed("a", "b")), one(listed("a", "c")), BREAKING, BREAKING),
    _case("list of values introduced", one(TEXT), one(listed("a", "b")), BREAKING),
    _case("list of values dropped", one(listed("a", "b")), one(TEXT), ADDITIVE),
    _case("listed values in another order", one(listed("a", "b")), one(listed("b", "a")), COSMETIC),
    _case("one value as constant", one({"enum": ["a"]}), one({"const": "a"}), COSMETIC),
    _case("constant changed", one({"const": "a"}), one({"const": "b"}), BREAKING, BREAKING),
    _case("listed values as alternatives", one(listed("a", "b")), one(union({"const": "a"}, {"const": "b"}, keyword="oneOf")), COSMETIC),
    _case("null among listed values", one({"enum": ["a"]}), one({"enum": ["a", None]}), ADDITIVE),
    # limits
    _case("maximum lowered", one({**WHOLE, "maximum": 100}), one({**WHOLE, "maximum": 50}), BREAKING),
    _case("maximum raised", one({**WHOLE, "maximum": 50}), one({**WHOLE, "maximum": 100}), ADDITIVE),
    _case("maximum introduced", one(WHOLE), one({**WHOLE, "maximum": 50}), BREAKING),
    _case("maximum dropped", one({**WHOLE, "maximum": 50}), one(WHOLE), ADDITIVE),
    _case("minimum raised", one({**NUMBER, "minimum": 0}), one({**NUMBER, "minimum": 1}), BREAKING),
    _case("minimum lowered", one({**NUMBER, "minimum": 1}), one({**NUMBER, "minimum": 0}), ADDITIVE),
    _case("minimum became exclusive", one({**NUMBER, "minimum": 0}), one({**NUMBER, "exclusiveMinimum": 0}), BREAKING),
    _case("exclusive limit of whole numbers written otherwise", one({**WHOLE, "minimum": 1}), one({**WHOLE, "exclusiveMinimum": 0}), COSMETIC),
    _case("minimum of another spelling", one({**NUMBER, "minimum": 1}), one({**NUMBER, "minimum": 1.0}), COSMETIC),
    _case("step introduced", one(WHOLE), one({**WHOLE, "multipleOf": 5}), BREAKING),
    _case("step made finer", one({**WHOLE, "multipleOf": 10}), one({**WHOLE, "multipleOf": 5}), ADDITIVE),
    _case("step changed", one({**WHOLE, "multipleOf": 2}), one({**WHOLE, "multipleOf": 3}), BREAKING, BREAKING),
    _case("shortest text longer", one({**TEXT, "minLength": 1}), one({**TEXT, "minLength": 3}), BREAKING),
    _case("longest text shorter", one({**TEXT, "maxLength": 100}), one({**TEXT, "maxLength": 10}), BREAKING),
    _case("longest text longer", one({**TEXT, "maxLength": 10}), one({**TEXT, "maxLength": 100}), ADDITIVE),
    _case("least length of nothing", one(TEXT), one({**TEXT, "minLength": 0}), COSMETIC),
    _case("pattern introduced", one(TEXT), one({**TEXT, "pattern": "^[a-z]+$"}), BREAKING),
    _case("pattern dropped", one({**TEXT, "pattern": "^[a-z]+$"}), one(TEXT), ADDITIVE),
    _case("pattern changed", one({**TEXT, "pattern": "^[a-z]+$"}), one({**TEXT, "pattern": "^[A-Z]+$"}), BREAKING, BREAKING),
    # lists
    _case("items narrowed", one(items(NUMBER)), one(items(WHOLE)), BREAKING),
    _case("items widened", one(items(WHOLE)), one(items(NUMBER)), ADDITIVE),
    _case("fewest items raised", one(items(TEXT)), one(items(TEXT, minItems=1)), BREAKING),
    _case("most items raised", one(items(TEXT, maxItems=5)), one(items(TEXT, maxItems=9)), ADDITIVE),
    _case("items must differ", one(items(TEXT)), one(items(TEXT, uniqueItems=True)), BREAKING),
    _case("a property of items required", one(items(obj(sku=TEXT))), one(items(obj("sku", sku=TEXT))), BREAKING),
    _case("place of a tuple narrowed", one({"type": "array", "prefixItems": [NUMBER, TEXT]}), one({"type": "array", "prefixItems": [WHOLE, TEXT]}), BREAKING),
    _case("tuple in the older spelling", {"$schema": "http://json-schema.org/draft-07/schema#", **one({"type": "array", "items": [NUMBER, TEXT]})}, one({"type": "array", "prefixItems": [NUMBER, TEXT]}), COSMETIC),
    _case("longest list of a tuple that is closed anyway", one({"type": "array", "prefixItems": [TEXT, TEXT], "items": False}), one({"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "maxItems": 2}), COSMETIC),
    _case("longest list shorter than the tuple", one({"type": "array", "prefixItems": [TEXT, TEXT], "items": False}), one({"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "maxItems": 1}), BREAKING),
    _case("pattern anchored", one({**TEXT, "pattern": "[0-9]+"}), one({**TEXT, "pattern": "^[0-9]+$"}), BREAKING, BREAKING),
    _case("pattern takes one word more", one({**TEXT, "pattern": "^(us|eu)-[a-z]+$"}), one({**TEXT, "pattern": "^(us|eu|ap)-[a-z]+$"}), BREAKING, BREAKING),
    # unions
    _case("one of two became exactly one of two", one(union({**WHOLE, "multipleOf": 2}, {**WHOLE, "multipleOf": 3})), one(union({**WHOLE, "multipleOf": 2}, {**WHOLE, "multipleOf": 3}, keyword="oneOf")), BREAKING, COSMETIC),
    _case("definitions that refer to each other, narrowed", {"$defs": {"A": obj(b={"$ref": "#/$defs/B"}), "B": obj(a={"$ref": "#/$defs/A"}, n=NUMBER)}, **one({"$ref": "#/$defs/A"})}, {"$defs": {"A": obj(b={"$ref": "#/$defs/B"}), "B": obj(a={"$ref": "#/$defs/A"}, n=WHOLE)}, **one({"$ref": "#/$defs/A"})}, BREAKING),
    _case("alternative removed", one(union(TEXT, WHOLE)), one(TEXT), BREAKING),
    _case("alternative added", one(TEXT), one(union(TEXT, WHOLE)), ADDITIVE),
    _case("alternatives in another order", one(union(TEXT, WHOLE)), one(union(WHOLE, TEXT)), COSMETIC),
    _case("types as alternatives", one({"type": ["string", "integer"]}), one(union(TEXT, WHOLE)), COSMETIC),
    _case("kind of object removed", one(kinds("a", "b")), one(kinds("a")), BREAKING),
    _case("kind of object added", one(kinds("a", "b")), one(kinds("a", "b", "c")), ADDITIVE),
    _case("kinds of objects in another order", one(kinds("a", "b")), one(kinds("b", "a")), COSMETIC),
    _case("property in one alternative required", one(union(obj("k", k={"const": "a"}, v=TEXT), obj("k", k={"const": "b"}))), one(union(obj("k", "v", k={"const": "a"}, v=TEXT), obj("k", k={"const": "b"}))), BREAKING),
    _case("alternative swallowed by a wider one", one(union(WHOLE, NUMBER)), one(NUMBER), COSMETIC),
    _case("at least one of two became this one", {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {**obj(a=TEXT, b=TEXT), "anyOf": [{"required": ["a"]}]}, BREAKING),
    # references and other spellings
    _case("definition renamed", with_defs("A", A=obj(v=TEXT)), with_defs("B", B=obj(v=TEXT)), COSMETIC),
    _case("definition put in place", with_defs("A", A=obj(v=TEXT)), one(obj(v=TEXT)), COSMETIC),
    _case("definition narrowed", with_defs("A", A=obj(v=TEXT)), with_defs("A", A=obj("v", v=TEXT)), BREAKING),
    _case("older place of definitions", with_defs("A", A=obj(v=TEXT)), {**one({"$ref": "#/definitions/A"}), "definitions": {"A": obj(v=TEXT)}}, COSMETIC),
    _case("schema that refers to itself, renamed", tree(TEXT), tree(TEXT, "Node"), COSMETIC),
    _case("schema that refers to itself, narrowed", tree(NUMBER), tree(WHOLE), BREAKING),
    _case("schema that refers to itself, widened", tree(WHOLE), tree(NUMBER), ADDITIVE),
    _case("allOf put together", one({"allOf": [{"type": "integer", "minimum": 0}, {"maximum": 9}]}), one({**WHOLE, "minimum": 0, "maximum": 9}), COSMETIC),
    _case("a part of allOf added", one({"allOf": [{"type": "integer", "minimum": 0}]}), one({"allOf": [{"type": "integer", "minimum": 0}, {"maximum": 9}]}), BREAKING),
    _case("required names in another order", obj("a", "b", a=TEXT, b=TEXT), obj("b", "a", a=TEXT, b=TEXT), COSMETIC),
    # conditions
    _case("condition added", obj(a=TEXT, b=TEXT), {**obj(a=TEXT, b=TEXT), "if": {"required": ["a"]}, "then": {"required": ["b"]}}, BREAKING),
    _case("condition dropped", {**obj(a=TEXT, b=TEXT), "if": {"required": ["a"]}, "then": {"required": ["b"]}}, obj(a=TEXT, b=TEXT), ADDITIVE),
    _case("a value ruled out", one(TEXT), one({**TEXT, "not": {"const": "abc"}}), BREAKING),
    # what guides
    _case("description of an argument changed", one({**TEXT, "description": "a name"}), one({**TEXT, "description": "a key"}), ROUTING),
    _case("description of an argument dropped", one({**TEXT, "description": "a name"}), one(TEXT), ROUTING),
    _case("default changed", one({**WHOLE, "default": 1}), one({**WHOLE, "default": 2}), ROUTING),
    _case("default is true, not 1", one({"default": 1}), one({"default": True}), ROUTING),
    _case("format stated", one(TEXT), one({**TEXT, "format": "date"}), ROUTING),
    _case("format changed", one({**TEXT, "format": "date"}), one({**TEXT, "format": "date-time"}), ROUTING),
    _case("title of an argument changed", one({**TEXT, "title": "Name"}), one({**TEXT, "title": "Key"}), COSMETIC),
    _case("title of the schema dropped", {**one(TEXT), "title": "args"}, one(TEXT), COSMETIC),
    _case("description inside a definition", with_defs("A", A=obj(v={**TEXT, "description": "a"})), with_defs("A", A=obj(v={**TEXT, "description": "b"})), ROUTING),
]
# fmt: on
