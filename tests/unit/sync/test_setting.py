"""Each setting is defined once: every door has its name, default and help from the definition."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import click
import pytest
import yaml

from commandsync import AsyncClient, Client, sync
from commandsync.cli.options import (
    PLANNING,
    SERVICE,
    Option,
    PlanningArguments,
    ServiceArguments,
    option,
)
from commandsync.plan.rules import DeleteLimit
from commandsync.sync import setting as definitions
from commandsync.sync.setting import (
    CONCURRENCY,
    INSECURE_HTTP,
    MAX_DELETES,
    PRUNE,
    RETRIES,
    TIMEOUT,
    Setting,
)
from commandsync.sync.settings import Settings
from tests.support.home import commands_of
from tests.support.runner import ACTION

SETTINGS: dict[str, Setting[Any]] = {
    name: value for name, value in vars(definitions).items() if isinstance(value, Setting)
}
"""All settings, by the names of their definitions."""


def options_of(setting: Setting[Any]) -> Iterator[tuple[click.Command, Option]]:
    """Yield the commands that take the value of a setting, with their options."""
    for _, command in commands_of():
        for param in command.params:
            if isinstance(param, Option) and param.help == setting.help:
                yield command, param


GROUPS = {
    "Unpack[ServiceArguments]": ServiceArguments.__required_keys__,
    "Unpack[PlanningArguments]": PlanningArguments.__required_keys__,
}
"""The arguments that several commands have, by the annotation of them."""


def arguments_of(function: Callable[..., object]) -> set[str]:
    """Return the names of a command's arguments, with those of a group."""
    arguments = inspect.signature(function).parameters
    groups = (GROUPS.get(str(argument.annotation), ()) for argument in arguments.values())
    return {*arguments}.union(*groups)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_definition_has_the_name_of_its_setting(name: str) -> None:
    assert SETTINGS[name].name == name.lower()


@pytest.mark.parametrize("name", SETTINGS)
def test_each_command_gets_the_setting_as_an_argument_of_its_name(name: str) -> None:
    setting, commands = SETTINGS[name], []
    for command, param in options_of(setting):
        assert command.callback is not None
        assert param.name == setting.name
        assert param.name in arguments_of(command.callback)
        commands.append(command.name)

    assert commands != []


def test_a_group_of_options_has_an_argument_for_each() -> None:
    assert ServiceArguments.__required_keys__ == {each.name for each in SERVICE}
    assert PlanningArguments.__required_keys__ == {each.name for each in PLANNING}


def test_a_setting_that_is_on_has_an_option_that_switches_it_off() -> None:
    @click.command()
    @option(PRUNE)
    @option(MAX_DELETES)
    def command(*, prune: bool, max_deletes: DeleteLimit | None) -> tuple[bool, DeleteLimit | None]:
        return prune, max_deletes

    def called(*arguments: str) -> object:
        return command.main(arguments, standalone_mode=False)

    assert called() == (True, None)
    assert called("--no-prune", "--max-deletes", "3") == (False, DeleteLimit(count=3))


def test_a_run_has_the_values_under_the_same_names_with_the_same_defaults() -> None:
    values = {field.name: field.default for field in fields(Settings)}

    shared = {each.name: each.default for each in SETTINGS.values() if each.name in values}
    assert shared == {name: values[name] for name in shared}
    others = {"now", "base_url_from", "bot_from", "on_progress"}
    assert set(values) - set(shared) == others


@pytest.mark.skipif(not ACTION.exists(), reason="the wheel has no Action")
def test_the_inputs_of_the_action_are_those_of_the_definitions() -> None:
    inputs = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]

    for each in SETTINGS.values():
        described = inputs.get(each.input_name, {}) if each.input_help else {}
        if each.input_help:
            default = "true" if each.default is True else ""
            assert described == {"description": each.input_help, "default": default}, each.name
        else:
            assert each.input_name not in inputs


@pytest.mark.parametrize("function", [sync.run, sync.run_async])
def test_the_arguments_of_the_library_are_those_of_the_definitions(
    function: Callable[..., object],
) -> None:
    options = inspect.signature(function).parameters["options"].annotation
    arguments = [each.name for each in SETTINGS.values() if each.argument_help]

    assert {*get_type_hints(get_args(options)[0])} == {*arguments, "on_settled"}


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_client_has_the_same_defaults(client: type) -> None:
    arguments = inspect.signature(client).parameters

    for each in (TIMEOUT, RETRIES, CONCURRENCY, INSECURE_HTTP):
        assert arguments[each.name].default == each.default


def test_the_documentation_of_the_library_is_that_of_the_definitions() -> None:
    documented = " ".join(str(sync.run.__doc__).split())

    for each in SETTINGS.values():
        if each.argument_help:
            assert f"- `{each.name}`: {each.argument_help} - " in documented
