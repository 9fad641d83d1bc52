"""How the benchmarks are planned and told."""

from argparse import ArgumentParser

import pytest

from notifyq.bench import plan
from notifyq.bench.plan import Plan, add_arguments, percentile


def parsed(*arguments):
    parser = ArgumentParser()
    add_arguments(parser)
    return Plan(**vars(parser.parse_args(arguments)))


@pytest.mark.parametrize(("percent", "value"), [(50, 50), (99, 99), (100, 100), (1, 1)])
def test_percentile__of_one_to_a_hundred__is_its_own_number(percent, value):
    assert percentile(list(range(100, 0, -1)), percent) == value


def test_percentile__of_one_value__is_that_value():
    assert percentile([0.25], 99) == 0.25


def test_plan__as_a_command_line__makes_itself_again():
    wanted = Plan("claim", count=20, rounds=2, batch_size=7, concurrency=3, seconds=4)

    assert parsed(*wanted.arguments()) == wanted


@pytest.mark.parametrize("count", ["0", "9", "200001", "-5", "many"])
def test_plan__with_an_unbounded_count__is_refused(count, capsys):
    with pytest.raises(SystemExit):
        parsed("deliver", "--count", count)

    assert "must be a whole number from 10 to 200000" in capsys.readouterr().err


def test_rates__of_several_rounds__are_told_by_their_median(capsys):
    plan.tell_rates("deliver", [10.0, 500.0, 20.0], [40.0, 1.0, 80.0])

    assert capsys.readouterr().out == "deliver: 20/s; bare loop 40/s; ratio 0.50\n"
