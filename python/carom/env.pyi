from typing import Any, Callable, Iterable, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carom import Batch, Model, Scene, World

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

class Box:
    low: Array
    high: Array
    shape: Tuple[int, ...]
    dtype: np.dtype[np.float64]
    def __init__(self, low: ArrayLike, high: ArrayLike, shape: Tuple[int, ...], seed: Optional[int] = ...) -> None: ...
    def sample(self) -> Array: ...
    def contains(self, x: ArrayLike) -> bool: ...

class VectorEnv:
    num_envs: int
    model: Model
    threads: int
    batch: Batch
    q: Array
    v: Array
    single_action_space: Box
    action_space: Box
    single_observation_space: Box
    observation_space: Box
    def __init__(self, model: Union[Model, Scene], count: int, *, actuated: Iterable[Union[str, int]] = ...,
                 limit: ArrayLike = ..., motor: bool = ..., dt: Optional[float] = ..., substeps: int = ...,
                 duration: float = ..., observe: Optional[Callable[[Array, Array], Array]] = ...,
                 reward: Optional[Callable[[Array, Array, Array], ArrayLike]] = ...,
                 terminated: Optional[Callable[[Array, Array], ArrayLike]] = ...,
                 reset: Optional[Callable[[np.random.Generator, Array, Array], Any]] = ...,
                 threads: Optional[int] = ..., **settings: Any) -> None: ...
    def reset(self, *, seed: Optional[int] = ...,
              options: Optional[dict[str, Any]] = ...) -> Tuple[Array, dict[str, Any]]: ...
    def step(self, actions: ArrayLike) -> Tuple[Array, Array, Flags, Flags, dict[str, Any]]: ...
    def close(self) -> None: ...

def cart_pole(length: float = ..., track: float = ...) -> Model: ...

class Task:
    scene: str
    substeps: int
    duration: float
    def __init__(self, scene: str, *, substeps: int, duration: float,
                 begin: Callable[[np.random.Generator, Array, Array], Any], observe: Callable[[World], Array],
                 reward: Callable[[World, Array], float], ended: Callable[[World], bool]) -> None: ...

TASKS: dict[str, Task]

class TaskEnv:
    name: str
    task: Task
    world: World
    worlds: Tuple[World, ...]
    action_space: Box
    observation_space: Box
    @property
    def unwrapped(self) -> TaskEnv: ...
    def __init__(self, name: str, render_mode: Optional[str] = ...) -> None: ...
    def reset(self, *, seed: Optional[int] = ...,
              options: Optional[dict[str, Any]] = ...) -> Tuple[Array, dict[str, Any]]: ...
    def step(self, action: ArrayLike) -> Tuple[Array, float, bool, bool, dict[str, Any]]: ...
    def close(self) -> None: ...

class TaskVectorEnv:
    name: str
    task: Task
    num_envs: int
    worlds: Tuple[World, ...]
    single_action_space: Box
    action_space: Box
    single_observation_space: Box
    observation_space: Box
    def __init__(self, name: str, count: int) -> None: ...
    def reset(self, *, seed: Optional[int] = ...,
              options: Optional[dict[str, Any]] = ...) -> Tuple[Array, dict[str, Any]]: ...
    def step(self, actions: ArrayLike) -> Tuple[Array, Array, Flags, Flags, dict[str, Any]]: ...
    def close(self) -> None: ...

def make(name: str) -> TaskEnv: ...
def make_vector(name: str, count: int) -> TaskVectorEnv: ...
def register(gymnasium: Any = ...) -> list[str]: ...
