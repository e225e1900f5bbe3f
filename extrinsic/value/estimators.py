"""The estimators that come with the package."""

from __future__ import annotations

from extrinsic.value.doubly_robust import DoublyRobust
from extrinsic.value.fqe import Fqe
from extrinsic.value.importance import ImportanceSampling
from extrinsic.value.live import Live
from extrinsic.value.lstd_value import Lstd
from extrinsic.value.mean_of import MeanOf
from extrinsic.value.observed import Observed
from extrinsic.value.world_value import World, WorldMixed

OBSERVED = Observed()
LIVE = Live()
LSTD = Lstd()
LSTD_BEHAVIOUR = Lstd("lstd_behaviour", of_behaviour=True)
LSTD_AUGMENTED = Lstd("lstd_augmented", augmented=True)
FQE = Fqe()
FQE_AUGMENTED = Fqe("fqe_augmented", augmented=True)
MEAN_AUGMENTED = MeanOf("mean_augmented", (LSTD_AUGMENTED, FQE_AUGMENTED))
WORLD = World()
WORLD_MIXED = WorldMixed("world_mixed", (WORLD, FQE_AUGMENTED))
IS = ImportanceSampling("is", per_decision=False, weighted=False)
PDIS = ImportanceSampling("pdis", per_decision=True, weighted=False)
WIS = ImportanceSampling("wis", per_decision=False, weighted=True)
PDWIS = ImportanceSampling("pdwis", per_decision=True, weighted=True)
DR = DoublyRobust("dr", weighted=False)
WDR = DoublyRobust("wdr", weighted=True)
