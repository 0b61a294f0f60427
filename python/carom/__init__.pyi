from os import PathLike
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
LawLike = Union["Law", str, Callable[["Contact"], ArrayLike]]
RuleLike = Union["Rule", str]
Restitution = Union[float, ArrayLike, Callable[[float], float]]

__version__: str
numerics_revision: int

class Error(ValueError):
    status: str
    field: str
    line: int
    column: int

class Contact(NamedTuple):
    W: Array
    V: Array
    mu: float
    e: float = ...
    et: float = ...

class Margins:
    energy: float
    penetration: float
    tension: float
    cone: float

class Verdict:
    V_plus: Array
    energy_change: float
    margins: Margins
    permissible: bool
    creates_energy: bool

class Hit(Verdict):
    P: Array
    regime: str
    solutions: int

class Law:
    name: str
    def __init__(self, law: Union[str, Callable[[Contact], ArrayLike]], name: Optional[str] = ..., *, ending: str = ...,
                 directions: int = ..., nu: float = ..., mu2: float = ..., mu3: float = ..., psi1: float = ...,
                 psi2: float = ..., rho: float = ..., wish: ArrayLike = ..., eta2: float = ...,
                 laws: Sequence[LawLike] = ..., weights: ArrayLike = ...) -> None: ...
    def __call__(self, W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ...,
                 e: float = ..., et: float = ..., frame: Optional[ArrayLike] = ...) -> Hit: ...
    def apply(self, contact: Contact) -> Hit: ...

def impact(law: LawLike, W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ...,
           e: float = ..., et: float = ..., frame: Optional[ArrayLike] = ...) -> Hit: ...
def impact_many(law: LawLike, W: ArrayLike, V: ArrayLike, n: Optional[ArrayLike] = ..., *, mu: ArrayLike = ...,
                e: ArrayLike = ..., et: ArrayLike = ...) -> Tuple[Array, NDArray[np.intc]]: ...
def contact(W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ..., e: float = ...,
            et: float = ..., frame: Optional[ArrayLike] = ...) -> Tuple[Contact, Array]: ...
def verdict(contact: Contact, P: ArrayLike) -> Verdict: ...
def laws() -> list[dict[str, Any]]: ...

class Rigid:
    mass: float
    inertia: Array
    position: Array
    orientation: Array
    velocity: Array
    omega: Array
    fixed: bool
    def __init__(self, mass: float = ..., inertia: ArrayLike = ..., position: ArrayLike = ...,
                 orientation: ArrayLike = ..., velocity: ArrayLike = ..., omega: ArrayLike = ...,
                 fixed: bool = ...) -> None: ...
    @classmethod
    def sphere(cls, mass: float, radius: float, **other: Any) -> Rigid: ...
    def after(self, other: Rigid, point: ArrayLike, P: ArrayLike) -> Tuple[Rigid, Rigid]: ...

def collision(a: Rigid, b: Rigid, point: ArrayLike) -> Tuple[Array, Array]: ...

class Region:
    contact: Contact
    P_I: Optional[Array]
    P_II: Optional[Array]
    centroid: Optional[Array]
    reach: float
    azimuth: float
    def __init__(self, contact: Contact) -> None: ...
    def section(self, azimuth: Optional[float] = ..., count: int = ...) -> Optional[Array]: ...
    def mesh(self, level: int = ...) -> Optional[Tuple[Array, NDArray[np.intc]]]: ...
    def extent(self, P0: ArrayLike, d: ArrayLike) -> float: ...
    def project(self, wish: ArrayLike) -> Array: ...
    def spherical(self, psi1: float, psi2: float, rho: float) -> Array: ...
    def to_spherical(self, P: ArrayLike) -> Tuple[float, float, float]: ...
    def ellipsoid(self, Ec: float) -> Optional[Tuple[Array, Array, Array]]: ...
    def routh_path(self) -> Optional[Array]: ...

class Model:
    nb: int
    nq: int
    nv: int
    mass: Array
    com: Array
    q0: Array
    gravity: Array
    names: list[str]
    shapes: list[dict[str, Any]]
    def __init__(self) -> None: ...
    def material(self, name: Optional[str] = ..., *, density: float = ..., mu: float = ..., e: Restitution = ...,
                 et: float = ..., mu2: float = ..., axis: ArrayLike = ..., polygon: Optional[ArrayLike] = ...,
                 mu_spin: float = ..., mu_roll: float = ..., viscous: float = ..., mu_stribeck: float = ...,
                 speed_stribeck: float = ...) -> int: ...
    def pair(self, a: int, b: int, *, mu: float = ..., e: Restitution = ..., et: float = ..., mu2: float = ...,
             axis: ArrayLike = ..., polygon: Optional[ArrayLike] = ..., mu_spin: float = ..., mu_roll: float = ...,
             viscous: float = ..., mu_stribeck: float = ..., speed_stribeck: float = ...) -> None: ...
    def exclude(self, a: int, b: int) -> None: ...
    def filter(self, shape: int, group: int, mask: int) -> None: ...
    def body(self, name: Optional[str] = ..., joint: str = ..., pos: ArrayLike = ..., quat: ArrayLike = ..., *,
             parent: int = ..., axis: ArrayLike = ..., mass: float = ..., com: ArrayLike = ..., inertia: ArrayLike = ...,
             dof: Optional[Mapping[str, ArrayLike]] = ..., gravity_scale: float = ..., linear_drag: float = ...,
             angular_drag: float = ..., drive: Optional[Callable[[float], Mapping[str, ArrayLike]]] = ...) -> int: ...
    def sphere(self, body: int, radius: float, *, material: int = ..., pos: Optional[ArrayLike] = ...,
               quat: Optional[ArrayLike] = ...) -> int: ...
    def capsule(self, body: int, radius: float, half_length: float, *, material: int = ...,
                pos: Optional[ArrayLike] = ..., quat: Optional[ArrayLike] = ...) -> int: ...
    def cylinder(self, body: int, radius: float, half_height: float, *, material: int = ...,
                 pos: Optional[ArrayLike] = ..., quat: Optional[ArrayLike] = ...) -> int: ...
    def cone(self, body: int, radius: float, half_height: float, *, material: int = ...,
             pos: Optional[ArrayLike] = ..., quat: Optional[ArrayLike] = ...) -> int: ...
    def box(self, body: int, half_edges: ArrayLike, *, material: int = ..., pos: Optional[ArrayLike] = ...,
            quat: Optional[ArrayLike] = ...) -> int: ...
    def ellipsoid(self, body: int, semi_axes: ArrayLike, *, material: int = ..., pos: Optional[ArrayLike] = ...,
                  quat: Optional[ArrayLike] = ...) -> int: ...
    def halfspace(self, body: int = ..., normal: Iterable[float] = ..., offset: float = ..., *,
                  material: int = ...) -> int: ...
    def hull(self, body: int, points: ArrayLike, *, material: int = ..., pos: Optional[ArrayLike] = ...,
             quat: Optional[ArrayLike] = ...) -> int: ...
    def mesh(self, body: int, vertices: ArrayLike, triangles: ArrayLike, *, material: int = ...,
             pos: Optional[ArrayLike] = ..., quat: Optional[ArrayLike] = ...) -> int: ...
    def heightfield(self, body: int, heights: ArrayLike, dx: float, dy: float, *, material: int = ...,
                    pos: Optional[ArrayLike] = ..., quat: Optional[ArrayLike] = ...) -> int: ...
    def loop(self, kind: str, a: int, b: int, *, pos_a: Optional[ArrayLike] = ..., pos_b: Optional[ArrayLike] = ...,
             quat_a: Optional[ArrayLike] = ..., quat_b: Optional[ArrayLike] = ..., length: float = ...,
             coef: Optional[ArrayLike] = ..., range: Optional[Tuple[float, float]] = ...) -> int: ...
    def find(self, name: str, /) -> int: ...
    def dofs(self, body: int, /) -> Tuple[int, int, int, int]: ...

class Certificate:
    contacts: int
    rows: int
    solves: int
    impacts: int
    outcome: str
    residual: float
    eta: float
    distance: float
    floor: float
    momentum: float
    approach: float
    cone: float
    dissipation: float
    complementarity: float
    penetration: float
    overlap: float
    crossings: int
    crossings_unsure: int
    loop_error: float
    energy_change: float
    work: float
    energy_created: float
    energy_size: float
    energy_gain: float
    impermissible: int
    impacts_unsure: int
    truncated: bool
    asleep: int
    escaped: int
    escapee: int
    steps: int
    solved: int
    near: int
    unsure: int
    failed: int
    measured: int
    unknown: int
    mean_residual: float
    clean: bool

class Energy(NamedTuple):
    kinetic: float
    potential: float
    @property
    def total(self) -> float: ...

class World:
    q: Array
    v: Array
    force: Array
    motor_speed: Array
    time: float
    poses: Array
    events: NDArray[np.void]
    contacts: list[dict[str, Any]]
    certificate: Certificate
    energy: Energy
    model: Model
    settings: dict[str, Any]
    hash: int
    def __init__(self, model: Model, *, method: str = ..., dt: float = ..., rule: Optional[RuleLike] = ...,
                 law: Optional[LawLike] = ..., solver: str = ..., tol: float = ..., quality: str = ...,
                 threads: int = ..., threshold: float = ..., cluster: float = ..., deadband: float = ...,
                 position_tol: float = ..., impact_limit: int = ..., level: str = ..., fixed_point: bool = ...,
                 directions: int = ..., restitution: str = ..., theta: float = ..., activation: float = ...,
                 toi: str = ..., force: Optional[Callable[[float, Array, Array], ArrayLike]] = ...) -> None: ...
    def step(self, count: int = ...) -> None: ...
    def run(self, time: float) -> Certificate: ...
    def record(self, time: float, every: int = ...) -> Trajectory: ...
    def momentum(self, about: ArrayLike = ...) -> Tuple[Array, Array]: ...
    def save(self) -> bytes: ...
    def load(self, snapshot: bytes, /) -> None: ...

class Body(NamedTuple):
    name: str
    joint: str
    q: int
    nq: int
    v: int
    nv: int

class Trajectory:
    time: Array
    q: Array
    v: Array
    energy: Optional[Array]
    certificate: Optional[Array]
    events: Optional[NDArray[np.void]]
    scene: Optional[str]
    bodies: list[Body]
    @staticmethod
    def read(path: Union[str, PathLike[str]]) -> Trajectory: ...
    def write(self, path: Union[str, PathLike[str]]) -> None: ...
    def of(self, body: str) -> Array: ...
    def velocity(self, body: str) -> Array: ...
    def __len__(self) -> int: ...

class Note(NamedTuple):
    level: str
    text: str
    file: str
    line: int
    column: int
    count: int

class Scene:
    notes: list[Note]
    model: Model
    q: Array
    v: Array
    comment: Optional[str]
    duration: float
    every: int
    overlaps: int
    settings: dict[str, Any]
    def __init__(self, text: Union[str, Mapping[str, Any]], set: Optional[Mapping[str, Any]] = ...) -> None: ...
    @classmethod
    def from_model(cls, path: Union[str, PathLike[str]], *, key: Optional[str] = ..., packages: Iterable[Any] = ...,
                   fixed_base: bool = ..., set: Optional[Mapping[str, Any]] = ...) -> Scene: ...
    def world(self, threads: int = ...) -> World: ...
    def run(self, duration: Optional[float] = ..., every: Optional[int] = ...) -> Trajectory: ...

def load(path: Union[str, PathLike[str]], *, key: Optional[str] = ..., packages: Iterable[Any] = ...,
         fixed_base: bool = ..., **set: Any) -> Scene: ...
def scenes() -> list[str]: ...

class Worst(NamedTuple):
    value: float
    floor: float
    time: float
    a: Optional[str]
    b: Optional[str]

class MotionAudit:
    holds: str
    no_overlap: str
    no_crossing: str
    no_gain: str
    flies: str
    records: int
    start: float
    end: float
    velocities: bool
    overlap: Worst
    overlaps: int
    crossings: int
    crossings_unsure: int
    crossing: Worst
    energy_start: float
    energy_end: float
    energy_scale: float
    gain: float
    gain_least: float
    gain_most: float
    gained: Worst
    energy_known: int
    energy_unknown: int
    momentum: Worst
    spin: Worst
    path: Worst
    flights: int
    flights_unknown: int
    jumps: int
    escaped: Worst
    steps: dict[str, Array]
    def __init__(self, raw: dict[str, Any]) -> None: ...
    def __bool__(self) -> bool: ...

def audit(scene: Union[Scene, Model], trajectory: Union[Trajectory, str, PathLike[str], Sequence[ArrayLike]], *,
          exact: bool = ..., overlap: float = ..., energy: float = ..., speed: float = ...) -> MotionAudit: ...

class Spread:
    bodies: list[str]
    itself_position: Array
    itself_velocity: Array
    position: Array
    velocity: Array
    cluster: Any
    order: Any
    representatives: list[int]
    orders: list[list[list[tuple[str, str]]]]
    explained: Array
    clusters_explained: float
    failed: int
    why: str

def spread(scene: Union[str, PathLike[str], Mapping[str, Any]], jitter: Union[Iterable[str], Mapping[str, Any]], *,
           samples: int = ..., seed: int = ..., threads: int = ..., of: str = ..., order: int = ...,
           checkpoint: Optional[Union[str, PathLike[str]]] = ..., set: Optional[Mapping[str, Any]] = ...) -> Spread: ...

class Audit:
    residual: float
    least: float
    most: float
    eta: float
    floor: float
    distance: float
    permits: float
    scale: float
    asymmetry: float
    momentum: float
    momentum_floor: float
    natural: float
    approach: float
    cone: float
    dissipation: float
    complementarity: float
    energy_change: float
    worst_block: int

class Solution:
    p: Array
    u: Array
    outcome: str
    method: str
    iterations: int
    residual: float
    audit: Audit

class Resolution:
    p: Array
    u: Array
    outcome: str
    method: str
    steps: int
    unique: str
    flags: int
    energy_change: float
    work: float
    permissible: bool
    creates_energy: bool
    margins: dict[str, float]
    audit: Audit

class Rule:
    name: str
    def __init__(self, name: str, *, law: LawLike = ..., solver: str = ..., tolerance: float = ..., budget: int = ...,
                 directions: int = ..., eps: ArrayLike = ..., ties: str = ..., direction: ArrayLike = ...,
                 seed: int = ..., extrapolate: bool = ..., mechanism: str = ..., pick: str = ..., corner: str = ...,
                 threshold: float = ..., stiffness: ArrayLike = ..., hertz: bool = ...) -> None: ...

class Problem:
    u_free: Array
    W: Array
    reference: Optional[Array]
    p: Optional[Array]
    h: float
    mended: Optional[dict[str, Any]]
    def __init__(self, u_free: ArrayLike, W: ArrayLike, blocks: Iterable[Tuple[Any, ...]], b: Optional[ArrayLike] = ...,
                 *, raw: bool = ...) -> None: ...
    @classmethod
    def read(cls, path: Union[str, PathLike[str]], format: Optional[str] = ...) -> Problem: ...
    def solve(self, solver: str = ..., *, tol: float = ..., max_iterations: int = ...,
              p: Optional[ArrayLike] = ...) -> Solution: ...
    def resolve(self, rule: RuleLike = ..., *, law: Optional[LawLike] = ...) -> Resolution: ...
    def audit(self, p: ArrayLike) -> Audit: ...

def rules() -> list[dict[str, Any]]: ...
def solvers() -> list[str]: ...
