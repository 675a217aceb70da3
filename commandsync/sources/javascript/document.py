"""A command as Discord has it, of what the code states; notes for what only a run can tell."""

from collections.abc import Mapping

from commandsync.diagnostics import Notice
from commandsync.sources.applicationcommands import KEYS, spelled
from commandsync.sources.code import BY_HAND
from commandsync.sources.javascript.value import REST, Computed, Record, Value, Written

_MOST = 25  # options or choices, that Discord allows
_NO_MORE = "Discord allows no more"
_MOST_PARTS = 2000  # of a command
_DEEPEST = 4  # command > group > sub-command > option > choice
_TEXTS = frozenset({"name_localizations", "description_localizations"})
_LISTS = frozenset({"options", "choices"})
_KEYS = (KEYS["command"] | KEYS["option"] | {REST}) - {"id"}
_COMPUTED = "is computed at run time"


class Documents:
    """Makes documents of commands."""

    def __init__(self, *, localized: bool) -> None:
        self._localized = localized
        self.notes: list[Notice] = []

    def note(self, what: str, at: Written, hint: str = BY_HAND) -> None:
        """Remember what cannot be read."""
        self.notes.append(Notice(what, hint, at.place))

    def text(self, record: Record, key: str) -> str:
        """Return a text of an object; empty if it has none, or none that can be read."""
        value = record.get(key)
        if isinstance(value, Computed):
            self.note(f"the {key} of this command {_COMPUTED}", value)
        return value.strip() if isinstance(value, str) else ""

    def of(self, value: Value, at: Written) -> dict[str, Value] | None:
        """Return a command; None if its name or its type cannot be read."""
        self._left = _MOST_PARTS
        return self._part(value, at, "command", 0)

    def _part(self, value: Value, at: Written, what: str, depth: int) -> dict[str, Value] | None:
        fields = spelled(value) if isinstance(value, Record) else {"name": value}
        name, at = fields.get("name", fields.get(REST)), getattr(value, "at", at)
        self._left -= 1
        for key, each in (("type", fields.get("type")), ("name", name)):
            if isinstance(each, Computed):
                self.note(f"the {key} of this {what} {_COMPUTED}", each)
                return None
        if not isinstance(name, str) or not name.strip() or name is value:
            self.note(f"the name of this {what} is missing", at)
        elif depth > _DEEPEST or self._left < 0:
            self.note(f"the {what} {name!r} has too many parts", at)
        else:
            return self._known(fields, at, f"{what.partition(' of ')[0]} {name!r}", depth)
        return None

    def _known(
        self, fields: Mapping[str, Value], at: Written, whole: str, depth: int
    ) -> dict[str, Value]:
        keys = (_KEYS if self._localized else _KEYS - _TEXTS) & set(fields)
        known = {key: self._member(key, fields[key], whole) for key in keys - _LISTS}
        lists = {key: self._list(key, fields[key], at, whole, depth) for key in keys & _LISTS}
        known.pop(REST, None)
        return known | lists

    def _member(self, key: str, value: Value, whole: str) -> Value:
        if isinstance(value, Record) and key in _TEXTS:
            texts = value.items()
            return {each: self._member(f"{key} {each}", text, whole) for each, text in texts}
        if isinstance(value, Computed):
            what = f"the {key}" if key != REST else "a part"
            self.note(f"{what} of the {whole} {_COMPUTED}", value)
        return value if isinstance(value, (str, int)) else None

    def _list(
        self, key: str, value: Value, at: Written, whole: str, depth: int
    ) -> list[dict[str, Value]]:
        if not isinstance(value, list):
            self._member(key, value, whole)
            return []
        if len(value) > _MOST:
            self.note(f"only the first {_MOST} {key} of the {whole} are read", at, _NO_MORE)
        what = f"{key.removesuffix('s')} of the {whole}"
        found = [part for each in value[:_MOST] if (part := self._part(each, at, what, depth + 1))]
        return found if key == "options" or len(found) == len(value) else []
