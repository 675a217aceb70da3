from pathlib import Path

import pytest

from commandsync.action.base import base_head, base_manifest
from commandsync.action.event import GitHubEvent
from commandsync.action.rest import GitHub, GitHubError
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest, load_manifests
from tests.support.home import fields
from tests.support.hub import Hub
from tests.support.runner import BASE_SHA, REPOSITORY

EVENT = GitHubEvent("pull_request", REPOSITORY, pull_request=7, base_sha=BASE_SHA)
LISTED = b'[{"type": "file", "name": "commands.yaml"}]'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    (folder / "bots" / ".git").mkdir(parents=True)
    for path in (folder / "commands.yaml", folder / "bots" / "commands.yaml"):
        path.write_text(fields(("help",)), encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def fetched(hub: Hub, folder: Path, path: str = "commands.yaml") -> Manifest:
    (manifest,) = load_manifests([path], stdin=lambda: b"")
    way = GitHub(hub.url, "token")
    found = base_manifest(manifest, way, EVENT, folder=str(folder.parent))
    (base,) = load_manifests([found], stdin=lambda: b"")
    return base


def test_a_checkout_in_a_folder_is_the_repositorys_top(hub: Hub, workspace: Path) -> None:
    hub.files = {"commands.yaml": fields(("old",)), "README.md": "", "more/a.yaml": "no"}
    base = fetched(hub, workspace, "bots/commands.yaml")

    assert [entry.name for entries in base.snapshot.collections.values() for entry in entries] == [
        "old"
    ]
    assert len(hub.requests) == 2


def test_what_the_base_does_not_have_manages_nothing(hub: Hub, workspace: Path) -> None:
    assert fetched(hub, workspace).snapshot.collections == {}


def test_a_manifest_outside_of_the_checkout_has_no_base(hub: Hub, workspace: Path) -> None:
    (workspace.parent / "commands.yaml").write_text(fields(("help",)), encoding="utf-8")
    with pytest.raises(GitHubError, match="not in a checkout"):
        fetched(hub, workspace, "../commands.yaml")

    assert hub.requests == []


def test_a_folder_of_too_many_files_is_not_fetched(hub: Hub, workspace: Path) -> None:
    hub.files = {f"{number}.yaml": "" for number in range(201)}
    with pytest.raises(GitHubError, match="more than 200 YAML files"):
        fetched(hub, workspace)


@pytest.mark.parametrize("content", [{}, [], {"content": None}, {"content": "a"}])
def test_a_file_that_is_not_shown_is_an_error(hub: Hub, workspace: Path, content: object) -> None:
    hub.rule = lambda request: (200, LISTED if "contents/?" in request else content, {})
    with pytest.raises(GitHubError, match=r"did not answer with commands\.yaml"):
        fetched(hub, workspace)


def test_names_that_lead_elsewhere_are_left_out(hub: Hub, workspace: Path) -> None:
    names = ["../up.yaml", "a/b.yaml", "/etc/x.yaml", ".."]
    hub.rule = lambda _: (200, [{"type": "file", "name": name} for name in names] + ["?"], {})

    assert fetched(hub, workspace).snapshot.collections == {}
    assert len(hub.requests) == 1


def test_a_refusal_is_passed_on(hub: Hub, workspace: Path) -> None:
    hub.rule = lambda _: (403, {}, {})
    with pytest.raises(GitHubError, match="GitHub answers 403"):
        fetched(hub, workspace)


def test_an_answer_that_is_not_a_list_has_no_files(hub: Hub, workspace: Path) -> None:
    hub.rule = lambda _: (200, {"type": "file"}, {})

    assert fetched(hub, workspace).snapshot.collections == {}


def test_the_head_of_a_base_is_one_file_whatever_it_includes(hub: Hub, workspace: Path) -> None:
    hub.files = {
        "commands.yaml": "version: 1\nbot: 42\nbase_url: https://Listing.example/v1/\n"
        "token_env: COMMANDSYNC_MINE\ninclude: [none/*.yaml]\nprefix: '!'\n"
        "commands: [{name: help, description: Helps., syntax: '{prefix}help'}]\n"
    }
    (manifest,) = load_manifests(["bots/commands.yaml"], stdin=lambda: b"")
    head = base_head(manifest, GitHub(hub.url, "token"), EVENT)

    assert head
    stated = (head.bot, head.base_url, head.token_env)
    assert stated == ("42", "https://listing.example", "COMMANDSYNC_MINE")
    assert [request.path.rpartition("/")[2] for request in hub.requests] == ["commands.yaml"]
    assert workspace.exists()


@pytest.mark.parametrize("text", ["", "version: 2\n", "[", "- a\n"])
def test_the_head_of_an_invalid_base_is_an_error(hub: Hub, workspace: Path, text: str) -> None:
    hub.files = {"commands.yaml": text}
    (manifest,) = load_manifests(["commands.yaml"], stdin=lambda: b"")
    with pytest.raises(ManifestError) as caught:
        base_head(manifest, GitHub(hub.url, "token"), EVENT)

    assert caught.value.problems[0].location.path == "commands.yaml of the base branch"
    assert workspace.exists()


def test_there_is_no_head_or_an_error_where_the_base_shows_none(hub: Hub, workspace: Path) -> None:
    (manifest,) = load_manifests(["commands.yaml"], stdin=lambda: b"")
    github = GitHub(hub.url, "token")
    head = base_head(manifest, github, EVENT)
    hub.rule = lambda _: (500, {}, {})

    assert head is None
    with pytest.raises(GitHubError, match="500"):
        base_head(manifest, github, EVENT)
    assert workspace.exists()
