"""Files of the made-up format of tests/plugin_package: two dialogs scored by hand, and random ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

SIZES, TOPPINGS = ("big", "small"), ("ham", "olives", "onion")


def act(name: str, *pairs: tuple[str, str]) -> dict[str, Any]:
    return {"act": name, "slots": pairs}


def turn(system: Any, heard: list[tuple[float, Any]], **goal: str) -> dict[str, Any]:
    return {"system": [system], "heard": [(score, [said]) for score, said in heard], "goal": goal}


HAND_DIALOGS = {
    "d1": [
        turn(act("request", ("slot", "size")), [(0.3, act("inform", ("size", "big")))], size="big"),
        turn(
            act("request", ("slot", "topping")),
            [(0.8, act("inform", ("topping", "ham")))],
            size="big",
            topping="ham",
        ),
    ],
    "d2": [
        turn(act("request", ("slot", "size")), []),
        turn(act("offer"), [(0.9, act("inform", ("size", "small")))], size="small"),
    ],
}

HAND_BELIEFS = {
    "d1": [
        {"size": {"big": 0.3}},
        {"size": {"small": 0.1, "big": 0.3}, "topping": {"ham": 0.4, "olives": 0.5}},
    ],
    "d2": [{}, {"size": {"small": 0.9}}],
}


def write_lines(path: Path, turns_of_dialogs: dict[str, Any]) -> Path:
    lines = [json.dumps({"id": name, "turns": turns}) + "\n" for name, turns in turns_of_dialogs.items()]
    path.write_text("".join(lines))
    return path


def random_dialogs(prefix: str, count: int) -> dict[str, Any]:
    """Calls of a system that asks, now and then confirms, offers and hangs up; a third is misheard."""
    return {f"{prefix}{number}": _random_dialog(Random(f"{prefix}{number}")) for number in range(count)}


def _random_dialog(rng: Random) -> list[Any]:
    wish = {"size": rng.choice(SIZES), "topping": rng.choice(TOPPINGS)}
    goal: dict[str, str] = {}
    turns = []
    for slot, values in (("size", SIZES), ("topping", TOPPINGS)):
        for _ in range(rng.choice((1, 1, 2))):
            said = wish[slot] if rng.random() < 0.67 else rng.choice(values)
            other, score = rng.choice(values), rng.uniform(0.3, 0.7)
            heard = [(score, act("inform", (slot, said))), (0.2, act("inform", (slot, other)))]
            goal[slot] = wish[slot]
            turns.append(turn(act("request", ("slot", slot)), heard, **goal))
        if rng.random() < 0.4:
            answer = act("affirm" if said == wish[slot] else "negate")
            turns.append(turn(act("expl-conf", (slot, said)), [(0.9, answer)], **goal))
    turns.append(turn(act("offer"), [(0.6, act("thankyou"))], **goal))
    turns.append(turn(act("bye"), [], **goal))
    return turns
