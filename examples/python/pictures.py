"""Where the examples put their pictures: docs/pictures/python, or $CAROM_PICTURES."""
import os
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# the same bytes every time, text as text
plt.rcParams.update({"svg.hashsalt": "carom", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 10})
FOLDER = pathlib.Path(os.environ.get("CAROM_PICTURES",
                                     pathlib.Path(__file__).resolve().parents[2] / "docs/pictures/python"))


def save(figure, name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
