"""Why a command may not belong on a public list: its checks, and what its decorators say."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from commandsync.sources.entry import Trait
from commandsync.sources.python.scope import last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from commandsync.sources.python.constant import Constants
    from commandsync.sources.python.names import Names
    from commandsync.sources.python.scope import Function, Scope

_ADMINISTRATOR = 1 << 3  # of Discord's permissions
_CHECKS = {"is_owner": Trait.OWNER_ONLY, "is_nsfw": Trait.NSFW, "guilds": Trait.GUILD_ONLY}
_PERMISSIONS = {
    "default_member_permissions",
    "default_permissions",
    "has_guild_permissions",
    "has_permissions",
}
_DEFAULTS = {"default_member_permissions", "default_permissions"}  # empty: administrators alone
_NONE = ast.Constant(0)  # what Permissions() is
_FLAGS = {"hidden": Trait.HIDDEN, "nsfw": Trait.NSFW, "group_nsfw": Trait.NSFW}
_GUILDS = {"debug_guilds", "guild", "guild_id", "guild_ids", "guilds", "test_guilds"}


class Traits:
    """Reads decorators, the arguments of a command, and the checks of a cog."""

    def __init__(self, names: Names, constants: Constants) -> None:
        self._names = names
        self._constants = constants

    def of_decorators(self, decorators: Iterable[ast.expr], scope: Scope) -> Iterator[Trait]:
        """Yield what the decorators of a function or a class say."""
        for decorator in decorators:
            call = decorator if isinstance(decorator, ast.Call) else None
            name = self._names.last_name(call.func if call else decorator, scope)
            if name in _CHECKS:
                yield _CHECKS[name]
            if name in _PERMISSIONS and call and self._administrators(call, scope):
                yield Trait.ADMIN_ONLY

    def of_arguments(self, given: Mapping[str, ast.expr], scope: Scope) -> Iterator[Trait]:
        """Yield what the arguments of a call say that declares a command or a group."""
        for key, value in given.items():
            if key in _FLAGS and self._constants.value(value, scope) is True:
                yield _FLAGS[key]
            if key == "enabled" and self._constants.value(value, scope) is False:
                yield Trait.HIDDEN  # nobody can call it
            if key in _GUILDS and not self._is_empty(value, scope):
                yield Trait.GUILD_ONLY
            if key in _DEFAULTS and self._includes_administrator(value, scope):
                yield Trait.ADMIN_ONLY

    def _administrators(self, call: ast.Call, scope: Scope) -> bool:
        """Whether a check of permissions lets nobody but administrators through."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if "administrator" in given:
            return self._constants.value(given["administrator"], scope) is True
        if self._names.last_name(call.func, scope) not in _DEFAULTS:
            return False
        return not given and all(self._includes_administrator(value, scope) for value in call.args)

    def _includes_administrator(self, value: ast.expr, scope: Scope) -> bool:
        """Whether these permissions are ADMINISTRATOR, or none at all."""
        if isinstance(value, ast.Call) and last_name(value.func) == "Permissions":
            given = {keyword.arg: keyword.value for keyword in value.keywords}
            if "administrator" in given:
                return self._constants.value(given["administrator"], scope) is True
            return not given and self._includes_administrator((value.args or [_NONE])[0], scope)
        bits = self._constants.value(value, scope)
        is_number = isinstance(bits, int) and not isinstance(bits, bool)
        return is_number and (bits == 0 or bits & _ADMINISTRATOR != 0)

    def _is_empty(self, value: ast.expr, scope: Scope) -> bool:
        return self._constants.value(value, scope) in (None, [], (), False)


def of_cog_check(statements: Iterable[ast.stmt]) -> Iterator[Trait]:
    """Yield what the check of a whole cog says: `cog_check` that returns `is_owner(...)` alone."""
    for statement in statements:
        match statement:
            case ast.FunctionDef(name="cog_check") | ast.AsyncFunctionDef(name="cog_check"):
                if _returns_owner(statement):
                    yield Trait.OWNER_ONLY
            case _:
                pass


def _returns_owner(function: Function) -> bool:
    match function.body[-1:]:
        case [ast.Return(value=ast.Await(value=ast.Call(func=called)))]:
            return last_name(called) == "is_owner"
        case [ast.Return(value=ast.Call(func=called))]:
            return last_name(called) == "is_owner"
        case _:
            return False
