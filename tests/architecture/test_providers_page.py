"""What the page on providers says of each is what its adapter declares to the workers."""

import re

import pytest

from notifications.providers import registry
from notifyq.env import Environment
from tests.architecture.test_documentation import GIVEN, adapters, read, section

TITLE = "What happens when an answer is lost"


def rows():
    """Provider → its cells: channel, drops repeats, can be asked, receipts, what happens."""
    lines = re.findall(r"^\| `(\w+)` \| (.+) \|$", section(read("providers.md"), TITLE), re.MULTILINE)
    return {kind: cells.split(" | ") for kind, cells in lines}


def test_table__has_every_adapter_and_no_other():
    assert set(rows()) == set(registry.ADAPTERS)


@pytest.mark.parametrize("kind", adapters())
def test_table__row_of_an_adapter__says_what_it_declares(kind):
    declared = registry.build(kind, Environment(GIVEN.get(kind, {}))).capabilities
    _, drops_repeats, can_be_asked, receipts, _ = rows()[kind]

    assert drops_repeats.startswith("yes") == declared.dedupes
    assert can_be_asked.startswith("by ") == bool(declared.lookup)
    assert receipts.startswith("yes") == declared.receipts_carry_key
