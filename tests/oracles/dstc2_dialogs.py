"""What a DSTC2 dialog says by itself, whatever the tracker: scheme-b labels and schedule 2."""


def method_of_acts(acts):
    """The method a user turn expresses by its acts alone."""
    names = [act["act"] for act in acts]
    informed = [slot for act in acts if act["act"] == "inform" for slot, _ in act["slots"]]
    if "reqalts" in names:
        return "byalternatives"
    if "bye" in names:
        return "finished"
    if "name" in informed:
        return "byname"
    return "byconstraints" if informed else "none"


def goal_labels_held_backwards(log_turns, label_turns):
    """Scheme b: one {slot: value} per turn; each slot takes the next label that counts.

    A label counts at its own turn unless the system has said by then that it cannot help with it. (Judging
    a later label by what was refused up to the earlier turn gives the same labels on all of dev and train.)
    """
    counting_by_turn = []
    refused = set()
    for log_turn, label_turn in zip(log_turns, label_turns, strict=True):
        for act in log_turn["output"]["dialog-acts"]:
            if act["act"] == "canthelp":
                refused.update((slot, value) for slot, value in act["slots"])
        labels = label_turn["goal-labels"].items()
        counting_by_turn.append({slot: value for slot, value in labels if (slot, value) not in refused})
    labels_by_turn = []
    for turn in range(len(label_turns)):
        held = {}
        for counting in counting_by_turn[turn:]:
            for slot, value in counting.items():
                held.setdefault(slot, value)
        labels_by_turn.append(held)
    return labels_by_turn


# ---- schedules -----------------------------------------------------------------------------------------


def slot_meant_by_this(system_acts):
    """The slot the system just requested, confirmed explicitly or offered a choice of; None if none."""
    meant = None
    for act in system_acts:
        if act["act"] == "request":
            meant = act["slots"][0][1]
        elif act["act"] in ("expl-conf", "select"):
            meant = act["slots"][0][0]
    return meant


def mentions_by_turn(log_turns, informable):
    """Schedule 2: per turn (goal slots on it, requested slots on it, is the method on it)."""
    goals, requested, method = set(), set(), False
    mentions = []
    for log_turn in log_turns:
        system_acts = log_turn["output"]["dialog-acts"]
        this = slot_meant_by_this(system_acts)
        for act in system_acts:
            slots = {slot for slot, _ in act["slots"]}
            if "conf" in act["act"]:
                goals |= slots
            if act["act"] in ("inform", "offer"):
                requested -= slots
        for hypothesis in log_turn["input"]["live"]["slu-hyps"]:
            for act in hypothesis["slu-hyp"]:
                for slot, value in act["slots"]:
                    goals.add(this if slot == "this" else slot)
                    if act["act"] == "request" and slot == "slot":
                        requested.add(value)
            method = method or method_of_acts(hypothesis["slu-hyp"]) != "none"
        mentions.append((goals & set(informable), set(requested), method))
    return mentions
