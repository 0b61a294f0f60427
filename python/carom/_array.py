"""Arrays: NumPy's where it is installed; else memoryviews of the library's memory, and lists of what is new."""
import struct

from carom import _carom
from carom._records import Event

try:
    import numpy
except ImportError:
    numpy = None

_KINDS = {"d": "d", "i": "i", "v": "3d"}  # of a field of an event, as the struct module writes it


def _event_type():
    """The layout of an event as a type of NumPy's."""
    formats = {"d": "f8", "i": "i4", "v": "3f8"}
    names, kinds, offsets = zip(*_carom._event_fields)
    return numpy.dtype({"names": names, "formats": [formats[kind] for kind in kinds], "offsets": offsets,
                        "itemsize": _carom._event_size})


def _events(memory):
    """Events as objects, without NumPy."""
    data, size = memoryview(memory), _carom._event_size

    def field(start, kind, offset):
        found = struct.unpack_from(_KINDS[kind], data, start + offset)
        return found if kind == "v" else found[0]
    return [Event(*(field(start, kind, offset) for _, kind, offset in _carom._event_fields))
            for start in range(0, len(data), size)]


if numpy is not None:
    _EVENT = _event_type()
    view = fresh = numpy.asarray

    def events(memory):
        """Events as an array with named fields."""
        return numpy.ndarray(memoryview(memory).nbytes // _carom._event_size, _EVENT, memory)

    def array(values):
        """A new array of floats."""
        return numpy.array(values, dtype=float)

    def column(rows, *which):
        """rows[:, which], or rows[..., from:to] with two numbers."""
        return rows[..., which[0]] if len(which) == 1 else rows[..., which[0]:which[1]]
else:
    view, events = memoryview, _events

    def fresh(memory):
        """New memory as a list, nested by its dimensions."""
        return memoryview(memory).tolist()

    def array(values):
        """Numbers as a list, nested as they are."""
        return [array(value) if hasattr(value, "__len__") else float(value) for value in values]

    def column(rows, *which):
        """The item `which` of every innermost list, or those from one to another with two numbers."""
        if rows and hasattr(rows[0], "__len__"):
            return [column(row, *which) for row in rows]
        return rows[which[0]] if len(which) == 1 else rows[which[0]:which[1]]


def need(what):
    """NumPy, or an ImportError that says who needs it."""
    if numpy is None:
        raise ImportError(f"{what} needs NumPy, which is not installed (pip install numpy)", name="numpy")
    return numpy
