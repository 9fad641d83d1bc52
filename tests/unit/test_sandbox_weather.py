import pytest

from notifyq.sandbox.weather import Weather, WeatherError


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ([], {""}),
        ("calm", {""}),
        ({"latency": 5}, {"latency"}),
        ({"latencyMs": -1}, {"latencyMs"}),
        ({"latencyMs": "5"}, {"latencyMs"}),
        ({"latencyMs": True}, {"latencyMs"}),
        ({"jitterMs": float("nan")}, {"jitterMs"}),
        ({"jitterMs": 10**400}, {"jitterMs"}),
        ({"temporaryRate": 1.01}, {"temporaryRate"}),
        ({"permanentRate": -0.01, "unconfirmedRate": float("inf")}, {"permanentRate", "unconfirmedRate"}),
        ({"rateLimitPerSecond": 0.5}, {"rateLimitPerSecond"}),
        ({"idempotency": 1}, {"idempotency"}),
        ({"lookup": "no"}, {"lookup"}),
        ({"down": []}, {"down"}),
        ({"temporaryRate": 0.6, "permanentRate": 0.6}, {"temporaryRate", "permanentRate", "unconfirmedRate"}),
    ],
)
def test_weather__impossible__names_the_fields(document, named):
    with pytest.raises(WeatherError) as caught:
        Weather.parse(document)

    assert set(caught.value.errors) == named


def test_weather__absent_or_null_fields__take_their_defaults():
    assert Weather.parse({"latencyMs": None, "down": True}) == Weather(down=True)


def test_weather__own_document__is_taken_back():
    weather = Weather(latencyMs=5, temporaryRate=0.1, permanentRate=0.2, unconfirmedRate=0.7, idempotency=False)

    assert Weather.parse(weather.document()) == weather


def test_weather__jitter__is_added_to_the_latency():
    assert Weather(latencyMs=100, jitterMs=50).delay_seconds(0.5) == pytest.approx(0.125)
