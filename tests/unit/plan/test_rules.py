import pytest

from commandsync.plan.rules import DeleteLimit, SyncRules, parse_delete_limit


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("12", DeleteLimit(count=12)),
        ("0", DeleteLimit(count=0)),
        ("30%", DeleteLimit(percent=30.0)),
        ("12.5%", DeleteLimit(percent=12.5)),
        ("100%", DeleteLimit(percent=100.0)),
        ("0%", DeleteLimit(percent=0.0)),
        ("all", DeleteLimit()),
    ],
)
def test_a_limit_is_a_number_a_percentage_or_all(text: str, limit: DeleteLimit) -> None:
    parsed = parse_delete_limit(text)

    assert parsed == limit
    assert str(parsed) == text


def test_only_all_is_unlimited() -> None:
    limits = [parse_delete_limit(text) for text in ("all", "0", "0%", "100%")]

    assert [limit.unlimited for limit in limits] == [True, False, False, False]


@pytest.mark.parametrize("text", ["ALL", " 30 % ", "030%", "007"])
def test_a_limit_may_be_spelled_loosely(text: str) -> None:
    again = str(parse_delete_limit(text))

    assert again in {"all", "30%", "7"}


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "100.1%", "%", "half", "١٢", "1e3"])
def test_anything_else_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit"):
        parse_delete_limit(text)


def test_names_are_ignored_by_patterns_in_upper_or_lower_case() -> None:
    rules = SyncRules(ignore=("beta-*", "Exact"))

    assert [rules.ignores(name) for name in ("Beta-1", "exACT", "help")] == [True, True, False]
    assert not SyncRules().ignores("help")
