import pytest

from commandsync.sources.entry import Parameter, literal, parameter_text, slash_syntax


def parameter(**fields: object) -> Parameter:
    return Parameter(**{"name": "mode", "required": True, **fields})  # type: ignore[arg-type]  # each test names its own


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


def test_an_option_whose_name_says_something_keeps_it() -> None:
    assert parameter_text(parameter(name="region", choices=("EU", "Asia"))) == "<region>"
    assert parameter_text(parameter(name="State", choices=("on", "off"))) == "<on|off>"


def test_a_parameter_that_takes_the_rest_has_dots() -> None:
    assert parameter_text(parameter(name="reason", required=False, rest=True)) == "[reason...]"
    assert parameter_text(parameter(name="text", rest=True)) == "<text...>"


def test_a_literal_prefix_is_not_replaced_in_the_manifest() -> None:
    assert literal("say {prefix} {other}") == "say {{prefix}} {other}"
    assert slash_syntax("say {prefix}") == "/say {{prefix}}"
