"""A town of a few venues, with goals, bookings, states and responses, written as MultiWOZ files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders import write_json

HOTELS = [
    {"id": number, "name": name, "area": area, "type": kind, "parking": parking, "stars": stars}
    for number, name, area, kind, parking, stars in (
        ("0", "acorn guest house", "north", "guesthouse", "yes", "4"),
        ("1", "the cambridge belfry", "west", "hotel", "yes", "4"),
        ("2", "ashley hotel", "north", "hotel", "?", "2"),
    )
]
TRAINS = [
    {"trainID": name, "day": day, "leaveAt": leave, "arriveBy": arrive}
    | {"departure": "cambridge", "destination": "ely"}
    for name, day, leave, arrive in (
        ("TR1", "monday", "05:00", "06:00"),
        ("TR2", "monday", "09:00", "10:00"),
        ("TR1", "friday", "05:00", "06:00"),
    )
]
PLACES = [{"id": "0", "name": "somewhere", "area": "north", "type": "park", "food": "thai"}]

TO_ELY = {"destination": "ely", "day": "monday", "arrive": "07:00"}
GOALS: dict[str, Any] = {
    "d0": {
        "hotel": {"constraints": {"area": "north"}, "requests": ["phone", "stars"], "book": {"stay": "2"}}
    },
    "d1": {"train": {"constraints": TO_ELY, "requests": [], "book": {}}},
    "d2": {
        "hotel": {"constraints": {"name": "ashley hotel"}, "requests": [], "book": {}},
        "taxi": {"constraints": {}, "requests": ["phone"], "book": {}},
    },
}
GOLD: dict[str, Any] = {
    "d0": [{"hotel": {"area": "north"}}, {"hotel": {"area": "north", "stay": "2"}}],
    "d1": [{"train": TO_ELY}],
    "d2": [
        {"hotel": {"name": "ashley hotel"}},
        {"hotel": {"name": "ashley hotel"}, "taxi": {"leave": "05:00"}},
    ],
}
BOOKED = {"d0": [[], ["hotel"]], "d1": [[]], "d2": [[], []]}
RESPONSES: dict[str, list[str]] = {
    "d0": ["I suggest [hotel_name], call [hotel_phone].", "Booked: [hotel_reference]"],
    "d1": ["Take [train_trainid]."],
    "d2": ["[hotel_name] is fine.", "A taxi; call [taxi_phone]"],
}


def states(**changed: Any) -> dict[str, Any]:
    """The gold states, with those of some dialogs replaced."""
    return json.loads(json.dumps(GOLD)) | changed


def write_task(folder: Path, goals: Any = None) -> dict[str, Path]:
    """goals.json, booked.json and database/: what the evaluator's options name."""
    dialogs = {
        dialog: {"goal": goal, "turns": [{"gold21": state} for state in GOLD.get(dialog, [])]}
        for dialog, goal in (GOALS if goals is None else goals).items()
    }
    for name, rows in (("hotel", HOTELS), ("train", TRAINS), ("restaurant", PLACES), ("attraction", PLACES)):
        write_json(folder / "database" / f"{name}_db.json", rows)
    return {
        "goals": write_json(folder / "goals.json", dialogs),
        "booked": write_json(folder / "booked.json", BOOKED),
        "database": folder / "database",
    }


def write_system(
    path: Path, predicted: dict[str, Any], responses: dict[str, list[str]] | None = None
) -> Path:
    """A file in MultiWOZ_Evaluation's format; without responses, states alone."""
    return write_json(
        path,
        {
            dialog: [
                {"state": state} | ({} if responses is None else {"response": responses[dialog][number]})
                for number, state in enumerate(turns)
            ]
            for dialog, turns in predicted.items()
        },
    )


def write_responses(path: Path, responses: dict[str, list[str]]) -> Path:
    return write_json(
        path, {dialog: [{"response": text} for text in turns] for dialog, turns in responses.items()}
    )
