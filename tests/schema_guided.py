"""Schema-guided dialogues made by hand and by chance, as their files have them."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

Json = Any

SCHEMA: Json = [
    {
        "service_name": "Restaurants_1",
        "slots": [
            {"name": "cuisine", "is_categorical": False, "possible_values": ["Thai"]},
            {"name": "time", "is_categorical": False, "possible_values": []},
            {"name": "price", "is_categorical": True, "possible_values": ["cheap", "moderate"]},
        ],
    },
    {
        "service_name": "Hotels_1",
        "slots": [
            {"name": "city", "is_categorical": False, "possible_values": []},
            {"name": "stars", "is_categorical": True, "possible_values": ["3", "4"]},
        ],
    },
]


def user(utterance: str, **frames: dict[str, Json]) -> Json:
    return {
        "speaker": "USER",
        "utterance": utterance,
        "frames": [
            {
                "service": service,
                "slots": [],
                "state": {"active_intent": "Find", "requested_slots": [], "slot_values": values},
            }
            for service, values in frames.items()
        ],
    }


def system() -> Json:
    return {
        "speaker": "SYSTEM",
        "utterance": "Sure.",
        "frames": [{"service": "Hotels_1", "slots": [], "actions": []}],
    }


def dialog(name: str, *turns: Json) -> Json:
    services = sorted({frame["service"] for turn in turns for frame in turn["frames"]})
    spoken = [turn for said in turns for turn in (said, system())][:-1]
    return {"dialogue_id": name, "services": services, "turns": spoken}


def call_and_booking(
    food: list[str], time: list[str], city: list[str], city_again: list[str], stars: list[str]
) -> Json:
    """Two dialogs about a restaurant and a hotel, and about a hotel; what may differ is given."""
    return [
        dialog(
            "1_00000",
            user("Thai food", Restaurants_1={"cuisine": ["Thai"]}),
            user(
                "At six. And a hotel in San Jose",
                Restaurants_1={"cuisine": food, "time": time},
                Hotels_1={"city": city},
            ),
            user("Four stars", Hotels_1={"city": city_again, "stars": ["4"]}),
        ),
        dialog(
            "1_00001",
            user("A hotel in Berlin", Hotels_1={"city": ["Berlin"]}),
            user("Any", Hotels_1={"city": ["Berlin"], "stars": stars}),
        ),
    ]


GOLD = call_and_booking(
    ["Thai", "thai food"], ["6 pm", "18:00"], ["San Jose"], ["San Jose", "SJ"], ["dontcare"]
)
# The words of the time stand in another order; a city one letter too long is similar by 94.
PREDICTED = call_and_booking(["thai food"], ["pm 6"], ["San Josee"], ["SJ"], ["3"])


def hand_made() -> tuple[Json, Json, Json]:
    """Copies of the gold, the prediction and the schema, to be spoilt."""
    return copy.deepcopy(GOLD), copy.deepcopy(PREDICTED), copy.deepcopy(SCHEMA)


def write_gold(folder: Path, gold: Json = GOLD, schema: Json = SCHEMA) -> Path:
    """The gold as a directory with a dialog a file; no schema: None."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, entry in enumerate(gold):
        (folder / f"dialogues_{number + 1:03}.json").write_text(json.dumps([entry]))
    if schema is not None:
        (folder / "schema.json").write_text(json.dumps(schema))
    return folder


def write_predictions(path: Path, predicted: Json = PREDICTED) -> Path:
    """Predictions as one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(predicted))
    return path


def by_chance(seed: int, all_frames: bool) -> tuple[Json, Json]:
    """Gold and predictions drawn from few values, so that many agree; all_frames: in every user turn."""
    draw = random.Random(f"schema-guided {seed}")
    services = {service["service_name"]: service["slots"] for service in SCHEMA}
    texts = ["a", "b", "c", "dontcare"]

    def values(slots: Json, several: bool) -> dict[str, list[str]]:
        state = {}
        for slot in slots:
            if draw.random() < 0.4:
                open_slot = several and not slot["is_categorical"]
                state[slot["name"]] = draw.sample(texts, draw.randint(1, 3) if open_slot else 1)
        return state

    gold, predicted = [], []
    for number in range(12):
        golds, guesses = [], []
        for turn in range(draw.randint(1, 5)):
            chosen = list(services) if all_frames else draw.sample(list(services), draw.randint(1, 2))
            frames = {name: values(services[name], several=True) for name in chosen}
            guess = {
                name: copy.deepcopy(
                    frame if draw.random() < 0.5 else values(services[name], several=bool(turn % 2))
                )
                for name, frame in frames.items()
            }
            golds.append(user(f"turn {turn}", **frames))
            guesses.append(user(f"turn {turn}", **guess))
        gold.append(dialog(f"{seed}_{number:05}", *golds))
        predicted.append(dialog(f"{seed}_{number:05}", *guesses))
    return gold, predicted
