"""A command as Discord has it, of what the code states; notes for what only a run can tell."""

from commandsync.diagnostics import Notice
from commandsync.sources.applicationcommands import spelled
from commandsync.sources.code import BY_HAND
from commandsync.sources.javascript.value import REST, Computed, Value, Written, fields_of

_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
_TEXTS = {"name_localizations", "description_localizations"}
_LISTS = {"options", "choices"}
_KEYS = {"name", "description", "type", "required", "nsfw", "category", "guild_id", REST}
_KEYS |= _TEXTS | _LISTS | {"default_permission", "default_member_permissions"}


class Documents:
    """Makes documents of commands."""

    def __init__(self, *, localized: bool) -> None:
        self._keys = _KEYS if localized else _KEYS - _TEXTS
        self.notes: list[Notice] = []

    def note(self, what: str, at: Written) -> None:
        """Remember what cannot be read."""
        self.notes.append(Notice(what, BY_HAND, at.place))

    def plain(self, value: Value, key: str, whole: str = "this command") -> Value:
        """Return a text, a number or a boolean; None for anything else, with a note if computed."""
        if isinstance(value, Computed):
            what = f"the {key}" if key != REST else "a part"
            self.note(f"{what} of {whole} is computed at run time", value)
        return value if isinstance(value, (str, int)) else None

    def of(self, value: Value, at: Written) -> Value:
        """Return a command; None if its name or its type cannot be read."""
        self._left = _MOST_PARTS
        return self._part(value, at, "command", 0)

    def _part(self, value: Value, at: Written, what: str, depth: int) -> Value:
        fields, at = spelled(fields_of(value)), getattr(value, "at", at)
        named = {"type": fields.get("type"), "name": fields.get("name", fields.get(REST, value))}
        self._left -= 1
        for key, each in named.items():
            if isinstance(each, Computed):
                return self.plain(each, key, f"this {what}")
        if not fields or not isinstance(name := named["name"], str) or not name.strip():
            self.note(f"the name of this {what} is missing", at)
        elif depth > _DEEPEST or self._left < 0:
            self.note(f"the {what} {name!r} has too many parts", at)
        else:
            whole = f"the {what.partition(' of ')[0]} {name!r}"
            keys = sorted(self._keys & set(fields))
            known = {key: self._member(key, fields[key], whole, at, depth) for key in keys}
            return {key: member for key, member in known.items() if key != REST}
        return None

    def _member(self, key: str, value: Value, whole: str, at: Written, depth: int) -> Value:
        if key in _TEXTS and not isinstance(value, Computed):
            texts = fields_of(value).items()
            return {each: self.plain(text, f"{key} {each}", whole) for each, text in texts}
        if key not in _LISTS or not isinstance(value, list):
            return self.plain(value, key, whole)
        what, most = f"{key.removesuffix('s')} of {whole}", max(self._left, 0) + 1
        parts = [self._part(each, at, what, depth + 1) for each in value[:most]]
        return [*filter(None, parts)] if key == "options" or all(parts) else []
