"""How hypothesis runs here: no deadline, since a busy machine is no bug."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("extrinsic", deadline=None)
settings.load_profile("extrinsic")
