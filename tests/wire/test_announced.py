"""Firmware variants told from the announced type numbers."""

from __future__ import annotations

import pytest

from orchestrator.wire.announced import DEFAULT, type_numbers, variant_of
from orchestrator.wire.topics import FAMILIES, VARIANTS

KNOWN = [
    (family, variant, topic)
    for family, variants in VARIANTS.items()
    for variant, table in {DEFAULT: FAMILIES[family], **variants}.items()
    for topic in table
]


@pytest.mark.parametrize(("family", "variant", "topic"), KNOWN)
def test_every_variant_of_every_topic_is_told_from_the_others(family: str, variant: str, topic: str) -> None:
    table = {DEFAULT: FAMILIES[family], **VARIANTS[family]}[variant]
    numbers = type_numbers(table[topic].type)
    assert len(numbers) == 2
    assert {variant_of(family, topic, number) for number in numbers} == {variant}


def test_a_number_of_nobody() -> None:
    assert variant_of("atom", "rt/amr/state", "f2-00") is None
