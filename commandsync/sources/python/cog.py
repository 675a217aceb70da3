"""The classes that commands are declared in: which one users see, and what it says about them."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from commandsync.sources.entry import Trait
from commandsync.sources.python.constant import Code
from commandsync.sources.python.lineage import Kind, Lineage, kebab, lineage
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import Outline, Scope, keywords, last_name
from commandsync.sources.python.trait import of_arguments, of_cog_check, of_decorators


@dataclass(frozen=True, slots=True)
class Cog:
    """A class that contains commands; without values, what is in no class."""

    lineage: Lineage = field(default_factory=Lineage)  # of one that no other inherits from
    name: str | None = None  # the category of its commands; None for a bot, or if it cannot be read
    group: str | None = None  # of its slash commands; None for none, empty if it cannot be read
    # Of its prefix commands by default (`command_attrs`).
    attributes: dict[str, ast.expr] = field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()  # what its decorators, its arguments and its check say

    def overrides(self, node: ast.AST) -> bool:
        """Whether it has something else under the name of a function of its class or a base."""
        name = getattr(node, "name", "")  # a call has none
        for _, inside in self.lineage.classes:
            if name in inside.bindings:
                return inside.bound(name) is not node
        return False


class Cogs:
    """Reads the classes of all files."""

    def __init__(self, outlines: Iterable[Outline], code: Code) -> None:
        self._code = code
        self._known: dict[ast.ClassDef, Cog] = {}
        self._heirs: dict[ast.AST, Definition] = {}
        for outline in outlines:
            for node, inside in outline.classes.items():
                definition = Definition(node, inside.parent or inside)
                for base, _ in lineage(definition, code).classes[1:]:
                    self._heirs.setdefault(base, definition)

    def of(self, inside: Scope) -> Cog:
        """Return the cog of what is declared in a scope."""
        owner, scope = inside.node, inside.parent
        if not isinstance(owner, ast.ClassDef) or scope is None:
            return Cog()
        if owner not in self._known:
            self._known[owner] = self._read(self._heir(owner, Definition(owner, scope)))
        return self._known[owner]

    def _heir(self, owner: ast.ClassDef, definition: Definition) -> Definition:
        passed: set[ast.AST] = {owner}  # classes that inherit from each other end it
        while (heir := self._heirs.get(definition.node)) and heir.node not in passed:
            passed.add(heir.node)
            definition = heir
        return definition

    def _read(self, definition: Definition) -> Cog:
        ancestry, scope = lineage(definition, self._code), definition.scope
        node = ancestry.classes[0][0]
        given = keywords(node)
        name = self._code.text(given["name"], scope) if "name" in given else node.name
        traits = {
            *of_decorators(node.decorator_list, scope, self._code),
            *of_arguments(given, scope, self._code),
            *(trait for part, _ in ancestry.classes for trait in of_cog_check(part.body)),
        }
        group = given.get("group_name", given.get("name"))
        kebab_name = kebab(node.name) if group is None else self._code.text(group, scope) or ""
        return Cog(
            lineage=ancestry,
            name=None if ancestry.kind in {Kind.BOT, Kind.GROUP, Kind.TREE} else name,
            group=kebab_name if ancestry.kind is Kind.GROUP_COG else None,
            attributes=_attributes(given.get("command_attrs")),
            traits=frozenset(traits),
        )


def _attributes(written: ast.expr | None) -> dict[str, ast.expr]:
    match written:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
        case ast.Call() if last_name(written.func) == "dict":
            return keywords(written)
        case _:
            return {}
