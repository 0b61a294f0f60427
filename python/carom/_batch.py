"""Many worlds of one model, stepped together: on threads, or on a GPU."""
import os
from pathlib import Path

from carom import _carom
from carom._scene import Scene
from carom._world import Certificate, World

_ARRAYS = ("time", "q", "v", "force", "motor_speed", "ctrl")


def _array(name):
    which = _ARRAYS.index(name)

    def read(self):
        return _carom._batch_read(self._batch, which)

    def write(self, rows):
        _carom._batch_write(self._batch, which, rows, None)
    return property(read, write, doc=f"{name} of every world: a new array with one row each; assign to write it.")


def _program(path):
    """The text of the device program: of the path given, of $CAROM_PTX, or of the file beside the package."""
    path = Path(path or os.environ.get("CAROM_PTX") or Path(__file__).parent / "carom.ptx")
    return path.read_bytes() + b"\0" if path.exists() else None


class DeviceArray:
    """Numbers of all worlds where they lie on a GPU, for CuPy, PyTorch, JAX and others that know DLPack or
    __cuda_array_interface__. It is good until the next call of step, put, vary or an assignment."""

    def __init__(self, batch, which):
        self._batch, self._which = batch, which  # the batch owns the memory
        self._view = _carom._batch_view(batch, which)

    def __dlpack__(self, **_):
        """The tensor; calls of a batch have ended when they return, so there is no stream to wait for."""
        return _carom._batch_dlpack(self._batch, self._which)

    def __dlpack_device__(self):
        """(2, 0): the first CUDA device; (1, 0): the host."""
        return (2 if self._view[5] else 1, 0)

    @property
    def __cuda_array_interface__(self):
        """Address, shape and strides."""
        address, rows, width, next_world, next_number, _ = self._view
        return {"shape": (rows, width), "typestr": "<f8", "data": (address, False),
                "strides": (next_world, next_number), "version": 3}


class Batch:
    """`count` worlds of one model, or of one scene with its start and settings. Every world has the bits that it would have alone,
    whatever the device and the threads.

    device: "serial", "threads" (threads of them; all cores unless told) or "gpu". program: path of the device program of gpu
    (carom.ptx, which ./dev gpu makes). Other keywords are those of `World`.

    >>> import carom
    >>> model = carom.Model()
    >>> floor = model.halfspace(0)
    >>> die = model.box(model.body("die", pos=(0, 0, 0.5)), (0.01, 0.01, 0.01))
    >>> batch = carom.Batch(model, 3, threads=2, quality="fast")
    >>> batch.step(10)
    >>> batch.q.shape, batch.summary().steps, batch.failed
    ((3, 7), 30, 0)
    """

    def __init__(self, model, count, *, device="threads", threads=None, program=None, room=0, **settings):
        if isinstance(model, Scene):
            if settings:
                raise TypeError("a scene has its own settings; set them where it is loaded")
            self._world = model.world()
        else:
            self._world = World(model, **settings)
        self.model = self._world.model
        self.device = device
        self._dt = self._world.settings["dt"]
        threads = threads or os.cpu_count() or 1
        text = _program(program) if device == "gpu" else None
        self._batch = _carom._batch_new(self._world, count, device, threads, text, room)
        self._count = count

    time, q, v, force, motor_speed, ctrl = (_array(name) for name in _ARRAYS)

    def write(self, name, rows, where=None):
        """The array `name` of every world, or of those that `where` (one bool each) says; rows of the others are not read."""
        _carom._batch_write(self._batch, _ARRAYS.index(name), rows, where)

    def __len__(self):
        return self._count

    def step(self, steps=1, h=None):
        """Steps of length h (dt unless told) of every world. A world that fails stays where it was, see `status`."""
        _carom._batch_step(self._batch, self._dt if h is None else h, steps)

    def vary(self, what, index, values):
        """A number of the model that differs from world to world: "mass" of a body, "mu" or "e" of a material, "size" (a factor)
        of a shape."""
        _carom._batch_vary(self._batch, what, index, values)

    def put(self, index, world):
        """World `index` becomes what `world` is."""
        _carom._batch_move(self._batch, index, world, True)

    def take(self, index, world=None):
        """A world with the state of world `index`: the one given, or a new one. It has the model's own numbers, not the varied
        ones."""
        if world is None:
            world = World(self.model, **{k: v for k, v in self._world.settings.items() if v is not None})
        _carom._batch_move(self._batch, index, world, False)
        return world

    def hash(self, index=None):
        """Of one world, as `World.hash`; of all worlds."""
        return _carom._batch_hash(self._batch, -1 if index is None else index)

    def summary(self):
        """Certificate over all worlds and steps of the last call of step."""
        return Certificate(**_carom._batch_summary(self._batch)[0])

    @property
    def failed(self):
        """How many worlds failed in the last call of step."""
        return _carom._batch_summary(self._batch)[1]

    @property
    def handed(self):
        """How many steps of the last call a GPU handed to the host for want of room."""
        return _carom._batch_summary(self._batch)[3]

    @property
    def status(self):
        """How the last call of step ended in each world: "ok", "not-finite" ..."""
        return _carom._batch_summary(self._batch)[4]

    def on_device(self, name):
        """The array `name` as it lies on the GPU."""
        if self.device != "gpu":
            raise ValueError(f"device: is {self.device!r}; arrays of a GPU are those of device=\"gpu\"")
        return DeviceArray(self._batch, _ARRAYS.index(name))
