"""Damped Gauss-Newton steps on the end of a run, with the derivatives of carom.derivatives."""
import numpy as np


def end_and_slope(steps, q, v, unknowns, figures, count):
    """Figures of the last state, and their derivatives by some velocities of the first. figures: lists of (entry of q, weight) and
    (entry of v, weight), each a row of the answer."""
    end = steps.run(q, v, count=count)
    values, rows, verdicts = [], [], []
    for by_q, by_v in figures:
        weight_q, weight_v = np.zeros(len(end.q)), np.zeros(len(end.v))
        for entry, weight in by_q:
            weight_q[entry] = weight
        for entry, weight in by_v:
            weight_v[entry] = weight
        found = steps.adjoint(q, v, by_q=weight_q, by_v=weight_v, count=count)
        values.append(weight_q @ end.q + weight_v @ end.v)
        rows.append(found.v[unknowns])
        verdicts.append(found.verdict)
    return np.array(values), np.array(rows), verdicts


def shoot(steps, q, v, unknowns, figures, aims, count, rounds=30, tolerance=1e-9, longest=0.5):
    """Velocities v[unknowns] for which the figures are the aims. Steps are damped where they do not help, and at most `longest`."""
    v, damping, history = np.array(v, dtype=float), 1e-6, []
    value, slope, verdicts = end_and_slope(steps, q, v, unknowns, figures, count)
    for _ in range(rounds):
        off = value - aims
        history.append((v.copy(), float(np.abs(off).max()), verdicts))
        if history[-1][1] < tolerance:
            break
        step = -np.linalg.solve(slope.T @ slope + damping * np.eye(len(unknowns)), slope.T @ off)
        step *= min(1.0, longest / np.abs(step).max())
        tried = v.copy()
        tried[unknowns] += step
        there, slope_there, verdicts_there = end_and_slope(steps, q, tried, unknowns, figures, count)
        if np.linalg.norm(there - aims) < np.linalg.norm(off):
            v, value, slope, verdicts, damping = tried, there, slope_there, verdicts_there, 0.2 * damping
        else:
            damping = 10.0 * damping + 1e-6
            longest *= 0.5
    return v, history


def path(steps, q, v, count, entries):
    """Coordinates of every state of a run."""
    rows = [q[entries]]
    for _ in range(count):
        q, v = steps.run(q, v)
        rows.append(q[entries])
    return np.array(rows)
