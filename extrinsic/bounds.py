"""Number types with bounds, used to check the settings of a study and the configs of its components."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=1e9)]
NotNegative = Annotated[float, msgspec.Meta(ge=0.0, le=1e9)]
Amount = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
Discount = Annotated[float, msgspec.Meta(gt=0.0, le=1.0)]
