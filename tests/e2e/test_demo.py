"""The demo plays the whole story for real, and ends well."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.home import Home

SCENES = (
    ("serve", "listening on http://127.0.0.1:"),
    ("validate", "commands.yaml: "),
    ("plan", "Plan: "),
    ("apply", "Verified: nothing is left to do."),
    ("plan", "No changes: nothing is left to do."),
    ("apply", "Measures"),
    ("plan", "» invite → add-me"),
    ("apply", "» invite → add-me"),
    ("apply", "- vote"),
    ("apply", "is over 30 %"),
    ("pull", "version: 1"),
)


def test_the_demo_plays_every_scene_and_ends_well(home: Home) -> None:
    ran = home.child("demo")

    story, *scenes = ran.out.split("\n$ commandsync ")
    played = [story.removeprefix("$ commandsync "), *scenes]
    assert ran.code == 0, ran.said
    assert ran.err == ""
    assert [scene.split()[0] for scene in played] == [command for command, _ in SCENES]
    for scene, (_, words) in zip(played, SCENES, strict=True):
        assert words in scene
    assert "(exit code 5)" in played[-2]
    assert ran.out.splitlines()[-1] == "That was the whole story."
    assert list(home.path.iterdir()) == []
