from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.manifest import load_manifests
from commandsync.manifest.dump import dump_manifest
from commandsync.records.snapshot import Schedule
from commandsync.records.texts import Resource
from tests.unit.manifest.conftest import Load

HEAD = "version: 1\nannouncements:\n- title: a\n  description: b\n"


def schedule_of(times: str) -> Schedule | None:
    (manifest,) = load_manifests(["-"], stdin=f"{HEAD}  {times}\n".encode)
    (entry,) = manifest.snapshot.collections[Resource.ANNOUNCEMENT]
    return entry.schedule


@pytest.mark.parametrize(
    "written",
    [
        "2026-12-01T18:00Z",
        "2026-12-01T18:00:00Z",
        "2026-12-01 18:00:00Z",
        "'2026-12-01T18:00Z'",
        "2026-12-01T18:00+00:00",
        "2026-12-01T19:30:00+01:30",
        "2026-12-01 10:00-08:00",
        "2026-12-02T00:00+06:00",
    ],
)
def test_every_form_of_an_instant_is_read_as_utc(written: str) -> None:
    instant = datetime(2026, 12, 1, 18, tzinfo=UTC)

    assert schedule_of(f"publish: {written}") == Schedule(publish=instant)
    assert schedule_of(f"until: {written}") == Schedule(until=instant)


@given(
    st.datetimes(datetime(2000, 1, 2), datetime(2999, 12, 30)),  # noqa: DTZ001 - a zone is added
    st.timezones(),
)
def test_any_time_means_the_same_wherever_it_is_read(moment: datetime, zone: object) -> None:
    whole = moment.replace(tzinfo=zone, second=0, microsecond=0)  # type: ignore[arg-type]
    offset = whole.utcoffset()
    assert offset is not None
    if offset.seconds % 60:  # of the times before zones; a manifest cannot express it
        whole = whole.replace(tzinfo=UTC)

    read = schedule_of(f"publish: {whole.isoformat()}")

    assert read == Schedule(publish=whole)
    assert read is not None
    assert read.publish is not None
    assert read.publish.tzinfo is UTC


@pytest.mark.parametrize(
    ("times", "duplicates"),
    [
        (["{publish: 2025-12-01T18:00Z, until: 2026-01-01T00:00Z}"], 0),
        (["{publish: 2026-12-20T00:00Z}"], 0),
        (["{until: 2026-12-01T18:00Z}", "{publish: 2026-12-20T00:00Z}"], 0),
        (["{publish: 2026-12-19T23:59Z}"], 1),
        (["{until: 2026-12-02T00:00Z}"], 1),
        (["{}"], 1),
        (["{publish: 2027-12-01T18:00Z}", "{publish: 2028-12-01T18:00Z}"], 1),
    ],
)
def test_only_overlapping_ones_are_equal(load: Load, times: list[str], duplicates: int) -> None:
    entries = ["{publish: 2026-12-01T18:00Z, until: 2026-12-20T00:00Z}", *times]
    same = "- {title: a, description: b, "
    text = "".join(f"{same}{entry.removeprefix('{')}\n" for entry in entries)

    warnings = load(f"version: 1\nannouncements:\n{text}").warnings

    assert ["duplicate announcement" in warning.message for warning in warnings] == (
        [True] * duplicates
    )


def test_an_included_file_may_have_schedules(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("included")
    (folder / "commands.yaml").write_text("version: 1\ninclude: [news.yaml]\n")
    (folder / "news.yaml").write_text(f"{HEAD}  until: 2026-12-01T18:00Z\n")

    (manifest,) = load_manifests([str(folder / "commands.yaml")], stdin=bytes)

    (entry,) = manifest.snapshot.collections[Resource.ANNOUNCEMENT]
    assert entry.schedule == Schedule(until=datetime(2026, 12, 1, 18, tzinfo=UTC))


def test_what_is_listed_is_written_without_a_schedule(load: Load) -> None:
    manifest = load(f"{HEAD}  until: 2026-12-01T18:00Z\n")

    dumped = dump_manifest(manifest.snapshot, bot="", base_url="").text

    assert "until" not in dumped
