"""Plain files: those whose keys and values need no pydantic model to be checked.

Nearly every manifest has nothing but texts, and an imported file nothing that its writer does not
write. To load pydantic and to build its models takes longer than to check such a file, so it is
checked here: key by key, by the same functions (`checks.py`). Nothing is reported here. A key that
is not in these tables, a value that a check refuses, or one of another type makes the file one that
is not plain: then its models check all of it again, and explain the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from commandsync.manifest import checks
from commandsync.manifest.checks import ValidationContext
from commandsync.manifest.keys import CommandKeys, ImportKeys, ManifestKeys
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.plan.rules import SyncRules
from commandsync.records.imported import ImportedCommand, ImportedPlace
from commandsync.records.texts import Resource, canonical


class _Info(NamedTuple):
    """The context, as checks get it from pydantic."""

    context: ValidationContext


class _NotPlainError(ValueError):
    """A part of a file needs its model."""


_Check: TypeAlias = Callable[[Node, _Info], Any]
_Table: TypeAlias = dict[str, tuple[str, _Check]]  # the field of each key, and its check


def manifest_keys(
    root: Mapping, context: ValidationContext, *, included: bool
) -> ManifestKeys | None:
    """Return the values of a manifest's own file, or of an included one; None if it is not plain.

    The strings that a comment may have cut are added to the context.
    """
    begun = len(context.cut)
    try:
        values = _values(root, _INCLUDED if included else _MANIFEST, _Info(context))
    except ValueError:  # of pydantic, too, which need not be loaded
        del context.cut[begun:]  # the model finds them again
        return None
    if values.pop("version", None) is None and not included:
        return None
    entries = {Resource.COMMAND: values.pop("commands")} if "commands" in values else {}
    return ManifestKeys(**values, has_import="imports" in values, entries=entries)


class ImportedValues(NamedTuple):
    """The values of an imported file."""

    commands: tuple[ImportedCommand, ...]
    unread: tuple[ImportedPlace, ...] = ()
    gone: tuple[str, ...] = ()
    digest: str = ""


def imported_values(root: Mapping, context: ValidationContext) -> ImportedValues | None:
    """Return the values of an imported file; None if it is not plain."""
    try:
        values = _values(root, _IMPORTED, _Info(context))
    except ValueError:
        return None
    if values.pop("imported", None) is None or "commands" not in values:
        return None
    return ImportedValues(**values)


def _values(node: Node, table: _Table, info: _Info) -> dict[str, Any]:
    """Return the values of keys by the names of their fields."""
    if not isinstance(node, Mapping):
        raise _NotPlainError
    values: dict[str, Any] = {}
    for key, part in node.items():
        if key not in table:
            raise _NotPlainError
        name, check = table[key]
        values[name] = check(part, info)
    return values


def _text(node: Node, info: _Info) -> str:
    if not isinstance(node, Scalar):
        raise _NotPlainError
    text = checks.text_of(node, info)
    return str(text)


def _syntax(node: Node, info: _Info) -> str:
    return checks.prefixed(_text(node, info), info)


def _category(node: Node, info: _Info) -> str:
    return str(checks.not_null(_scalar(node), info))


def _id(node: Node, info: _Info) -> str:
    return checks.identifier(_text(node, info))


def _texts(node: Node, info: _Info) -> tuple[str, ...]:
    items = checks.items_of(node)
    if not isinstance(items, tuple):
        raise _NotPlainError
    return tuple(_text(item, info) for item in items)


def _patterns(node: Node, info: _Info) -> tuple[str, ...]:
    return checks.few_wildcards(_texts(node, info))


def _flag(node: Node, _: _Info) -> bool:
    flag = checks.flag(node)
    if not isinstance(flag, bool):
        raise _NotPlainError
    return flag


def _scalar(node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise _NotPlainError
    return node


def _short(text: str) -> str:
    if len(text) > checks.LONGEST:
        raise _NotPlainError
    return text


def _prefix(node: Node, info: _Info) -> str:
    return _short(str(checks.as_written(_scalar(node), info)))


def _version(node: Node, _: _Info) -> str:
    return str(checks.version(node))


def _bot(node: Node, info: _Info) -> str:
    return checks.bot(_text(node, info))


def _base_url(node: Node, info: _Info) -> str:
    return checks.address(_text(node, info), insecure_http=True)


def _token_env(node: Node, info: _Info) -> str:
    return checks.token_env(_text(node, info))


def _default_category(node: Node, info: _Info) -> str:
    values = _values(node, {"category": ("category", _category)}, info)
    return canonical(_short(values.get("category", "")))


def _policy(node: Node, info: _Info) -> str:
    policy = str(checks.as_written(_scalar(node), info))
    if policy not in {"append", "mirror"}:
        raise _NotPlainError
    return policy


def _rules(node: Node, info: _Info) -> SyncRules:
    return SyncRules(**_values(node, _SYNC, info))


def _imports(node: Node, info: _Info) -> ImportKeys:
    return ImportKeys(**_values(node, _IMPORT, info))


def _each(nodes: Node, table: _Table, needed: Iterable[str], info: _Info) -> list[dict[str, Any]]:
    """Return the values of each entry of a list; each has the needed ones."""
    if not isinstance(nodes, Sequence):
        raise _NotPlainError
    entries = [_values(node, table, info) for node in nodes]
    if any(name not in values for values in entries for name in needed):
        raise _NotPlainError
    return entries


def _commands(nodes: Node, info: _Info) -> list[CommandKeys]:
    return [CommandKeys(**values) for values in _each(nodes, _COMMAND, ("name",), info)]


def _imported_commands(nodes: Node, info: _Info) -> tuple[ImportedCommand, ...]:
    needed = ("name", "description", "syntax")
    entries = _each(nodes, _IMPORTED_COMMAND, needed, info)
    return tuple(ImportedCommand(**values) for values in entries)


def _imported_places(nodes: Node, info: _Info) -> tuple[ImportedPlace, ...]:
    entries = _each(nodes, _PLACE, ("source", "reason"), info)
    return tuple(ImportedPlace(**values) for values in entries)


def _one(node: Node, _: _Info) -> str:
    if node != "1":
        raise _NotPlainError
    return "1"


def _object(node: Node, _: _Info) -> dict[str, Any]:
    return checks.written_object(node)


def _table(**checked: _Check) -> _Table:
    return {key: (key, check) for key, check in checked.items()}


_COMMAND = _table(
    name=_text, description=_text, syntax=_syntax, category=_category, formerly=_texts, id=_id
)
_SYNC = _table(
    prune=_flag,
    ignore=_patterns,
    max_deletes=lambda node, _: checks.limit(node),
    announcements=_policy,
)
_IMPORT = _table(
    exclude=_patterns, order=_texts, locale=_text, texts=_text, program=_text, unread=_patterns
) | {"from": ("sources", _texts)}
_INCLUDED = _table(version=_version, commands=_commands)
_MANIFEST = _INCLUDED | {
    **_table(
        name=_text,
        bot=_bot,
        base_url=_base_url,
        token_env=_token_env,
        prefix=_prefix,
        include=_texts,
        sync=_rules,
    ),
    "defaults": ("category", _default_category),
    "import": ("imports", _imports),
}
_IMPORTED_COMMAND = _table(
    name=_text,
    description=_text,
    syntax=_text,
    category=_text,
    formerly=_texts,
    left_out=_text,
    kept=_flag,
    recorded=_flag,
    discord=_object,
) | {"from": ("source", _text), "source": ("digest", _text)}
_PLACE = _table(name=_text, reason=_text) | {"from": ("source", _text)}
_IMPORTED = _table(
    imported=_one, commands=_imported_commands, unread=_imported_places, gone=_texts, digest=_text
)
