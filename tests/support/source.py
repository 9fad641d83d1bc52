"""The product's own source, parsed, for tests that hold it against its rules."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("notifyq", "notifications", "webhooks", "ratelimits")


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module but the migrations: its path below the root, and its tree."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), parsed(path)


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
