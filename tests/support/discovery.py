"""Google's description of an interface (a discovery document), as a JSON schema that allows nothing undescribed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.peers import need


def schema_of(document: str, name: str) -> dict[str, Any]:
    """The schema called `name` of a document such as `fcm.v1`, out of google-api-python-client."""
    home = Path(need("googleapiclient").__file__).parent / "discovery_cache" / "documents"
    schemas = json.loads((home / f"{document}.json").read_text(encoding="utf-8"))["schemas"]
    return {"$ref": f"#/$defs/{name}", "$defs": {key: _strict(value) for key, value in schemas.items()}}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items() if key not in ("id", "description", "deprecated")}
    if isinstance(strict.get("$ref"), str):
        strict["$ref"] = f"#/$defs/{strict['$ref']}"
    if strict.get("type") == "any":
        del strict["type"]
    if "properties" in schema:
        strict["properties"] = {key: _strict(value) for key, value in schema["properties"].items()}
        strict["additionalProperties"] = False
    if schema.get("format") == "google-duration":
        strict["pattern"] = r"^[0-9]+(\.[0-9]{1,9})?s$"
    return strict
