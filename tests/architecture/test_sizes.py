"""Small functions, small modules."""

import ast

from tests.support.source import ROOT, modules

STATEMENTS_MOST = 40
LINES_MOST = 400


def statement_count(function):
    return sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1  # not the definition itself


def test_functions__everywhere__have_at_most_forty_statements():
    long = [
        f"{path}:{node.lineno} {node.name}: {statement_count(node)}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and statement_count(node) > STATEMENTS_MOST
    ]

    assert long == []


def test_modules__everywhere__have_at_most_four_hundred_lines():
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path, _ in modules()}

    assert [f"{path}: {count}" for path, count in lengths.items() if count > LINES_MOST] == []
