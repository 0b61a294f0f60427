from typing import Any, Callable, Iterable, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carom import Model, Scene

Array = NDArray[np.float64]

class StepVerdict(NamedTuple):
    verdict: str
    switch: str
    distance: float
    jump: float
    residual: float
    differenced: bool
    why: Optional[str]

class State(NamedTuple):
    q: Array
    v: Array

class Change(NamedTuple):
    minus: Array
    plus: Array
    verdict: StepVerdict

class Jacobian(NamedTuple):
    J: Array
    verdict: StepVerdict

class Adjoint(NamedTuple):
    q: Array
    v: Array
    forces: Array
    params: Array
    verdict: StepVerdict

class Steps:
    model: Model
    dt: float
    by: Tuple[Tuple[Any, ...], ...]
    verdict: Optional[StepVerdict]
    def __init__(self, model: Union[Model, Scene], by: Iterable[Tuple[Any, ...]] = ..., **settings: Any) -> None: ...
    def start(self) -> State: ...
    def set(self, values: ArrayLike) -> None: ...
    def run(self, q: ArrayLike, v: ArrayLike, forces: Optional[ArrayLike] = ..., *, count: int = ...,
            ctrl: Optional[ArrayLike] = ..., time: float = ...) -> State: ...
    def apply(self, q: ArrayLike, v: ArrayLike, d: ArrayLike, *, force: Optional[ArrayLike] = ...,
              ctrl: Optional[ArrayLike] = ..., time: float = ...) -> Change: ...
    def jacobian(self, q: ArrayLike, v: ArrayLike, *, force: Optional[ArrayLike] = ...,
                 ctrl: Optional[ArrayLike] = ..., time: float = ...) -> Jacobian: ...
    def back(self, q: ArrayLike, v: ArrayLike, by: ArrayLike, *, force: Optional[ArrayLike] = ...,
             ctrl: Optional[ArrayLike] = ..., time: float = ...) -> Tuple[Array, StepVerdict]: ...
    def adjoint(self, q: ArrayLike, v: ArrayLike, forces: Optional[ArrayLike] = ..., *,
                by_q: Optional[ArrayLike] = ..., by_v: Optional[ArrayLike] = ..., count: int = ...,
                ctrl: Optional[ArrayLike] = ..., time: float = ...) -> Adjoint: ...

def to_jax(steps: Steps, count: int = ...) -> Callable[..., Any]: ...
def to_torch(steps: Steps, count: int = ...) -> Callable[..., Any]: ...
