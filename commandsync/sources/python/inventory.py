"""Everything that the files of a bot declare, and what their code does with it."""

import ast
from collections.abc import Iterable, Iterator
from sys import maxsize

from commandsync.sources.python.constant import Code
from commandsync.sources.python.declarations import Declaration, Declarations
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import Outline, Scope, callee, keywords, last_name

_BY_HAND = "declare it with a decorator in the code, or by hand in the manifest"
_ADDING = {"add_command", "add_application_command"}  # not of Telegram's frameworks
_GUILDS = {"guild", "guilds"}
_READ = {"discord", "disnake", "nextcord", "redbot"}
_UNREAD = {"arc", "crescent", "hikari", "interactions", "lightbulb", "tanjun"}
_REGISTERED = "import what the bot has registered with Discord: commandsync import discord"


class Inventory:
    """The declarations of all files."""

    def __init__(self, outlines: Iterable[Outline], code: Code) -> None:
        self._declarations = Declarations(code)
        self._code = code
        self.guild_cogs: set[ast.AST] = set()  # with slash commands that only certain servers have
        items = (item for read_file in outlines for item in self._declared(read_file))
        self.declared = list(dict.fromkeys(items))
        self._instances: dict[ast.ClassDef | None, list[Declaration]] = {}
        for declaration in self.declared:
            self._instances.setdefault(declaration.instance_of, []).append(declaration)

    def groups_of(self, node: ast.ClassDef, inside: Scope) -> list[Declaration]:
        """Return the groups of a class of slash commands: its instances, or the class itself."""
        whole = self._declarations.of_class(node, inside.parent or inside)
        return self._instances.get(node, [whole])

    def _declared(self, read_file: Outline) -> Iterator[Declaration]:
        """Yield what a file declares, unless it is for a framework that is not read."""
        scope = read_file.scope
        imported = {
            meaning.partition(".")[0]
            for name in scope.bindings
            if isinstance(meaning := self._code.meaning(ast.Name(name, lineno=maxsize), scope), str)
        }
        unread = sorted(imported & _UNREAD)
        if unread and imported.isdisjoint(_READ):
            message = f"the commands of {unread[0]} are not read"
            self._code.note(message, scope.file.tree, scope, _REGISTERED)
        else:
            yield from self._declared_in(read_file)

    def _declared_in(self, read_file: Outline) -> Iterator[Declaration]:
        for function, scope in read_file.functions:
            declaration = self._declarations.of_function(function, scope)
            if declaration is not None:
                yield declaration
            elif self._declarations.may_declare(function, scope):
                message = f"cannot tell whether {function.name!r} is a command"
                self._code.note(message, function, scope, _BY_HAND)
        for call, scope in [*read_file.created, *read_file.registered]:
            yield from filter(None, [self._declarations.of_call(call, scope)])
        for call, scope in read_file.registered:
            for argument in call.args[:1]:
                yield from self._registered(call, argument, scope)

    def _registered(
        self, call: ast.Call, argument: ast.expr, scope: Scope
    ) -> Iterator[Declaration]:
        """Yield what a call registers, with what it says of it; a note if that is not clear."""
        guilds = {key: value for key, value in keywords(call).items() if key in _GUILDS}
        if last_name(call.func) == "add_cog" and guilds:
            meaning = self._code.meaning(callee(argument), scope)
            self.guild_cogs |= {meaning.node} if isinstance(meaning, Definition) else set()
        elif last_name(call.func) in _ADDING:
            declaration = self._declarations.of(argument, scope)
            if declaration is not None:
                declaration.given = declaration.given | guilds
                if isinstance(call.func, ast.Attribute) and declaration.parent is None:
                    declaration.parent = self._declarations.of(call.func.value, scope)
                yield declaration
            elif scope.file.frameworks:
                message = "what is registered here is computed at run time"
                self._code.note(message, call, scope, _BY_HAND)
