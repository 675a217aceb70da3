"""One option of a command, declared as its help page shows it, and the checks of its value."""

from collections.abc import Callable
from math import isnan
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from commandsync.cli.help import OWN, Option

F = TypeVar("F", bound="Callable[..., Any]")

PATH = click.Path(readable=False, allow_dash=True)  # shells complete it; the command checks it
_NAMED = {"URL": "base URL", "ID": "id", "LINK": "link", "TITLE": "title", "VERSION": "version"}


class Number(click.FloatRange):
    """A number in a range; click's range contains NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """Return the number, or fail."""
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - click's
    """Refuse an empty value on the command line, such as an unset variable of a script.

    An empty environment variable counts as one that is not set.
    """
    given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
    if given and "" in (value if isinstance(value, tuple) else (value,)):
        what = _NAMED.get(str(param.metavar), "path")
        raise click.BadParameter(f"the {what} is empty", ctx, param)
    return value


def read_by(parse: Callable[[str], object]) -> Callable[..., object]:
    """Return the callback that reads a value with a function that raises `ValueError`."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> object:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return read


def option(
    names: str,
    text: str,
    *,
    dest: str = "",
    section: str = OWN,
    **settings: Any,  # noqa: ANN401 - click's
) -> Callable[[F], F]:
    """Return an option whose help shows its default and its environment variable.

    Args:
        names: The names, and the name of the value, such as `-f, --file PATH`; a flag has no value.
            A path must not be empty.
        text: The help.
        dest: The name of the command's parameter; by default that of the option.
        section: The heading on the help page.
        settings: Further settings of click.
    """
    *short, last = names.split(", ")
    long, _, metavar = last.partition(" ")
    usual: dict[str, Any] = {"show_default": bool(settings.get("default")), "show_envvar": True}
    if metavar:
        usual["metavar"] = metavar
    if metavar == "PATH":
        usual |= {"type": PATH, "callback": not_empty}
    if not metavar and "count" not in settings:
        usual["is_flag"] = True
    declared = [*short, long, *filter(None, [dest])]
    return click.option(*declared, cls=Option, section=section, help=text, **usual | settings)
