"""What people write first: ten lines that read both sides and say what differs."""

import sys

import requests
import yaml

path, base_url, bot = sys.argv[1:]
with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as such scripts do
    manifest = yaml.safe_load(file)
answer = requests.get(f"{base_url}/v1/bot/{bot}/commands", timeout=30).json()
listed = {command["name"]: command for command in answer["data"]}
wanted = {command["name"]: command for command in manifest["commands"]}
for name in wanted.keys() | listed.keys():
    ours, theirs = wanted.get(name, {}), listed.get(name, {})
    syntax = ours.get("syntax", "").replace("{prefix}", manifest["prefix"])
    ours = {**ours, "syntax": syntax}
    fields = ("description", "syntax", "category")
    if any(
        (ours.get(field) or "").strip() != (theirs.get(field) or "").strip() for field in fields
    ):
        print(name, "differs")
