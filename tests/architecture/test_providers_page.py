"""What the pages on providers say of each is what its adapter declares to the workers."""

import re

import pytest

from notifications.channel import Channel
from notifications.providers import registry
from notifyq.env import Environment
from tests.architecture.test_documentation import DOCS, GIVEN, adapters, read, section

TITLE = "What happens when an answer is lost"


def rows():
    """Provider → its cells: channel, drops repeats, can be asked, receipts, what happens."""
    tables = [section(read(page.name), TITLE) for page in DOCS.glob("providers*.md")]
    lines = re.findall(r"^\| `(\w+)` \| (.+) \|$", "\n".join(tables), re.MULTILINE)
    return {kind: cells.split(" | ") for kind, cells in lines}


def built(kind):
    return registry.build(kind, Environment(GIVEN.get(kind, {})))


def test_tables__have_every_adapter_that_carries_email_and_none_that_there_is_not():
    carries_email = {kind for kind in adapters() if Channel.EMAIL in built(kind).channels}

    assert carries_email <= set(rows()) <= set(registry.ADAPTERS)


@pytest.mark.parametrize("kind", adapters())
def test_table__row_of_an_adapter__says_what_it_declares(kind):
    if kind not in rows():
        pytest.skip("it is described otherwise")
    declared = built(kind).capabilities
    _, drops_repeats, can_be_asked, receipts, _ = rows()[kind]

    assert drops_repeats.startswith("yes") == declared.dedupes
    assert can_be_asked.startswith("by ") == bool(declared.lookup)
    assert receipts.startswith("yes") == declared.receipts_carry_key
