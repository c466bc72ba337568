"""What all twins have in common: when they send, that they repeat exactly, and how they end."""

from __future__ import annotations

import itertools

import pytest

from orchestrator.bus import Sample
from orchestrator.robots.profiles import load_profile
from tests.support.lab import Lab

ROBOTS = ["gr1", "gr2", "gr3", "n1", "atom", "atom_w", "adam_u", "adam_lite"]


def record(lab: Lab) -> list[tuple[str, Sample]]:
    """Everything that arrives on event topics from now on."""
    samples: list[tuple[str, Sample]] = []
    for name, reader in lab.readers.items():
        if reader.topic.kind == "event":
            reader.on_sample(lambda sample, name=name: samples.append((name, sample)))  # type: ignore[misc]
    return samples


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_same_seed_gives_the_same_bytes(robot: str) -> None:
    runs = []
    for seed in (1, 1, 2):
        lab = Lab(robot, seed)
        samples = record(lab)
        lab.wait(3.0)
        streams = [lab.see(name) for name in lab.twin.publications if lab.topics[name].kind == "stream"]
        runs.append(([(name, sample.data) for name, sample in samples], repr(streams)))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.parametrize("robot", ROBOTS)
def test_at_full_rate_every_topic_comes_as_on_the_robot(robot: str) -> None:
    lab = Lab(robot, full_rate=True)
    before = {name: reader.received for name, reader in lab.readers.items()}
    lab.wait(1.0)
    for name, publication in lab.twin.publications.items():
        if publication.period < 1.0:
            came = lab.readers[name].received - before[name]
            assert came == pytest.approx(1.0 / publication.period, abs=1.1), name


@pytest.mark.parametrize("robot", ROBOTS)
def test_otherwise_just_often_enough_to_be_fresh(robot: str) -> None:
    lab = Lab(robot)
    samples = record(lab)
    lab.wait(10.0)
    for name, publication in lab.twin.publications.items():
        if lab.topics[name].kind == "event":
            times = [sample.received for topic, sample in samples if topic == name]
            gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
            assert max(gaps) <= max(0.2, publication.period) + 1e-6
            assert len(times) <= 60


def test_who_looks_gets_a_sample_that_is_not_old() -> None:
    lab = Lab("atom_w")
    for _ in range(200):
        lab.wait(0.033)
        sample = lab.readers["rt/lower/state"].newest()
        assert sample is not None
        assert lab.clock.now() - sample.received < 0.1


@pytest.mark.parametrize("robot", ROBOTS)
def test_on_demand_nothing_is_sent_that_has_not_changed_and_nobody_looks_at(robot: str) -> None:
    lab = Lab(robot, on_demand=True)
    samples = record(lab)
    lab.wait(10.0)
    assert samples == []
    assert all(reader.newest() is not None for name, reader in lab.readers.items() if name in lab.twin.publications)


def test_on_demand_a_change_is_sent_at_once() -> None:
    lab = Lab("atom_w", on_demand=True)
    pressed = lab.history("rt/emergency/state", "hard_emergency_triggered")
    lab.twin.press_emergency("hard")
    lab.wait(0.0)
    assert pressed == [True]


def test_who_is_content_with_an_old_sample_gets_no_new_one() -> None:
    lab = Lab("atom_w", on_demand=True)
    reader = lab.readers["rt/lower/state"]
    first = reader.newest()
    lab.wait(0.15)
    assert reader.newest(age=0.2) is first
    assert reader.newest() is not first


def test_noise_never_repeats_a_sample() -> None:
    lab = Lab("atom_w", full_rate=True)
    samples = record(lab)
    lab.wait(2.0)
    data = [sample.data for name, sample in samples if name == "rt/lower/state"]
    assert all(a != b for a, b in itertools.pairwise(data))


def test_a_stopped_twin_is_silent_and_deaf() -> None:
    lab = Lab("atom_w")
    lab.twin.stop()
    samples = record(lab)
    lab.tell("rt/set/fsm/id", id=2, wait=5.0)
    assert samples == []
    lab.twin.start()
    lab.wait(0.5)
    assert lab.see("rt/lower/state").fsm_id == 1


def test_every_profile_has_a_twin() -> None:
    for robot in ROBOTS:
        assert Lab(robot).twin.status()
        assert load_profile(robot).name == robot
