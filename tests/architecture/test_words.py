"""The glossary is law: what it forbids appears in no name of the product's code."""

import ast
import re

from tests.support.source import ROOT, modules

GLOSSARY = ROOT / "docs" / "glossary.md"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def forbidden_words():
    """The first column of the glossary's last table."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Words that are not used")[2]
    return {word for row in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)}


def names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def words(name):
    return {word.lower() for word in _WORD.findall(name)}


def test_names__everywhere__use_the_words_of_the_glossary():
    forbidden = forbidden_words()
    found = [
        f"{path}: {name}"
        for path, tree in modules()
        if path.startswith("notifications/")
        for name in [*names(tree), path.rpartition("/")[2].removesuffix(".py")]
        if words(name) & forbidden
    ]

    assert forbidden >= {"job", "task", "enqueue"}
    assert found == []


def test_words__of_mixed_names__are_told_apart():
    assert words("_enqueueJob_now") == {"enqueue", "job", "now"}
    assert words("SMTPServer") == {"smtp", "server"}
