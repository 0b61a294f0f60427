"""What a notebook shows of a trajectory, as files: a cradle that plays, and the same at six times."""
import carom
from pictures import FOLDER

FOLDER.mkdir(parents=True, exist_ok=True)
trajectory = carom.load("newtons-cradle-5").run()
trajectory.animate().save(FOLDER / "cradle.svg")
trajectory.show(times=[0.0, 0.15, 0.3, 0.45, 0.6, 0.75]).save(FOLDER / "cradle-strobe.svg")
