"""Oracle for schema-guided dialogues: the challenge's goal accuracies with exact match, on its own files.

`gold` and `predicted` are {dialog: dialog as in the files}, `schema` the list of services.
"""


def slot_is_right(slot, gold, predicted):
    """1 or 0; gold and predicted are {slot: [value, ...]}."""
    name = slot["name"]
    if name not in gold:
        return 0.0 if name in predicted else 1.0
    if name not in predicted:
        return 0.0
    first = predicted[name][0]
    if slot["is_categorical"]:
        return 1.0 if first == gold[name][0] else 0.0
    return 1.0 if first in gold[name] else 0.0


def frame_scores(gold, predicted, schema):
    """[[(joint, average or None) of each frame] of each turn of the user], in gold's frames."""
    services = {service["service_name"]: service["slots"] for service in schema}
    turns = []
    for name, dialog in gold.items():
        for turn, other in zip(dialog["turns"], predicted[name]["turns"], strict=True):
            if turn["speaker"] != "USER":
                continue
            scores = []
            for frame in turn["frames"]:
                (guess,) = [item for item in other["frames"] if item["service"] == frame["service"]]
                values = frame["state"]["slot_values"]
                guesses = guess["state"]["slot_values"]
                joint, right, active = 1.0, 0.0, 0
                for slot in services[frame["service"]]:
                    is_right = slot_is_right(slot, values, guesses)
                    joint = joint * is_right
                    if slot["name"] in values:
                        right = right + is_right
                        active = active + 1
                scores.append((joint, right / active if active else None))
            turns.append(scores)
    return turns


def mean(values):
    return sum(values) / len(values)


def joint_goal_accuracy(gold, predicted, schema):
    """The mean over frames."""
    return mean([joint for turn in frame_scores(gold, predicted, schema) for joint, _ in turn])


def joint_goal_accuracy_across_turn(gold, predicted, schema):
    """The mean over turns that have a frame; all frames of a turn must be right."""
    return mean([min(joint for joint, _ in turn) for turn in frame_scores(gold, predicted, schema) if turn])


def average_goal_accuracy(gold, predicted, schema):
    """The mean over frames with a gold slot."""
    scores = [average for turn in frame_scores(gold, predicted, schema) for _, average in turn]
    return mean([score for score in scores if score is not None])
