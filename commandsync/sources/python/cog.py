"""The classes that commands are declared in: which one users see, and what it says about them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.sources.python.lineage import Kind, Lineage, kebab, lineage
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import last_name
from commandsync.sources.python.trait import of_cog_check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.sources.entry import Trait
    from commandsync.sources.python.constant import Constants
    from commandsync.sources.python.names import Names
    from commandsync.sources.python.scope import Outline, Scope
    from commandsync.sources.python.trait import Traits


@dataclass(frozen=True, slots=True)
class Cog:
    """A class that contains commands.

    Attributes:
        node: The class: of those that inherit the commands, one that no other inherits from.
        lineage: What it inherits from.
        name: Its name, which is the category of its commands; None for a bot, or a name that only
            a run of the code can tell.
        group: The name of the group of its slash commands; None if it has none, empty if only a run
            of the code can tell.
        attributes: The arguments that its prefix commands have by default (`command_attrs`).
        traits: What its decorators, its arguments and its check say.
    """

    node: ast.ClassDef
    lineage: Lineage
    name: str | None
    group: str | None
    attributes: dict[str, ast.expr]
    traits: frozenset[Trait]


class Cogs:
    """Reads the classes of all files."""

    def __init__(
        self, outlines: Iterable[Outline], names: Names, constants: Constants, traits: Traits
    ) -> None:
        self._names = names
        self._constants = constants
        self._traits = traits
        self._known: dict[ast.ClassDef, Cog] = {}
        self._heirs: dict[ast.ClassDef, Definition] = {}
        for read in outlines:
            for node, inside in read.classes.items():
                definition = Definition(node, inside.parent or inside)
                for base, _ in lineage(definition, names).classes[1:]:
                    self._heirs.setdefault(base, definition)

    def of(self, owner: ast.ClassDef, scope: Scope) -> Cog:
        """Return the cog of what is declared in the body of a class.

        Args:
            owner: The class.
            scope: The scope in which it is defined.
        """
        if owner not in self._known:
            self._known[owner] = self._read(self._heir(owner, Definition(owner, scope)))
        return self._known[owner]

    def is_overridden(self, node: ast.AST, cog: Cog) -> bool:
        """Whether a cog has something else under the name of a function of its class or a base."""
        name = getattr(node, "name", "")  # a call has none
        for _, inside in cog.lineage.classes:
            if name in inside.bindings:
                return inside.bound(name) is not node
        return False

    def _heir(self, owner: ast.ClassDef, definition: Definition) -> Definition:
        passed = {owner}
        while owner in self._heirs:
            definition = self._heirs[owner]
            if not isinstance(definition.node, ast.ClassDef) or definition.node in passed:
                break  # classes that inherit from each other
            owner = definition.node
            passed.add(owner)
        return definition

    def _read(self, definition: Definition) -> Cog:
        ancestry, node, scope = lineage(definition, self._names), definition.node, definition.scope
        if not isinstance(node, ast.ClassDef):
            raise TypeError(node)  # pragma: no cover - heirs are classes
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        name: str | None = node.name
        if "name" in given:
            name = self._constants.text(given["name"], scope)
        traits = {
            *self._traits.of_decorators(node.decorator_list, scope),
            *self._traits.of_arguments(given, scope),
            *(trait for part, _ in ancestry.classes for trait in of_cog_check(part.body)),
        }
        return Cog(
            node=node,
            lineage=ancestry,
            name=None if ancestry.kind in {Kind.BOT, Kind.GROUP} else name,
            group=self._group(given, node, scope) if ancestry.kind is Kind.GROUP_COG else None,
            attributes=_attributes(given.get("command_attrs")),
            traits=frozenset(traits),
        )

    def _group(self, given: dict[str, ast.expr], node: ast.ClassDef, scope: Scope) -> str | None:
        written = given.get("group_name", given.get("name"))
        return kebab(node.name) if written is None else self._constants.text(written, scope) or ""


def _attributes(written: ast.expr | None) -> dict[str, ast.expr]:
    match written:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {
                key.value: value
                for key, value in pairs
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        case ast.Call(func=function, keywords=keywords) if last_name(function) == "dict":
            return {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
        case _:
            return {}
