"""Programs for the fence, and a mark for tests that need one."""

import sys

import pytest

from commandsync.recording.fence import why_not

CALL = """
import json, os, sys, time, urllib.request

def call(method, path, body=None, host="https://discord.com/api/v10"):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bot " + os.environ["TOKEN"]}
    request = urllib.request.Request(host + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read() or "null")

def put(commands):
    return call("PUT", f"/applications/{os.environ['CLIENT_ID']}/commands", commands)
"""
HELP = {"type": 1, "name": "help", "description": "Shows help"}


NO_FENCE = str(why_not() or "") if sys.platform == "linux" else "it is for Linux"
fenced = pytest.mark.skipif(bool(NO_FENCE), reason=NO_FENCE)
