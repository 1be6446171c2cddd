"""Declarations of the named classes for type checkers, written by tests/surface.py."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from rollstat.options import Window
from rollstat.streaming.base import RollingStream
from rollstat.streaming.general import OperatorStream

class _OneSeries(OperatorStream):
    def push(self, x: Any, t: Any = None) -> Any: ...  # as RollingStream.push

class EwmCorr(OperatorStream):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        adjust: bool = True,
        ignore_na: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class EwmCov(OperatorStream):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        adjust: bool = True,
        ignore_na: bool = False,
        bias: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class EwmMean(_OneSeries):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        adjust: bool = True,
        ignore_na: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class EwmStd(_OneSeries):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        adjust: bool = True,
        ignore_na: bool = False,
        bias: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class EwmSum(_OneSeries):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        ignore_na: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class EwmVar(_OneSeries):
    def __init__(
        self,
        window: Window = ...,
        alpha: float | None = None,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        adjust: bool = True,
        ignore_na: bool = False,
        bias: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingAll(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingAny(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingArgkth(RollingStream):
    def __init__(
        self,
        k: int | Sequence[int],
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingArgmax(RollingStream):
    def __init__(
        self,
        window: Window,
        ties: str = "first",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingArgmin(RollingStream):
    def __init__(
        self,
        window: Window,
        ties: str = "first",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingArgMinMax(RollingStream):
    def __init__(
        self,
        window: Window,
        ties: str = "first",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingAutocorr(RollingStream):
    def __init__(
        self,
        window: Window,
        lag: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingBeta(OperatorStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingCorr(OperatorStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingCount(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingCov(OperatorStream):
    def __init__(
        self,
        window: Window,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingDecayedMean(_OneSeries):
    def __init__(
        self,
        window: Window,
        decay: float,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingDecayedSum(_OneSeries):
    def __init__(
        self,
        window: Window,
        decay: float,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingDownsideDeviation(_OneSeries):
    def __init__(
        self,
        window: Window,
        target: float = 0.0,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingDrawdown(_OneSeries):
    def __init__(
        self,
        window: Window,
        relative: bool = True,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingEntropy(RollingStream):
    def __init__(
        self,
        window: Window,
        base: float = 2.718281828459045,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingFirst(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingGini(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingHampel(RollingStream):
    def __init__(
        self,
        window: Window,
        threshold: float = 3.0,
        scale: float | str = "normal",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingIqr(RollingStream):
    def __init__(
        self,
        window: Window,
        q_low: float = 0.25,
        q_high: float = 0.75,
        interpolation: str = "linear",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingKth(RollingStream):
    def __init__(
        self,
        k: int | Sequence[int],
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingKurt(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingLast(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingLinearFit(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingLogSumExp(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingMad(RollingStream):
    def __init__(
        self,
        window: Window,
        scale: float | str = 1.0,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingMax(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingMean(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingMeanAbsDev(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingMedian(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingMin(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingMinMax(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingMode(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingNegativeSum(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingNunique(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingPositiveSum(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingProd(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingPtp(RollingStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingQuantile(RollingStream):
    def __init__(
        self,
        window: Window,
        q: float | Sequence[float],
        interpolation: str = "linear",
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingRank(RollingStream):
    def __init__(
        self,
        window: Window,
        method: str = "average",
        ascending: bool = True,
        pct: bool = False,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingSem(_OneSeries):
    def __init__(
        self,
        window: Window,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingSkew(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingSlope(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingStd(_OneSeries):
    def __init__(
        self,
        window: Window,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingSum(_OneSeries):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingTrimmedMean(RollingStream):
    def __init__(
        self,
        window: Window,
        proportion: float = 0.1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingVar(_OneSeries):
    def __init__(
        self,
        window: Window,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingWeightedMean(OperatorStream):
    def __init__(
        self,
        window: Window,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
        algorithm: str = "auto",
    ) -> None: ...

class RollingWinsorizedMean(RollingStream):
    def __init__(
        self,
        window: Window,
        proportion: float = 0.1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...

class RollingZscore(RollingStream):
    def __init__(
        self,
        window: Window,
        ddof: int = 1,
        *,
        min_periods: int | None = None,
        dtype: DTypeLike = ...,
        lateness: Any = None,
        closed: str = "right",
        nan_policy: str = "omit",
        inf: str = "value",
    ) -> None: ...
