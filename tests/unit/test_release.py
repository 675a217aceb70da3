"""What a release adds to a checkout before it is built."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePath

import jsonschema
import pytest
import yaml

from commandsync import __version__, version
from commandsync.action.bootstrap import LOCK
from tests.support.home import ROOT

URL = "https://github.com/octo/commandsync"
TAG = f"v{__version__}"
CHANGES = f"""# Changelog

## [Unreleased]

- Not yet.

## [{__version__}] - 2026-01-02

### Added

- The first.

## [0.0.1] - 2026-01-01

- Nothing.
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("README.md", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for folder in ("commandsync/action", "schemas"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "commandsync" / "action" / LOCK.name).write_bytes(LOCK.read_bytes())
    package = Path(version.__file__)
    (tmp_path / "commandsync" / package.name).write_bytes(package.read_bytes())
    for schema in (ROOT / "schemas").glob("*.schema.json"):
        (tmp_path / "schemas" / schema.name).write_bytes(schema.read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    return tmp_path


def prepare(checkout: Path, tag: str = TAG) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "release.py"), URL, tag],
        cwd=checkout,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_release_has_addresses_in_the_readme_the_metadata_and_the_schemas(checkout: Path) -> None:
    prepared = prepare(checkout)
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (prepared.returncode, prepared.stderr) == (0, "")
    assert [link for link in re.findall(r"\]\(([^)]+)", readme) if "://" not in link] == []
    assert f"({URL}/raw/{TAG}/docs/plan.svg)" in readme
    assert f"({URL}/blob/{TAG}/docs/manifest.md)" in readme
    assert "OWNER" not in _without_advice(readme)
    assert set(project["urls"]) == {"Source", "Documentation", "Changelog"}
    notes = (checkout / "build" / "release" / "notes.md").read_text(encoding="utf-8")
    assert notes == "### Added\n\n- The first.\n"
    schemas = sorted((checkout / "build" / "release").glob("*.json"))
    assert {schema.name for schema in schemas} >= {"commands.schema.json", "plan.schema.json"}
    for path in schemas:
        schema = json.loads(path.read_text(encoding="utf-8"))
        assert schema.pop("$id") == f"{URL}/releases/download/{TAG}/{path.name}"
        assert schema == json.loads((ROOT / "schemas" / path.name).read_text(encoding="utf-8"))
        jsonschema.validators.validator_for(schema).check_schema(schema)


@pytest.mark.promise("release-files")
def test_a_release_has_and_attests_the_schemas_and_the_locks(checkout: Path) -> None:
    prepare(checkout)
    release = checkout / "build" / "release"
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["announce"]["steps"]
    (attested,) = [
        step["with"]["subject-path"].split()
        for step in steps
        if step.get("uses", "").startswith("actions/attest@")
    ]

    assert (release / LOCK.name).read_bytes() == LOCK.read_bytes()
    for path in release.iterdir():
        assert path.name == "notes.md" or any(
            PurePath("files", "release", path.name).match(pattern) for pattern in attested
        )
    assert steps[-1]["run"].split("notes.md ")[1].replace("\\", "").split() == attested


def _without_advice(readme: str) -> str:
    return readme.replace("Replace `OWNER` with", "")


def test_a_tag_that_is_not_the_version_and_a_missing_section_are_refused(checkout: Path) -> None:
    other = prepare(checkout, "v99.0.0")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    unnamed = prepare(checkout)

    assert (other.returncode, unnamed.returncode) == (1, 1)
    assert "the tag v99.0.0 is not the version" in other.stderr
    assert f"CHANGELOG.md has no section [{__version__}]" in unnamed.stderr
    assert (checkout / "README.md").read_bytes() == (ROOT / "README.md").read_bytes()
