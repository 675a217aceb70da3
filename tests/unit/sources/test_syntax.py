import pytest

from commandsync.sources.syntax import Parameter, literal, parameter_text, slash_syntax


def parameter(**fields: object) -> Parameter:
    return Parameter(**{"name": "mode", "required": True, **fields})  # type: ignore[arg-type]  # each test names its own


def test_a_slash_command_shows_its_path_and_what_is_required_and_optional() -> None:
    parameters = [parameter(name="song"), parameter(name="volume", required=False)]

    assert slash_syntax("music play", parameters) == "/music play <song> [volume]"
    assert slash_syntax("ping") == "/ping"


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (("on", "off"), "<on|off>"),
        (("a", "b", "c", "d"), "<a|b|c|d>"),
        (("a", "b", "c", "d", "e"), "<mode>"),
        (("on",), "<mode>"),
        (("on", ""), "<mode>"),
        (("on", "in fifteen chars"), "<mode>"),
        (("on", "fifteen letters"), "<on|fifteen letters>"),
        (("on", "off|out"), "<mode>"),
        ((), "<mode>"),
    ],
)
def test_two_to_four_short_choices_are_shown(choices: tuple[str, ...], text: str) -> None:
    assert parameter_text(parameter(choices=choices)) == text


def test_a_parameter_that_takes_the_rest_has_dots() -> None:
    assert parameter_text(parameter(name="reason", required=False, rest=True)) == "[reason...]"
    assert parameter_text(parameter(name="text", rest=True)) == "<text...>"


def test_a_literal_prefix_is_not_replaced_in_the_manifest() -> None:
    assert literal("say {prefix} {other}") == "say {{prefix}} {other}"
    assert slash_syntax("say {prefix}") == "/say {{prefix}}"
