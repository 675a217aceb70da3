"""`discord:` of an entry: texts as they are spelled, values by their types, unknown keys kept."""

from typing import Any

from hypothesis import given

from commandsync.manifest import load_manifests
from commandsync.manifest.yamltext import flow
from commandsync.records.snapshot import Registrable
from tests.support.discordobjects import OBJECTS

HEAD = """\
version: 1
listings: [{service: discord}]
commands:
- name: a
  description: b
  syntax: /a
  discord: """


def registrables(text: str) -> tuple[Registrable, ...]:
    (manifest,) = load_manifests(["-"], stdin=(HEAD + text).encode)
    return manifest.registrables


def read(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the object of a command, without its id."""
    (command,) = registrables(text)
    return command.discord


@given(OBJECTS)
def test_an_object_that_is_written_is_read_as_it_was(node: dict[str, Any]) -> None:
    assert read(flow(node)) == node


def test_texts_are_strings_as_they_are_spelled() -> None:
    node = read(
        "{name: off, description: 247, name_localizations: {no: 1e3, de: .5}, id: 7, "
        "options: [{type: 3, name: 07, description: true, choices: [{name: 1, value: 1.0}]}]}"
    )

    assert node == {
        "name": "off",
        "description": "247",
        "name_localizations": {"no": "1e3", "de": ".5"},
        "options": [
            {
                "type": 3,
                "name": "07",
                "description": "true",
                "choices": [{"name": "1", "value": "1.0"}],
            }
        ],
    }


def test_the_value_of_a_choice_follows_the_type_of_its_option() -> None:
    values = "name: o, description: d, choices: [{name: one, value: 1}]"
    node = read(f"{{options: [{{type: 3, {values}}}]}}")

    assert node["options"][0]["choices"][0]["value"] == "1"
    for kind in (4, 10):
        (option,) = read(f"{{options: [{{{values}, type: {kind}}}]}}")["options"]
        assert option["choices"][0]["value"] == 1


def test_null_is_as_good_as_leaving_a_key_out() -> None:
    node = read(
        "{name: a, type: ~, contexts: null, nsfw: null, name_localizations: ~, options: ["
        "{type: 3, name: b, description: c, choices: null, required: ~}], unknown: null}"
    )

    assert node == {
        "name": "a",
        "options": [{"type": 3, "name": "b", "description": "c"}],
        "unknown": None,
    }


def test_a_block_ends_without_a_line_end_and_a_quoted_string_is_kept_to_the_letter() -> None:
    text = '\n    description: |\n      Long.\n    options:\n    - {type: 3, name: " x ", '
    node = read(text + "description: d}\n")

    assert node["description"] == "Long."
    assert node["options"][0]["name"] == " x "


def test_permissions_are_digits_with_quotes_or_without() -> None:
    for digits in ("8", "'8'"):
        assert read(f"{{default_member_permissions: {digits}}}") == {
            "default_member_permissions": "8"
        }


def test_an_id_alone_is_a_pin_and_says_nothing_about_options() -> None:
    (command,) = registrables("{id: 0123}")

    assert (command.id, command.discord) == ("0123", None)
    assert command.places == {}


def test_every_part_of_an_object_has_its_place() -> None:
    (command,) = registrables(
        "\n    name: a\n    options:\n      - name: b\n        type: 3\n        description: c\n"
        "        choices:\n          - {name: d, value: e}\n"
    )

    assert {path: (at.line, at.column) for path, at in command.places.items()} == {
        "": (8, 5),
        "name": (8, 11),
        "options": (10, 7),
        "options/0": (10, 9),
        "options/0/name": (10, 15),
        "options/0/type": (11, 15),
        "options/0/description": (12, 22),
        "options/0/choices": (14, 11),
        "options/0/choices/0": (14, 13),
        "options/0/choices/0/name": (14, 20),
        "options/0/choices/0/value": (14, 30),
    }
