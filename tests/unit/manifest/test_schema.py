"""Editors and the loader agree on what a manifest may be."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests
from commandsync.manifest.model import json_schema

SCHEMA = Path(__file__).parents[3] / "schemas" / "commands.schema.json"
DRAFT_07: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
OLD = Draft7Validator(DRAFT_07)
NEW = Draft202012Validator({key: part for key, part in DRAFT_07.items() if key != "$schema"})
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=120),
    st.lists(st.text(max_size=3), max_size=2),
    st.dictionaries(st.sampled_from(["name", "from", "x"]), st.text(max_size=3), max_size=2),
)
HEAD = "version: 1\ncommands:\n"
COMMAND = "- {name: a, description: b, syntax: c}\n"


class CoreLoader(yaml.SafeLoader):
    """Reads YAML as editors do: by the core schema of YAML 1.2."""


CoreLoader.yaml_implicit_resolvers = {}
for kind, pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
}.items():
    CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{kind}", re.compile(f"^({pattern})$"), None
    )
CoreLoader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))
CoreLoader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))

BOTH_ACCEPT = [
    "version: 1\n",
    HEAD.replace("commands:", "commands: []"),
    HEAD + COMMAND,
    '{"version": 1, "commands": [{"name": "a", "description": "b", "syntax": "c"}]}',
    HEAD + "- {name: off, description: 247, syntax: .247, category: true, id: 0779}\n",
    HEAD + "- {name: ~, description: null, syntax: 1e3, category: ''}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: h}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: [1, true, ~, x]}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: []}\n",
    "version: 1\nannouncements: [{title: 1, description: 2.0, id: x}]\n",
    "version: 1\nbot: 0779\nbase_url: https://x.example\ntoken_env: COMMANDSYNC_X\nprefix: ''\n",
    "version: 1\ndefaults: {}\nsync: {}\n",
    "version: 1\ndefaults: {category: 1}\n",
    "version: 1\ndefaults: {category: 'null'}\nbot: 779641401482805289\n",
    "version: 1\nbot: ' a-1 '\n",
    f"version: 1\nprefix: {'p' * 100}\ndefaults: {{category: {'p' * 100}}}\n",
    *[
        f"version: 1\nsync: {{max_deletes: {limit}}}\n"
        for limit in ["0", "12", "'12'", "30%", "12.5%", "100%", "007%", "all", "ALL", "' 3 % '"]
    ],
    *[f"version: 1\nsync: {{prune: {flag}}}\n" for flag in ["true", "FALSE"]],
    *[f"version: 1\nsync: {{announcements: {how}}}\n" for how in ["append", "'mirror'"]],
    "version: 1\nsync: {ignore: ['beta-*', 3]}\n",
    "version: 1\nsync: {ignore: '*'}\n",
    "version: 1\nimport: {}\n",
    "version: 1\nimport: {order: [a, 1]}\ncommands:\n- {name: a}\n- {name: b, own: true}\n",
    "version: 1\nimport: {from: bot/, exclude: ['debug*', 3], traits: nsfw, locale: no}\n",
    "version: 1\nimport: {from: [bot/, discord], categories: {Fun*: 8, 3: Music}}\n",
    "version: 1\nimport: {traits: [hidden, owner-only], columns: {syntax: usage}}\n",
]

REPLACE = (
    "version: 1\nlistings:\n- service: mine\n  replace: {method: PUT, url: 'https://a.example/'"
)

BOTH_ACCEPT += [
    f"{text}commands: []\n"
    for text in [
        "version: 1\nlistings: []\n",
        "version: 1\nlistings: [{service: top.gg}, {service: ' telegram ', bot: 0779}]\n",
        "version: 1\nlistings: [{service: top.gg, base_url: http://127.0.0.1:80, lossy: sync}]\n",
        "version: 1\nlistings: [{service: top.gg, token_env: COMMANDSYNC_X, lossy: [name]}]\n",
        "version: 1\nlistings: [{service: top.gg, limits: {name: 1, commands: 0999}, lossy: []}]\n",
        f"{REPLACE}}}\n",
        f"{REPLACE}, wrap: 7, fields: {{1: name, true: name, x: syntax}}, limits: {{}}}}\n",
        f"{REPLACE}, authorization: '{{token}}'}}\n  token_env: COMMANDSYNC_X\n",
    ]
]

DISCORD = f"{HEAD}- {{name: a, description: b, syntax: c, discord: "
OPTION = f"{DISCORD}{{options: [{{description: b, name: c, "
TEXTS = "{{name: off, description: '', name_localizations: {{no: 1, de: x}}, id: {id}, x: [1, ~]}}"

BOTH_ACCEPT += [
    *[f"{DISCORD}{what}}}\n" for what in ["{}", "{id: 1}", TEXTS.format(id="'07'")]],
    f"{DISCORD}{{type: 3, nsfw: true, contexts: [0, 7], integration_types: [], handler: 1}}}}\n",
    f"{DISCORD}{{default_member_permissions: '8', description_localizations: {{}}}}}}\n",
    f"{DISCORD}{{default_member_permissions: 8, dm_permission: FALSE, unknown: {{a: [~]}}}}}}\n",
    f"{DISCORD}{{options: ~, contexts: null, type: ~, nsfw: ~, name_localizations: ~}}}}\n",
    *[
        f"{OPTION}{keys}}}]}}}}\n"
        for keys in [
            *["type: 99", "type: 5, required: true, autocomplete: ~", "type: 3, file_types: [x]"],
            *["type: 10, min_value: -1.5, max_value: 1e3", "type: 3, min_length: 0, max_length: ~"],
            *["type: 7, channel_types: [0, 2]", "type: 1, options: []", "type: 3, choices: []"],
            "type: 2, options: [{type: 1, name: x, description: y, options: ~}]",
            "type: 3, choices: [{name: 1, value: 1e3, name_localizations: ~}, {name: b, value: 1}]",
            "type: 4, choices: [{name: a, value: -3}]",
            "type: 10, choices: [{name: a, value: 0.5}, {name: b, value: 2}]",
            "type: 11, choices: [{name: a, value: true}]",
        ]
    ],
]

WRONG_KEYS = [
    *["name: ''", "name: ~", "name: [x]", "description: ~", "description: {}", "type: user"],
    *["type: '1'", "id: x", "id: ~", "id: -1", "contexts: 0"],
    *["contexts: [x]", "contexts: {}", "integration_types: [~]", "nsfw: 1", "nsfw: 'true'"],
    *["dm_permission: yes", "default_member_permissions: -8", "default_member_permissions: [8]"],
    *["name_localizations: x", "name_localizations: {de: ~}", "name_localizations: {de: ''}"],
    *["description_localizations: [x]", "options: {}", "options: x", "options: [x]"],
]
WRONG_KEYS_OF_OPTIONS = [
    *["type: string", "type: ~", "type: '3'", "type: 3, name: ''", "type: 3, description: ~"],
    *["type: 3, required: maybe", "type: 3, choices: {}", "type: 3, choices: [x]"],
    *["type: 3, choices: [{name: a, value: ~}]", "type: 3, choices: [{name: a, value: []}]"],
    *["type: 4, choices: [{name: a, value: 1.5}]", "type: 4, choices: [{name: a, value: '1'}]"],
    *["type: 10, choices: [{name: a, value: x}]", "type: 3, choices: [{name: ~, value: x}]"],
    *["type: 4, min_value: x", "type: 3, max_length: 1.5", "type: 7, channel_types: [text]"],
    *["type: 2, options: [{type: 1, name: x}]", "type: 3, name_localizations: {de: []}"],
]

ANNOUNCEMENT = "version: 1\nannouncements:\n- {title: a, description: b, "

BOTH_ACCEPT += [
    f"{ANNOUNCEMENT}{times}}}\n"
    for times in [
        "publish: 2026-12-01T18:00Z",
        "until: '2026-12-01 18:00:30-08:00'",
        "publish: 2026-12-01T18:00Z, until: 2026-12-01T18:00-00:30",
    ]
]

BOTH_REFUSE = [
    "- a\n",
    "text\n",
    "",
    "commands: []\n",
    "version: 2\n",
    "version: '1'\n",
    "version: true\n",
    "version: [1]\n",
    "version: 1\nunknown: 1\n",
    "version: 1\ncommands:\n",
    "version: 1\ncommands: ~\n",
    "version: 1\ncommands: {}\n",
    "version: 1\ncommands: x\n",
    HEAD + "- x\n",
    HEAD + "-\n",
    HEAD + "- {name: a, description: b}\n",
    HEAD + "- {name: a, syntax: b}\n",
    HEAD + "- {description: a, syntax: b}\n",
    HEAD + "- {name: a, description: b, syntax: c, aliases: [x]}\n",
    HEAD + "- {name: '', description: b, syntax: c}\n",
    HEAD + "- {name: a, description: ' ', syntax: c}\n",
    HEAD + "- {name: a, description: b, syntax: [p]}\n",
    HEAD + "- {name: a, description: b, syntax: {0}}\n",
    HEAD + "- {name: a, description: b, syntax: c, id: ''}\n",
    HEAD + "- {name: a, description: b, syntax: c, id: ..}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: ~}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: ''}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: ['']}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: [[x]]}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: {x: y}}\n",
    "version: 1\nannouncements: [{title: 1}]\n",
    "version: 1\nannouncements: [{description: 1}]\n",
    "version: 1\nannouncements: [{title: 1, description: x, category: y}]\n",
    "version: 1\nbot: ' '\n",
    "version: 1\ntoken_env: GITHUB_TOKEN\n",
    "version: 1\ntoken_env: 3\n",
    "version: 1\nprefix: [x]\n",
    *[f"version: 1\nbot: {bot}\n" for bot in ["Harbor", "true", "~", "'77 9'"]],
    *[f"version: 1\ndefaults: {{category: {none}}}\n" for none in ["~", "null"]],
    HEAD + "- {name: a, description: b, syntax: c, category: ~}\n",
    f"version: 1\nprefix: {'p' * 101}\n",
    f"version: 1\ndefaults: {{category: {'p' * 101}}}\n",
    "version: 1\ndefaults: ~\n",
    "version: 1\ndefaults: {name: x}\n",
    "version: 1\nsync: []\n",
    *[
        f"version: 1\nsync: {{max_deletes: {limit}}}\n"
        for limit in ["-1", "1.5", "101%", "half", "~", "true", "[3]", "'%'", "'3 %%'"]
    ],
    *[f"version: 1\nsync: {{prune: {flag}}}\n" for flag in ["yes", "off", "'true'", "1", "~"]],
    *[f"version: 1\nsync: {{announcements: {how}}}\n" for how in ["Append", "~", "[append]"]],
    "version: 1\nsync: {ignore: ~}\n",
    "version: 1\nimport: bot/\n",
    "version: 1\ncommands:\n- {name: a, description: b}\n",
    f"{HEAD}- {{name: a, description: b, syntax: c, own: 1}}\n",
    *[f"{DISCORD}{what}}}\n" for what in ["[]", "x", "~", "", "3"]],
    *[f"{DISCORD}{{{key}}}}}\n" for key in WRONG_KEYS],
    *[f"{OPTION}{key}}}]}}}}\n" for key in WRONG_KEYS_OF_OPTIONS],
    *[
        f"{DISCORD}{{options: [{{{keys}}}]}}}}\n"
        for keys in ["type: 3, name: a", "name: a, description: b", "type: 3, description: b"]
    ],
    f"{OPTION}choices: [{{name: a}}]}}]}}}}\n",
    "version: 1\nimport: {sources: bot/}\n",
    *[f"version: 1\nimport: {{categories: {what}}}\n" for what in ["~", "[x]", "{x: ''}"]],
    "version: 1\nimport: {traits: [secret]}\n",
    "version: 1\nimport: {columns: {usage: syntax}}\n",
    "version: 1\nimport: {locale: ''}\n",
    "version: 1\ninclude:\n",
    "version: 1\ninclude: {a: b}\n",
]

BOTH_REFUSE += [
    f"{ANNOUNCEMENT}publish: {time}}}\n"
    for time in ["2026-12-01", "2026-12-01T18:00", "2026-13-01T18:00Z", "20261201", "~", "", "[]"]
]

BOTH_REFUSE += [
    *[f"version: 1\nlistings: {what}\n" for what in ["~", "{}", "x", "[x]", "[~]", "[{}]"]],
    *[f"version: 1\nlistings: [{{service: {name}}}]\n" for name in ["~", "''", "[x]", "a b", "é"]],
    *[
        f"version: 1\nlistings: [{{service: top.gg, {key}}}]\n"
        for key in [
            *["url: x", "bot: Harbor", "token_env: TOPGG_TOKEN", "lossy: ~", "lossy: [uses]"],
            *["lossy: {}", "base_url: ''", "base_url: []", "replace: ~", "replace: []"],
            *["limits: ~", "limits: 3", "limits: {uses: 1}", "limits: {name: 0}"],
            *["limits: {name: '1'}", "limits: {name: 1000000000}", "limits: {name: ~}"],
        ]
    ],
    "version: 1\nlistings: [{service: mine, replace: {method: PUT}}]\n",
    "version: 1\nlistings: [{service: mine, replace: {url: 'https://a.example/'}}]\n",
    *[
        f"{REPLACE}, {key}}}\n"
        for key in [
            *["method: GET", "headers: {}", "authorization: ''", "wrap: ''", "wrap: []", "url: ''"],
            *["fields: []", "fields: {'': name}", "fields: {x: uses}"],
        ]
    ],
]

ONLY_THE_LOADER_REFUSES = [
    "version: 1\nlistings: [{service: topgg}]\n",
    "version: 1\nlistings: [{service: top.gg}, {service: top.gg}]\n",
    "version: 1\nlistings: [{service: top.gg, base_url: http://a.example}]\n",
    "version: 1\nlistings: [{service: top.gg, limits: {name: 1.0}}]\n",
    REPLACE.replace("https", "http") + "}\n",
    f"{REPLACE}}}\n  token_env: COMMANDSYNC_X\n",
    f"{REPLACE}, authorization: secret}}\n",
    f"{REPLACE}, wrap: '{{token}}'}}\n",
    *[f"{REPLACE}, fields: {what}}}\n" for what in ["{}", "{x: syntax}"]],
    ANNOUNCEMENT + "until: 2026-02-30T18:00Z}\n",
    ANNOUNCEMENT + "publish: 2026-12-01T18:00Z, until: 2026-12-01T18:00Z}\n",
    HEAD + "- {name: , description: b, syntax: c}\n",
    HEAD + COMMAND * 2,
    f"{OPTION}type: 3.0}}]}}}}\n",
    f"{OPTION}type: 3}}, {{type: 3, name: c, description: d}}]}}}}\n",
    HEAD + "- {name: a, description: b, syntax: c, formerly: a}\n",
    HEAD + "- {name: a, description: b, syntax: '{prefix}c'}\n",
    "version: 1\nbase_url: listing\n",
    "version: 1\nprefix: “!”\n",
    "version: 1.0\n",
    "version: 1\nversion: 1\n",
    "version: 1\nsync: {max_deletes: 3.0}\n",
    "version: 1\nsync: {ignore: a}\n" + HEAD[11:] + COMMAND,
]
"""What the schema cannot say, each named in its description."""


def accepted_by_loader(text: str) -> bool:
    try:
        load_manifests(["-"], stdin=text.encode, needs_imported=False)
    except ManifestError:
        return False
    return True


@pytest.mark.parametrize(
    ("texts", "loads", "is_valid"),
    [
        pytest.param(BOTH_ACCEPT, True, True, id="valid"),
        pytest.param(BOTH_REFUSE, False, False, id="not valid"),
        pytest.param(ONLY_THE_LOADER_REFUSES, False, True, id="beyond the schema"),
    ],
)
def test_loader_and_schemas_accept_equal(texts: list[str], *, loads: bool, is_valid: bool) -> None:
    for text in texts:
        data: Any = yaml.load(text, CoreLoader)  # noqa: S506 - a SafeLoader of its own

        assert accepted_by_loader(text) is loads, text
        assert NEW.is_valid(data) is is_valid, text
        assert OLD.is_valid(data) is is_valid, text


def instances(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a schema may accept, by its own keys and examples, and with any part wrong."""
    choices = [JUNK, *(st.just(example) for example in schema.get("examples", []))]
    if properties := schema.get("properties"):
        values = {key: instances(value) for key, value in properties.items()}
        required = schema.get("required", [])
        whole = {key: values.pop(key) for key in required}
        choices.append(st.fixed_dictionaries(whole, optional=values))
    if isinstance(items := schema.get("items"), dict):
        choices.append(st.lists(instances(items), max_size=2))
    if isinstance(other := schema.get("additionalProperties"), dict):
        choices.append(st.dictionaries(st.text(max_size=3), instances(other), max_size=2))
    choices += [instances(each) for each in schema.get("anyOf", [])]
    choices += [st.just(schema["const"])] if "const" in schema else []
    choices += [st.sampled_from(schema["enum"])] if "enum" in schema else []
    return st.one_of(choices)


@given(instances(json_schema()))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_validators_of_both_drafts_accept_the_same(instance: object) -> None:
    assert OLD.is_valid(instance) == NEW.is_valid(instance)


def keywords(schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        yield keyword
        if keyword in {"properties", "patternProperties", "definitions"}:
            parts = list(value.values())
        else:
            parts = value if keyword in {"anyOf", "allOf", "oneOf"} else [value]
        if keyword not in {"examples", "default", "const", "enum"}:
            for part in parts:
                yield from keywords(part)


def referring(schema: object) -> Iterator[dict[str, Any]]:
    parts = schema if isinstance(schema, list) else []
    if isinstance(schema, dict):
        yield from [schema] if "$ref" in schema else []
        parts = list(schema.values())
    for part in parts:
        yield from referring(part)


def test_the_schema_has_only_keywords_of_both_drafts() -> None:
    assert DRAFT_07["$schema"] == "http://json-schema.org/draft-07/schema#"
    Draft7Validator.check_schema(DRAFT_07)
    Draft202012Validator.check_schema(DRAFT_07)

    assert all(part.keys() == {"$ref"} for part in referring(DRAFT_07))  # others were ignored
    assert set(keywords(DRAFT_07)) <= Draft7Validator.META_SCHEMA["properties"].keys()
    assert isinstance(DRAFT_07["properties"]["commands"]["items"], dict)  # an array was a tuple


def keys(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in schema.get("properties", {}).values():
        yield value
        yield from keys(value)
        yield from keys(value.get("items", {}))
    for value in schema.get("definitions", {}).values():
        yield from keys(value)


def test_every_key_completes_with_a_title_and_a_description() -> None:
    Draft202012Validator.check_schema(json_schema())
    found = list(keys(json_schema()))

    assert len(found) == 94
    assert all(key["title"] and len(key["description"]) > 10 for key in found)


def test_every_example_is_one_that_its_key_accepts() -> None:
    examples = [
        (key, example) for key in keys(json_schema()) for example in key.get("examples", [])
    ]

    assert len(examples) > 10
    assert all(Draft202012Validator(key).is_valid(example) for key, example in examples)
