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


def test_computing__of_several_rounds__is_told_by_its_median(capsys):
    plan.tell_computing("deliver", [90e-6, 500e-6, 80e-6], [10e-6, 12e-6, 11e-6])

    assert capsys.readouterr().out == "deliver: 90 µs of the process's computing a row; bare loop 11 µs\n"


def test_median_interval__of_many_values__holds_the_median_between_the_binomial_ranks():
    assert plan.median_interval([float(n) for n in range(100)]) == (40.0, 49.5, 60.0)


def test_median_interval__a_few_wild_values__move_none_of_the_three():
    usual = [float(n) for n in range(100)]

    assert plan.median_interval([*usual[:-3], 1e9, 1e9, 1e9]) == plan.median_interval(usual)


def test_median_interval__of_one_value__is_that_value():
    assert plan.median_interval([0.25]) == (0.25, 0.25, 0.25)


def test_share__of_several_pairs__is_told_with_its_interval(capsys):
    plan.tell_share("breakers", [0.01, 0.012, 0.011], "the computing")

    assert capsys.readouterr().out == (
        "breakers: 1.10% of the computing (95 % interval 1.00% to 1.20%, 3 comparisons)\n"
    )
