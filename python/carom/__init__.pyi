from os import PathLike
from typing import Any, Callable, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carom import _records

Array = NDArray[np.float64]
LawLike = Union["Law", str, Callable[["Contact"], ArrayLike]]
RuleLike = Union["Rule", str]
Restitution = Union[float, ArrayLike, Mapping[str, Any], Callable[[float], float]]
Coefficient = Union[float, Mapping[str, Any], Callable[[float, float, float, float], float]]

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

class Margins(_records.Margins): ...

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
    def gradient(self, W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ...,
                 e: float = ..., et: float = ..., frame: Optional[ArrayLike] = ..., tol: float = ...) -> Gradient: ...
    def apply(self, contact: Contact) -> Hit: ...

class Derivative(NamedTuple):
    P_minus: Array
    P_plus: Array
    V_minus: Array
    V_plus: Array
    normal: float
    error: float

class Gradient:
    hit: Hit
    verdict: str
    differenced: bool
    switch: str
    distance: float
    switches: int
    beyond: str
    jump: Array
    by: dict[str, Derivative]

def gradient(law: LawLike, W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ...,
             e: float = ..., et: float = ..., frame: Optional[ArrayLike] = ..., tol: float = ...) -> Gradient: ...

class Strike(NamedTuple):
    velocity: Array
    omega: Array
    squirt: float
    impulse: float
    miscue: bool

def cue_strike(speed: float, side: float = ..., height: float = ..., *, e: float, mu: float, mass: float = ...,
               end_mass: float = ..., ball_mass: float = ..., ball_radius: float = ...) -> Strike: ...

class Impulses(NamedTuple):
    P: Array
    status: NDArray[np.intc]

class FramedContact(NamedTuple):
    contact: Contact
    frame: Array

class Collision(NamedTuple):
    W: Array
    V: Array

class Mesh(NamedTuple):
    vertices: Array
    triangles: NDArray[np.intc]

class Spherical(NamedTuple):
    psi1: float
    psi2: float
    rho: float

class Ellipsoid(NamedTuple):
    center: Array
    radii: Array
    axes: Array

def impact(law: LawLike, W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ...,
           e: float = ..., et: float = ..., frame: Optional[ArrayLike] = ...) -> Hit: ...
def impact_many(law: LawLike, W: ArrayLike, V: ArrayLike, n: Optional[ArrayLike] = ..., *, mu: ArrayLike = ...,
                e: ArrayLike = ..., et: ArrayLike = ...) -> Impulses: ...
def contact(W: Optional[ArrayLike] = ..., V: ArrayLike = ..., n: ArrayLike = ..., *, mu: float = ..., e: float = ...,
            et: float = ..., frame: Optional[ArrayLike] = ...) -> FramedContact: ...
def verdict(contact: Contact, P: ArrayLike) -> Verdict: ...

class LawInfo(_records.LawInfo): ...

def laws() -> list[LawInfo]: ...

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

def collision(a: Rigid, b: Rigid, point: ArrayLike) -> Collision: ...

class Region:
    contact: Contact
    P_I: Optional[Array]
    P_II: Optional[Array]
    centroid: Optional[Array]
    reach: float
    azimuth: float
    def __init__(self, contact: Contact) -> None: ...
    def section(self, azimuth: Optional[float] = ..., count: int = ...) -> Optional[Array]: ...
    def mesh(self, level: int = ...) -> Optional[Mesh]: ...
    def extent(self, P0: ArrayLike, d: ArrayLike) -> float: ...
    def project(self, wish: ArrayLike) -> Array: ...
    def spherical(self, psi1: float, psi2: float, rho: float) -> Array: ...
    def to_spherical(self, P: ArrayLike) -> Spherical: ...
    def ellipsoid(self, Ec: float) -> Optional[Ellipsoid]: ...
    def routh_path(self) -> Optional[Array]: ...

class Dofs(NamedTuple):
    q: int
    nq: int
    v: int
    nv: int

class Shape(NamedTuple):
    kind: str
    body: int
    material: int
    size: Tuple[float, float, float]
    offset: float
    pos: Tuple[float, float, float]
    quat: Tuple[float, float, float, float]

class Joint(NamedTuple):
    name: str
    body: int
    q: int
    nq: int
    dof: int
    nv: int

class Actuator(NamedTuple):
    name: str
    ctrl_lower: float
    ctrl_upper: float
    force_lower: float
    force_upper: float
    act: int

class Sensor(NamedTuple):
    name: str
    type: str
    first: int
    count: int

class Controls:
    names: list[str]
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Array: ...

class Readings:
    names: list[str]
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Any: ...
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Array: ...

class Model:
    nb: int
    joints: list[Joint]
    actuators: list[Actuator]
    sites: list[Tuple[str, int]]
    sensors: list[Sensor]
    def joint(self, name: str) -> Joint: ...
    nq: int
    nv: int
    mass: Array
    com: Array
    q0: Array
    gravity: Array
    names: list[str]
    @property
    def shapes(self) -> list[Shape]: ...
    def __init__(self) -> None: ...
    def material(self, name: Optional[str] = ..., *, density: float = ..., mu: Coefficient = ..., e: Restitution = ...,
                 et: Coefficient = ..., mu2: float = ..., axis: ArrayLike = ..., polygon: Optional[ArrayLike] = ...,
                 mu_spin: float = ..., mu_roll: float = ..., viscous: float = ..., mu_stribeck: float = ...,
                 speed_stribeck: float = ...) -> int: ...
    def pair(self, a: int, b: int, *, mu: Coefficient = ..., e: Restitution = ..., et: Coefficient = ...,
             mu2: float = ..., axis: ArrayLike = ..., polygon: Optional[ArrayLike] = ..., mu_spin: float = ..., mu_roll: float = ...,
             viscous: float = ..., mu_stribeck: float = ..., speed_stribeck: float = ...,
             law: Union[str, Law, None] = ...) -> None: ...
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
    def dofs(self, body: Union[int, str]) -> Dofs: ...

class Certificate(_records.Certificate):
    @property
    def clean(self) -> bool: ...

class Energy(NamedTuple):
    kinetic: float
    potential: float
    @property
    def total(self) -> float: ...

class Momentum(NamedTuple):
    linear: Array
    angular: Array

class WorldContact(NamedTuple):
    body_a: int
    body_b: int
    shape_a: int
    shape_b: int
    gap: float
    mu: float
    point: Array
    normal: Array
    impulse: Array

class Picture:
    @property
    def svg(self) -> str: ...
    def save(self, path: Union[str, PathLike[str]]) -> None: ...
    def open(self) -> None: ...
    def _repr_html_(self) -> str: ...

class Animation(Picture): ...

class Report(Picture):
    @property
    def html(self) -> str: ...

class DeviceArray:
    def __dlpack__(self, **_: Any) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    @property
    def __cuda_array_interface__(self) -> Any: ...

class Batch:
    model: Model
    device: str
    time: Any
    q: Any
    v: Any
    force: Any
    motor_speed: Any
    ctrl: Any
    def __init__(self, model: Union[Model, Scene], count: int, *, device: str = ..., threads: Optional[int] = ...,
                 program: Optional[str] = ..., room: int = ..., **settings: Any) -> None: ...
    def write(self, name: str, rows: ArrayLike, where: Optional[ArrayLike] = ...) -> None: ...
    def __len__(self) -> int: ...
    def step(self, steps: int = ..., h: Optional[float] = ...) -> None: ...
    def vary(self, what: str, index: int, values: ArrayLike) -> None: ...
    def put(self, index: int, world: World) -> None: ...
    def take(self, index: int, world: Optional[World] = ...) -> World: ...
    def hash(self, index: Optional[int] = ...) -> int: ...
    def summary(self) -> Certificate: ...
    @property
    def failed(self) -> int: ...
    @property
    def handed(self) -> int: ...
    @property
    def status(self) -> List[str]: ...
    def on_device(self, name: str) -> DeviceArray: ...

class World:
    ctrl: Any
    act: Any
    sensors: Readings
    def reset(self, key: Optional[str] = ...) -> None: ...
    def set_state(self, q: Optional[ArrayLike] = ..., v: Optional[ArrayLike] = ..., ctrl: Optional[ArrayLike] = ...,
                  time: float = ...) -> None: ...
    def mass_matrix(self) -> Array: ...
    def bias_force(self) -> Array: ...
    def acceleration(self) -> Array: ...
    def inverse_dynamics(self, acceleration: ArrayLike) -> Array: ...
    def jacobian(self, body: Union[int, str], point: ArrayLike) -> Tuple[Array, Array]: ...
    q: Array
    v: Array
    force: Array
    motor_speed: Array
    time: float
    poses: Array
    events: NDArray[np.void]
    @property
    def contacts(self) -> list[WorldContact]: ...
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
                 toi: str = ..., error: float = ...,
                 force: Optional[Callable[[float, Array, Array], ArrayLike]] = ...) -> None: ...
    def step(self, count: int = ...) -> None: ...
    def run(self, time: float) -> Certificate: ...
    def record(self, time: float, every: int = ...) -> Trajectory: ...
    def momentum(self, about: ArrayLike = ...) -> Momentum: ...
    def show(self, what: str = ..., *, bodies: Union[str, Iterable[str]] = ...) -> Picture: ...
    def _repr_html_(self) -> str: ...
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
    @property
    def model(self) -> Optional[Model]: ...
    @staticmethod
    def read(path: Union[str, PathLike[str]], scene: Union[Scene, Model, None] = ...) -> Trajectory: ...
    def write(self, path: Union[str, PathLike[str]]) -> None: ...
    def of(self, body: str) -> Array: ...
    def velocity(self, body: str) -> Array: ...
    def show(self, what: str = ..., *, bodies: Union[str, Iterable[str]] = ..., times: Optional[ArrayLike] = ...,
             at: Optional[float] = ..., title: str = ...) -> Picture: ...
    def animate(self, speed: float = ..., *, bodies: Union[str, Iterable[str]] = ..., title: str = ...) -> Animation: ...
    def report(self, title: str = ...) -> Report: ...
    def _repr_html_(self) -> str: ...
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
    def show(self, what: str = ..., *, bodies: Union[str, Iterable[str]] = ...) -> Picture: ...
    def _repr_html_(self) -> str: ...

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

class Audit(_records.Audit): ...

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
    margins: _records.RuleMargins
    audit: Audit

class ImpactChange:
    p_minus: Array
    p_plus: Array
    u_minus: Array
    u_plus: Array
    verdict: str
    switch: str
    distance: float
    jump: float
    differenced: bool

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
    def derivative(self, rule: RuleLike = ..., *, u_free: Optional[ArrayLike] = ..., W: Optional[ArrayLike] = ...,
                   mu: Optional[ArrayLike] = ..., e: Optional[ArrayLike] = ..., et: Optional[ArrayLike] = ...,
                   law: Optional[LawLike] = ..., near: float = ...) -> ImpactChange: ...
    def audit(self, p: ArrayLike) -> Audit: ...

class RuleInfo(_records.RuleInfo): ...

def rules() -> list[RuleInfo]: ...
def solvers() -> list[str]: ...
