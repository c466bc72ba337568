from tests.wire.fuzz import campaign


def test_damaged_messages_are_read_or_refused_and_nothing_else_happens() -> None:
    seen = campaign(seconds=3.0, seed=1)
    assert seen["read"] > 100
    assert seen["refused"] > 100
