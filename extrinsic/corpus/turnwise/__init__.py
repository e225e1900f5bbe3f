"""Dialogs turn by turn: what a turn says, which values were spoken of, a tracker at work.

Everything here advances many dialogs in lockstep, one turn each. A stored corpus and live play go through
the same steps, so a tracker believes the same in both.
"""
