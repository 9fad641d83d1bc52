"""Imports go one way; the contracts stand in pyproject.toml."""

from importlinter.cli import lint_imports

from tests.support.source import ROOT


def test_imports__all_contracts__are_kept(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)

    exit_code = lint_imports(no_cache=True)

    assert exit_code == 0, capsys.readouterr().out
