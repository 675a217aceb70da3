import pytest

from commandsync.server.conditions import Conditions, parse_rate_limit


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [
        ("30/minute", 30, 60),
        ("1/second", 1, 1),
        ("100/5 minutes", 100, 300),
        ("30 per hour", 30, 3600),
        (" 2/day ", 2, 86_400),
    ],
)
def test_a_rate_limit_is_a_number_in_a_period(text: str, amount: int, seconds: int) -> None:
    limit = parse_rate_limit(text)

    assert (limit.amount, limit.get_expiry()) == (amount, seconds)


@pytest.mark.parametrize(
    "text", ["", "30", "minute", "30/fortnight", "0/minute", "-3/hour", "1/second;30/minute", "x/y"]
)
def test_anything_else_is_not_a_rate_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a valid rate limit: give it as 30/minute"):
        parse_rate_limit(text)


def test_without_a_seed_there_is_one_to_be_given_again() -> None:
    first, second = Conditions(fail=1), Conditions(fail=1)

    assert first.chaos_seed != second.chaos_seed
    assert f"chaos seed {first.chaos_seed}" in first.described()[0]
