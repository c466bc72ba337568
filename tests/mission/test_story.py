"""What happened in a run, as its history tells it."""

from __future__ import annotations

from typing import Any

from orchestrator.mission.story import tell

NODES: list[dict[str, Any]] = [
    {"number": 0, "parent": None, "name": "sequence", "line": 2},
    {"number": 1, "parent": 0, "name": "drive", "line": 3},
    {"number": 2, "parent": 0, "name": "grasp", "line": 4},
]


def structure() -> dict[str, Any]:
    return {"event": "structure", "at": 1.0, "nodes": NODES}


def tick(at: float, number: int = 1, **changes: str) -> dict[str, Any]:
    """Statuses by the names of nodes."""
    numbers = {node["name"]: str(node["number"]) for node in NODES}
    told = {numbers[name]: {"status": word} for name, word in changes.items()}
    return {"event": "tick", "at": at, "tick": number, "changes": told}


def command(at: float, number: int, node: int, tag: int) -> dict[str, Any]:
    return {"event": "command", "at": at, "id": number, "node": node, "intent": "MoveToTag", "details": {"tag": tag}}


def record(number: int, role: str = "command", tag: int = 1) -> dict[str, Any]:
    return {"at": 9.0, "id": number, "role": role, "cause": "c", "command": {"intent": "MoveToTag", "tag": tag}}


def test_every_time_a_node_ran_is_told() -> None:
    story = tell(
        [
            structure(),
            tick(1.0, sequence="running", drive="running"),
            tick(3.0, drive="failure"),
            tick(4.0, drive="running"),
            tick(6.0, drive="idle", grasp="success"),
        ],
        None,
    )
    drive, grasp = story.nodes[1:]
    assert [(spell.began, spell.ended, spell.status) for spell in drive.spells] == [
        (1.0, 3.0, "failure"),
        (4.0, 6.0, "interrupted"),
    ]
    assert [(spell.began, spell.ended, spell.status) for spell in grasp.spells] == [(6.0, 6.0, "success")]
    assert (story.cut_off, story.began, story.last) == ([], 1.0, 6.0)


def test_what_had_ended_before_a_step_was_restarted_is_told_once() -> None:
    story = tell(
        [
            structure(),
            tick(1.0, sequence="running", drive="success", grasp="running"),
            tick(3.0, sequence="idle", grasp="idle"),
            structure(),
            tick(5.0, 0, sequence="running", drive="success", grasp="running"),
            tick(6.0, sequence="success", grasp="success"),
        ],
        None,
    )
    assert [[(spell.began, spell.status) for spell in node.spells] for node in story.nodes] == [
        [(1.0, "interrupted"), (5.0, "success")],
        [(1.0, "success")],
        [(1.0, "interrupted"), (5.0, "success")],
    ]


def test_what_became_of_a_command() -> None:
    events = [
        structure(),
        tick(1.0, drive="running"),
        command(1.0, 1, 1, 12),
        tick(2.0, drive="success", grasp="running"),
        command(2.0, 2, 2, 13),
        command(2.0, 3, 2, 14),
        command(2.0, 4, 2, 15),
        {"event": "guard", "at": 2.0, "report": "refused", "details": {"id": 3, "text": "limits: too far"}},
    ]
    outcomes = {each.id: each.outcome for each in tell(events, [record(1), record(2)]).commands}
    assert outcomes == {1: "done", 2: "unknown", 3: "refused: limits: too far", 4: "not sent"}
    assert [each.id for each in tell(events, None).unknown] == [2, 4]  # without records nobody can say what left


def test_what_left_without_the_run_having_told_is_unknown() -> None:
    story = tell([structure()], [record(1, tag=12), record(2), record(2, role="withdrawn")])
    assert [(each.id, each.text, each.node, each.outcome) for each in story.commands] == [
        (1, "MoveToTag tag 12", None, "unknown")
    ]


def test_people_and_the_guard_are_heard() -> None:
    story = tell(
        [
            structure(),
            {"event": "prompt", "at": 2.0, "number": 1, "question": "Carried on?"},
            {"event": "answer", "at": 3.0, "number": 1, "answer": "done"},
            {"event": "control", "at": 4.0, "action": "aborting", "reason": "enough"},
            {"event": "guard", "at": 5.0, "report": "mode", "details": {"text": "stopping: enough"}},
        ],
        [{"at": 5.5, "role": "stop", "id": 0, "cause": "enough", "command": {"intent": "CancelTask"}}],
    )
    assert [line.text for line in story.people] == ["Carried on? done", "aborting - enough"]
    assert [line.text for line in story.guard] == ["stopping: enough", "CancelTask sent: enough"]
    assert story.aborting
