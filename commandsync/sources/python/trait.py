"""Why a command may not belong on a public list: its checks, and what its decorators say."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from commandsync.sources.entry import Trait
from commandsync.sources.python.constant import Code
from commandsync.sources.python.scope import Function, Scope, callee, keywords, last_name
from commandsync.sources.traits import only_administrators, traits_of

_CHECKS = {"is_owner": Trait.OWNER_ONLY, "is_nsfw": Trait.NSFW, "guilds": Trait.GUILD_ONLY}
_PERMISSIONS = {
    "default_member_permissions",
    "default_permissions",
    "has_guild_permissions",
    "has_permissions",
}
_DEFAULTS = {"default_member_permissions", "default_permissions"}  # empty: only administrators
_GUILDS = {"debug_guilds", "guild", "guild_id", "guild_ids", "guilds", "test_guilds"}


def of_decorators(decorators: Iterable[ast.expr], scope: Scope, code: Code) -> Iterator[Trait]:
    """Yield what the decorators of a function or a class say."""
    for decorator in decorators:
        name = code.last_name(callee(decorator), scope)
        if name in _CHECKS:
            yield _CHECKS[name]
        call = decorator if isinstance(decorator, ast.Call) and name in _PERMISSIONS else None
        if call and _administrators(call, scope, code, by_default=name in _DEFAULTS):
            yield Trait.ADMIN_ONLY


def of_arguments(given: Mapping[str, ast.expr], scope: Scope, code: Code) -> Iterator[Trait]:
    """Yield what the arguments of a call say that declares a command or a group."""
    yield from traits_of({key: code.value(value, scope) for key, value in given.items()})
    for key, value in given.items():
        if key in _GUILDS and code.value(value, scope) not in (None, [], (), False):
            yield Trait.GUILD_ONLY
        if key in _DEFAULTS and _includes_administrator(value, scope, code):
            yield Trait.ADMIN_ONLY


def _administrators(call: ast.Call, scope: Scope, code: Code, *, by_default: bool) -> bool:
    """Whether a call names permissions that only administrators have; perhaps by default."""
    given = keywords(call)
    if "administrator" in given:
        return code.value(given["administrator"], scope) is True
    included = (_includes_administrator(value, scope, code) for value in call.args)
    return by_default and not call.keywords and all(included)


def _includes_administrator(value: ast.expr, scope: Scope, code: Code) -> bool:
    if isinstance(value, ast.Call) and last_name(value.func) == "Permissions":
        return _administrators(value, scope, code, by_default=True)
    return only_administrators(code.value(value, scope))


def of_cog_check(statements: Iterable[ast.stmt]) -> Iterator[Trait]:
    """Yield what the check of a whole cog says: `cog_check` that only returns `is_owner(...)`."""
    for statement in statements:
        if isinstance(statement, Function) and statement.name == "cog_check":
            match statement.body[-1:]:
                case [ast.Return(value=ast.Await(value=ast.Call() as call) | (ast.Call() as call))]:
                    yield from [Trait.OWNER_ONLY] if last_name(call.func) == "is_owner" else []
                case _:
                    pass
