"""The words that JSON Schemas are written with here."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(description: str, most: int | None = None, **more: Any) -> Schema:
    length = {} if most is None else {"maxLength": most}
    return {"type": "string", "description": description, **length, **more}


def one_of(names: Any, description: str) -> Schema:
    return {"type": "string", "enum": list(names), "description": description}


def whole(description: str, **more: Any) -> Schema:
    return {"type": "integer", "description": description, **more}


def instant(description: str) -> Schema:
    return {"type": "string", "format": "date-time", "description": description}


def pairs(description: str, **more: Any) -> Schema:
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description, **more}


def or_null(schema: Schema) -> Schema:
    nullable = schema | {"type": [schema["type"], "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable


def whole_object(properties: dict[str, Schema], description: str) -> Schema:
    """An answer object: every property always there, and no other."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
