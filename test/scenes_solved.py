"""Every bundled scene in its default quality: every step is solved; a heap in motion in fast keeps its bounds instead."""
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["CAROM_SOURCE"])
BOUNDED = {"1000-ball-drop"}  # its quality is fast


def main():
    failed = 0
    scenes = sorted(path.stem for path in (SOURCE / "scenes").glob("*.json"))
    for name in scenes:
        run = subprocess.run([os.environ["CAROM_COMMAND"], "run", SOURCE / "scenes" / f"{name}.json", "--json"],
                             capture_output=True, text=True, check=False)
        summary = json.loads(run.stdout)
        found = summary["certificate"]
        counts = {key: found[key + "_steps"] for key in ("solved", "near", "bounded", "unsure", "unsolved")}
        expected = {"solved"} | ({"bounded"} if name in BOUNDED else set())
        good = (run.returncode == 0 and sum(counts.values()) == summary["steps"] > 0 and found["crossings"] == 0 and
                all(count == 0 for key, count in counts.items() if key not in expected))
        if "solved" in expected and len(expected) == 1:
            good = good and found["worst_residual"] <= found["tol"]
        if not good:
            print(f"{name}: {counts}, residual {found['worst_residual']}, status {run.returncode}")
            failed += 1
    print(f"{len(scenes)} scenes, {failed} not solved")
    return failed > 0 or not scenes


sys.exit(main())
