from os import PathLike
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Table = Union[str, PathLike[str], Mapping[str, ArrayLike]]
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
    refused: list[Tuple[str, str]]
    @property
    def best(self) -> Fit: ...
    def __getitem__(self, law: str) -> Fit: ...
    def __iter__(self) -> Iterator[Fit]: ...
    def __len__(self) -> int: ...

class Prediction:
    P: Array
    energy_change: Array
    permissible: NDArray[np.bool_]
    error: Array
    velocities: Optional[dict[str, Array]]

def laws() -> list[Tuple[str, list[str]]]: ...
def impacts(table: Table, laws: Optional[Sequence[str]] = ..., *, params: Optional[Sequence[str]] = ...,
            fix: Optional[Mapping[str, float]] = ..., column: Columns = ..., where: Columns = ..., skip: bool = ...,
            folds: int = ..., bootstrap: int = ..., seed: int = ..., threads: int = ...,
            out: Union[str, PathLike[str], None] = ...) -> Fits: ...
def predict(table: Table, law: Union[Fit, str], *, column: Columns = ..., where: Columns = ..., skip: bool = ...,
            **parameters: float) -> Prediction: ...
