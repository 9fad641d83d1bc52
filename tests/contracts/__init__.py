import pytest

# Before anything imports them: their assertions then say what they compared, as those of test modules do.
pytest.register_assert_rewrite("tests.contracts.conformance", "tests.contracts.email_vendor")
