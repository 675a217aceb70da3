"""Whether an object of a command handler is a command, and how users call it.

Command handlers have no common form, and nothing is guessed from single keys. An object is a
command if it has a name, a description and a function that runs it, or a type or options that only
Discord's commands have. Its kind is that of its framework, else what its own members state. Else
its function tells it: a message has no options, and an interaction no content. Where nothing does,
the kind is open.
"""

import re
from collections.abc import Iterator

from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    ImportedValue,
    ObjectValue,
    Value,
    field,
    fields_of,
)
from commandsync.sources.objects import spelled, type_number

PARENT = "it is a sub-command, and its parent is not followed"
RUN = re.compile(
    r"(on|message|interaction|chatInput|slash|prefix|text|command)*"
    r"(run|exec(ute)?|callback|handler?|chatInput|contextMenu)(slash|message|interaction|command)*",
    re.IGNORECASE,
)
"""A member that runs a command."""

_DATA = ("data", "slash", "slashCommand", "command", "builder", "commandData")
_PARTS = ("slashCommand", "SlashCommand", "slash", "command", "messageCommand", "interaction")
_SETTINGS = ("metadata", "options", "config", "settings")
_SLASHES = {"slashCommand", "slash", "SlashCommand", "chatInputRun", "chatInput"}
_PREFIXES = {"aliases", "usage", "args", "messageRun", "prefixRun"}
_SLASH_CLASS = re.compile(r"(?:slash|interaction|application|chatInput)\w*", re.IGNORECASE)
_PREFIX_CLASS = re.compile(r"(?:message|prefix|text|legacy)Command", re.IGNORECASE)
_OF_FRAMEWORKS = {
    "slash-create": "slash",
    "discord.js-commando": "prefix",
    "@buape/carbon": "slash",
}
_TYPES = {  # of parameters, in TypeScript
    "slash": re.compile(r"\b\w*Interaction\b"),
    "prefix": re.compile(r"\bMessage\b"),
}
_CALLED = {  # members that only one of the two has
    "slash": {
        *("options", "deferReply", "editReply", "followUp", "showModal", "deferred"),
        *("commandName", "isCommand"),
    },
    "prefix": {"content", "author", "mentions", "react", "edits", "attachments"},
}
_DISCORD_TYPES = re.compile(
    r"(?!\w*(Option|Choice|Permission))\w*(ApplicationCommand|SlashCommand|ChatInput)\w*"
)
_OF_DISCORD = (
    "discord.js",
    "discord-api-types",
    "@discordjs/",
    "oceanic.js",
    "eris",
    "slash-create",
)
_PARENT = re.compile(
    r"sub_?commandof|(parent|base|main|root|super)_?(command)?_?(name)?|extends|commandname",
    re.IGNORECASE,
)
_IS_SUB = re.compile(r"(is)?sub_?command", re.IGNORECASE)
_SUB_CLASS = re.compile(r"sub_?command", re.IGNORECASE)
_OTHERS = {"once", "event", "parameters", "inputSchema"}
_OTHER_CLASS = re.compile(  # of an object that is not a command, although it can run
    r"(?<!Command)(Listener|Event|Task|Job|Module|Plugin|Button|Modal|Menu|Component|Tool|Monitor"
    r"|Precondition|Inhibitor)(?!\w*Command)",
)
_BELOW_SUB = re.compile(r"(^|/)sub-?_?(command|cmd)s?/", re.IGNORECASE)


def described(handler: ObjectValue) -> ObjectValue:
    """Return an object with the options of its part for slash commands, if that is on."""
    members: dict[str, Value] = {}
    if "name" in handler:
        for key in _SLASHES & {*handler}:
            part = handler[key]
            if isinstance(part, ObjectValue) and "name" not in part:
                is_on = part.get("enabled") is not False
                members[key] = is_on
                if is_on and "options" in part:
                    members["options"] = part["options"]
    prefix = handler.get("command")
    if isinstance(prefix, ObjectValue) and not {"name", REST} & {*prefix} and "enabled" in prefix:
        members |= {"command": True, **prefix, "enabled": True}
    if not members:
        return handler
    changed = ObjectValue({**handler, **members}, handler.at)
    changed.bases, changed.kind = handler.bases, handler.kind
    return changed


def data_of(handler: ObjectValue) -> list[ObjectValue | Computed]:
    """Return the commands as Discord has them that an object contains."""
    found: list[ObjectValue | Computed] = []
    for key in _DATA:
        value: Value = handler.get(key)
        keys = {"name", REST} | ({"description"} if key == _DATA[0] else set())
        is_open = isinstance(value, Computed) and not isinstance(value, Function)
        is_named = isinstance(value, Builder) or bool(keys & {*fields_of(value)})
        if is_named or (is_open and key == _DATA[0]):
            found.append(value)
    return found if runs(handler) or any(map(is_discords, found)) else []


def settings_of(handler: ObjectValue) -> dict[str, Value]:
    """Return the members of an object and of its settings, which may state who may use it."""
    inside = (fields_of(handler.get(key)) for key in _SETTINGS)
    return {key: value for part in (*inside, handler) for key, value in part.items()}


def runs(handler: ObjectValue) -> bool:
    """Whether an object has a function that runs a command."""
    for key, value in handler.items():
        if RUN.fullmatch(key) and isinstance(value, Computed):
            return True
        if key in _PARTS and any(isinstance(part, Function) for part in fields_of(value).values()):
            return True
    return False


def is_discords(value: Value) -> bool:
    """Whether an object can only be a command as Discord has it, by its type or its options."""
    if isinstance(value, Builder):
        return True
    node = spelled(fields_of(value))
    if not isinstance(value, ObjectValue) or "name" not in node or "required" in node:
        return False
    kind = type_number(node["type"], "command") if node.get("type") is not None else None
    if kind == 1 or (kind in {2, 3} and "description" not in node):  # else it is an option
        return True
    options = node.get("options")
    has_options = isinstance(options, list) and any("type" in fields_of(part) for part in options)
    return has_options or _has_discords_type(value)


def _has_discords_type(value: ObjectValue) -> bool:
    declared = _type(value)
    is_declared = isinstance(declared, ImportedValue) and declared.is_of(*_OF_DISCORD)
    return is_declared and _DISCORD_TYPES.fullmatch(declared.name) is not None


def _type(value: ObjectValue) -> Value:
    """Return the type that TypeScript declares for an object."""
    name = re.match(r"[\w.]*", value.kind)
    return value.at.scope.names.get(name[0]) if name else None


def is_command(handler: ObjectValue) -> bool:
    """Whether an object is a command, or would be one with a name."""
    name = handler.get("name")
    if is_other(handler):
        return False
    if isinstance(name, str) and re.search(r"\s", name.strip()) and not _is_menu(handler):
        return False  # users could not write it
    about = handler.get("description")
    has_text = isinstance(about, (str, Computed)) and not isinstance(about, Function)
    has_text = has_text or bool({"aliases", "usage"} & {*handler})
    if runs(handler):
        return has_text or is_discords(handler)
    return is_discords(handler) and (has_text or _is_menu(handler))


def is_other(handler: ObjectValue) -> bool:
    """Whether an object is an event, a tool of a model, or of a class that says it is another."""
    names = [*(base.text for base in handler.bases), handler.kind]
    return bool(_OTHERS & {*handler}) or any(map(_OTHER_CLASS.search, names))


def lacks_text(handler: ObjectValue) -> bool:
    """Whether an object has a name and a function, as a command has, and no description."""
    is_named = isinstance(handler.get("name"), str) and "description" not in handler
    return is_named and runs(handler) and not is_other(handler)


def names_its_file(exported: ObjectValue) -> bool:
    """Whether a file exports a function, and its settings with the text of a command, as Robo."""
    config = fields_of(exported.get("config"))
    return isinstance(exported.get("default"), Function) and "description" in config


def _is_menu(handler: ObjectValue) -> bool:
    kind = type_number(handler.get("type"), "command")
    return kind in {2, 3}


def kind_of(handler: ObjectValue) -> str:
    """Return how users call a command: `slash` or `prefix`; empty if its members do not tell."""
    for base in handler.bases:
        if isinstance(base, ImportedValue) and not base.is_file and base.module in _OF_FRAMEWORKS:
            return _OF_FRAMEWORKS[base.module]
    if is_discords(handler):
        return "slash"
    if _PREFIXES & {*handler}:
        return "prefix"
    if isinstance(handler.get("options"), list) or _is_on(handler):
        return "slash"
    names = " ".join([*(base.text for base in handler.bases), handler.kind, _maker(handler)])
    for kind, pattern in (("slash", _SLASH_CLASS), ("prefix", _PREFIX_CLASS)):
        if pattern.search(names):
            return kind
    return _by_function(handler)


def _is_on(handler: ObjectValue) -> bool:
    return any(handler.get(key) not in (None, False) for key in _SLASHES)


def _by_function(handler: ObjectValue) -> str:
    """Return the kind by the types of parameters, or by the members of them that are used."""
    given = [
        part for key, value in handler.items() if RUN.fullmatch(key) for part in _parameters(value)
    ]
    for parameters, body in given:
        kinds = [kind for kind, pattern in _TYPES.items() if pattern.search(parameters)]
        names = "|".join(map(re.escape, re.findall(r"[\w$]+", parameters)))
        if len(kinds) != 1 and names:
            used = {*re.findall(rf"\b(?:{names})\??\.(\w+)", body)}
            kinds = [kind for kind, members in _CALLED.items() if used & members]
        if len(kinds) == 1:
            return kinds[0]
    return ""


def _parameters(value: Value) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a function, and its body, as text."""
    if isinstance(value, Function):
        whole = field(value.node, "parameters", "parameter")
        yield value.scope.text(whole), value.scope.text(value.node, "body")


def parent_of(handler: ObjectValue, data: Value) -> str:
    """Return why an object, with its data, is a command below another one; empty if it is not."""
    if _BELOW_SUB.search(handler.at.scope.file.path):
        return "it is a sub-command by its folder, and its parent is not followed"
    if reason := _parent_by_keys(handler):
        return reason
    names = [name for base in handler.bases for name in _names(base)]
    for each in (part for part in (handler, data) if isinstance(part, ObjectValue)):
        names += [each.kind, *_names(_type(each))]
    return PARENT if any(map(_SUB_CLASS.search, [*names, _maker(handler)])) else ""


def _parent_by_keys(handler: ObjectValue) -> str:
    """Return why an object is a command below another one, or has such, by its keys."""
    for key, value in handler.items():
        names_it = _PARENT.fullmatch(key) and value is not True
        if (isinstance(value, Computed) or value) and (names_it or _IS_SUB.fullmatch(key)):
            return f"it is a sub-command by its key {key!r}, and its parent is not followed"
        if key.casefold() == "subcommands" and value:
            return "its sub-commands are not followed"
    return ""


def _names(value: Value) -> list[str]:
    """Return how the code writes a class or a type, and its name where it is imported from."""
    imported = [value.name] if isinstance(value, ImportedValue) else []
    return [value.text, *imported] if isinstance(value, Computed) else []


def _maker(handler: ObjectValue) -> str:
    """Return the name of the function or the class that an object is given to."""
    around = handler.at.node.parent
    call = around.parent if around and around.type == "arguments" else None
    return handler.at.scope.text(field(call, "function", "constructor")) if call else ""
