"""A robot arm throws a ball into a bucket: servos, a search for the right swing, pictures (docs/tutorials/robot-arm.md)."""
import carom
from pictures import FOLDER


def swing(seconds):
    """Controls over time: 0.8 s to draw back, 0.2 s of rest, then forward within so many seconds."""
    ends = {"a2": (-0.7, 0.2), "a4": (-1.1, -0.3), "a6": (1.8, 1.0)}
    return {f"actuators__{name}__ctrl": {"table": [[0, 0], [0.8, back], [1, back], [1 + seconds, forward]]}
            for name, (back, forward) in ends.items()}


def landing(seconds, height=0.25):
    """Where the ball comes down through a height, m."""
    world = carom.load("arm-throw", **swing(seconds)).world()
    ball = world.model.joint("ball").q
    x, z = world.q[ball], world.q[ball + 2]
    while world.time < 3:
        world.step()
        before, (x, z) = (x, z), (world.q[ball], world.q[ball + 2])
        if world.time > 1.1 and z < height:
            return float(before[0] + (before[1] - height) / (before[1] - z) * (x - before[0]))
    raise RuntimeError("the ball does not come down")


def aim(distance):
    """The swing that throws that far: the shorter it is, the farther the ball flies."""
    fast, slow = 0.12, 0.3
    while slow - fast > 1e-4:
        middle = 0.5 * (fast + slow)
        fast, slow = (middle, slow) if landing(middle) > distance else (fast, middle)
    return 0.5 * (fast + slow)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    seconds = aim(3.0)
    print(f"{seconds:.4f} s, {landing(seconds):.3f} m")
    trajectory = carom.load("arm-throw", **swing(seconds)).run()
    trajectory.show("elevation", times=[0.0, 0.9, 1.1, 1.2, 1.3, 1.45, 1.6, 1.75, 1.9]).save(FOLDER / "throw.svg")
