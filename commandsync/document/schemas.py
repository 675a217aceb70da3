"""The JSON Schemas of the documents that `--format json` prints."""

import json
from typing import Any

from pydantic import TypeAdapter

from commandsync.document.commandlist import CommandList, UserChangesDocument
from commandsync.document.failure import Failure, Several
from commandsync.document.part import Model
from commandsync.document.plan import PlanDocument
from commandsync.document.result import ResultDocument

_DOCUMENTS: dict[str, tuple[str, type[Model]]] = {
    "plan": ("commandsync plan, version 1", PlanDocument),
    "result": ("commandsync result, version 1", ResultDocument),
    "docs": ("commandsync command list", CommandList),
    "changes": ("commandsync changes, version 1", UserChangesDocument),
}
"""The title and the model of each document."""


def schema_text(name: str) -> str:
    """Return the JSON Schema of a document, of several of them in one, and of a failure."""
    title, model = _DOCUMENTS[name]
    shapes: Any = model | Failure
    if name in {"plan", "result"}:
        shapes = model | Several[model] | Failure  # type: ignore[valid-type]  # known at run time
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(head | TypeAdapter(shapes).json_schema(), indent=2) + "\n"
