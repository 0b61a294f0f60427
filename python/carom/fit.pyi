from os import PathLike
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Table = Union[str, PathLike[str], Mapping[str, ArrayLike]]
Scene = Union[str, PathLike[str], Mapping[str, Any]]
Progress = Optional[Callable[[int, int], Any]]
Columns = Union[Mapping[str, Union[str, float]], Iterable[str], None]

class Parameter:
    value: float
    lo: float
    hi: float
    determined: str
    flat_lo: float
    flat_hi: float
    partner: Optional[str]
    correlation: float
    def __init__(self, value: float, lo: float, hi: float, determined: str, flat_lo: float, flat_hi: float,
                 partner: Optional[str], correlation: float) -> None: ...

class FitLaw(NamedTuple):
    name: str
    parameters: list[str]

class Refusal(NamedTuple):
    law: str
    why: str

class Fit:
    law: str
    error: float
    error_se: float
    behind: float
    behind_se: float
    fit_error: float
    unanswered: int
    impermissible: int
    creates_energy: int
    parameters: dict[str, Parameter]
    errors: Array
    P: Array
    def __getitem__(self, name: str) -> Parameter: ...

class Fits:
    laws: list[Fit]
    summary: dict[str, Any]
    refused: list[Refusal]
    @property
    def best(self) -> Fit: ...
    def __getitem__(self, law: str) -> Fit: ...
    def __iter__(self) -> Iterator[Fit]: ...
    def __len__(self) -> int: ...

class MotionFit:
    law: str
    misfit: float
    misfit_se: float
    behind: float
    behind_se: float
    loss: float
    loss_se: float
    fit_misfit: float
    fit_loss: float
    parameters: dict[str, Parameter]
    misfits: Array
    losses: Array
    fold: NDArray[np.intc]
    certificate: dict[str, Any]
    set: dict[str, Any]
    settings: dict[str, Any]
    def __getitem__(self, name: str) -> Parameter: ...

class MotionFits:
    laws: list[MotionFit]
    summary: dict[str, Any]
    refused: list[Refusal]
    @property
    def best(self) -> MotionFit: ...
    def __getitem__(self, law: str) -> MotionFit: ...
    def __iter__(self) -> Iterator[MotionFit]: ...
    def __len__(self) -> int: ...

class MotionPrediction:
    law: str
    toss: Array
    misfit: Array
    loss: Array
    position: Array
    rotation: Array
    penetration: Array
    energy_created: Array
    energy_gain: Array
    certificate: dict[str, Any]
    of: NDArray[np.int_]
    t: Array
    p: Array
    q: Array

class Prediction:
    P: Array
    energy_change: Array
    permissible: NDArray[np.bool_]
    error: Array
    velocities: Optional[dict[str, Array]]

def laws() -> list[FitLaw]: ...
def impacts(table: Table, laws: Optional[Sequence[str]] = ..., *, params: Optional[Sequence[str]] = ...,
            fix: Optional[Mapping[str, float]] = ..., column: Columns = ..., where: Columns = ..., skip: bool = ...,
            folds: int = ..., bootstrap: int = ..., seed: int = ..., threads: int = ...,
            out: Union[str, PathLike[str], None] = ...) -> Fits: ...
def motion(table: Table, scene: Scene, params: Sequence[str] = ..., *, laws: Optional[Sequence[str]] = ...,
           rules: Optional[Sequence[str]] = ..., methods: Optional[Sequence[str]] = ..., body: Optional[str] = ...,
           length: Optional[float] = ..., substeps: int = ..., set: Optional[Mapping[str, Any]] = ...,
           column: Columns = ..., where: Columns = ..., skip: bool = ..., points: int = ..., folds: int = ...,
           bootstrap: int = ..., seed: int = ..., threads: int = ..., checkpoint: Union[str, PathLike[str], None] = ...,
           out: Union[str, PathLike[str], None] = ..., progress: Progress = ...) -> MotionFits: ...
@overload
def predict(table: Table, law: MotionFit, *, which: None = ..., scene: Optional[Scene] = ..., substeps: int = ...,
            threads: int = ..., column: Columns = ..., where: Columns = ..., skip: bool = ...,
            progress: Progress = ...) -> MotionPrediction: ...
@overload
def predict(table: Table, law: Fit, *, column: Columns = ..., where: Columns = ..., skip: bool = ...,
            **parameters: float) -> Prediction: ...
@overload
def predict(table: Table, law: Union[str, PathLike[str]], *, which: Optional[str] = ...,
            scene: Optional[Scene] = ..., substeps: int = ..., threads: int = ..., column: Columns = ...,
            where: Columns = ..., skip: bool = ..., progress: Progress = ..., **parameters: float) -> Any: ...
