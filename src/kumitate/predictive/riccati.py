"""Riccati's recursion, from the end of a motion to its start: the change of actions and the feedback that lower its cost most.

Differential dynamic programming without the second derivatives of steps (Tassa, Mansard and Todorov 2014). Where actions have
bounds, each node's quadratic problem is solved within them, and the feedback leaves the actions at bounds alone.
"""

from functools import lru_cache
from math import sqrt
from typing import Any

from ..dynamics.factored import least_within
from ..procedure import Floats, Shaped, apply, local, procedure
from ..scalar import Program, both, either, select, trace


@lru_cache(maxsize=64)
def riccati(nx: int, m: int, bounded: bool) -> Any:
    """The recursion over states of nx and actions of m numbers, which may have bounds, compiled."""
    nw, box = nx + m, _box(m)

    def backward(
        A: Floats[nx, nx], B: Floats[nx, m], gradients: Floats[nw], curvatures: Floats[nw, nw], end: Shaped[nx],
        bent: Shaped[nx, nx], actions: Floats[m], low: Shaped[m], high: Shaped[m], damping: float, change: Floats[m],
        gains: Floats[m, nx],
    ) -> bool:  # fmt: skip
        """Fills `change` (n, m) and `gains` (n, m, nx); False if a curvature by actions is not positive.

        `A` and `B` are the derivatives of steps by state and action, `gradients` and `curvatures` those of the costs at nodes
        by both, `end` and `bent` those at the end; the curvature by actions is damped in proportion to its diagonal.
        """
        value, curved = local(nx), local(nx, nx)  # the gradient and the curvature of the cost to go
        value[:] = end
        curved[:] = bent
        W, T, Q, g = local(nx, nw), local(nx, nw), local(nw, nw), local(nw)
        L, K, down, k_u, free = local(m, m), local(m, nx + 1), local(m), local(m), local(m)
        for n in range(len(A) - 1, -1, -1):
            for i in range(nx):
                W[i, 0:nx] = A[n, i]
                W[i, nx:nw] = B[n, i]
            for i in range(nx):
                T[i] = curved[i, 0] * W[0]
                for j in range(1, nx):
                    T[i] += curved[i, j] * W[j]
            for i in range(nw):  # the cost of the node, and the cost to go through the step
                Q[i] = curvatures[n, i]
                for j in range(nx):
                    Q[i] += W[j, i] * T[j]
            g[:] = gradients[n]
            for j in range(nx):
                g += value[j] * W[j]
            for i in range(m):
                down[i] = -g[nx + i]
                K[i, 0:nx] = -Q[nx + i, 0:nx]
                K[i, nx] = down[i]
                L[i] = Q[nx + i, nx:nw]
                L[i, i] += damping * L[i, i]
            if bounded:  # actions at a bound stay there
                apply(box, L, down, actions[n], low, high, k_u, free)
                for i in range(m):
                    if free[i] == 0.0:
                        K[i] = 0.0
                        for j in range(m):
                            L[i, j] = 0.0
                            L[j, i] = 0.0
                        L[i, i] = 1.0
            for i in range(m):  # L Lᵀ, and both substitutions
                for j in range(i + 1):
                    total = L[i, j]
                    for k in range(j):
                        total -= L[i, k] * L[j, k]
                    if i > j:
                        L[i, j] = total / L[j, j]
                    elif total > 0.0:
                        L[i, i] = sqrt(total)
                    else:
                        return False
                for k in range(i):
                    K[i] -= L[i, k] * K[k]
                K[i] /= L[i, i]
            for i in range(m - 1, -1, -1):
                for k in range(i + 1, m):
                    K[i] -= L[k, i] * K[k]
                K[i] /= L[i, i]
                gains[n, i] = K[i, 0:nx]
                if not bounded:
                    k_u[i] = K[i, nx]
            change[n] = k_u
            # the cost to go: as (Quu + d) K = −Qux, its curvature is Qxx + (Qxu − Kᵀ d) K
            value[:] = g[0:nx]
            for i in range(nx):
                T[i, 0:nx] = Q[i, 0:nx]
            for k in range(m):
                left = g[nx + k] + Q[nx + k, nx:nw] @ k_u
                value += k_u[k] * Q[nx + k, 0:nx] + left * K[k, 0:nx]
                for i in range(nx):
                    T[i, 0:nx] += (Q[nx + k, i] - damping * Q[nx + k, nx + k] * K[k, i]) * K[k, 0:nx]
            for i in range(nx):
                for j in range(nx):
                    curved[i, j] = 0.5 * (T[i, j] + T[j, i])
        return True

    return procedure(backward)


@lru_cache(maxsize=64)
def _box(m: int) -> Program:
    """(H, c, u, low, high) → the x of least ½ xᵀ H x − cᵀ x with u + x within bounds; 0 for each that a bound holds, else 1."""

    def box(H: Any, c: Any, *limits: Any) -> dict[str, Any]:
        u, low, high = map(list, limits)
        low, high = ([end - own for end, own in zip(side, u, strict=True)] for side in (low, high))
        x, g = least_within([list(row) for row in H], list(c), low, high)
        ends = zip(x, g, low, high, strict=True)
        held = [either(both(a <= least, slope > 0.0), both(most <= a, slope < 0.0)) for a, slope, least, most in ends]
        return {"x": x, "free": [select(one, 0.0, 1.0) for one in held]}

    return trace(box, {"H": (m, m), "c": m, "u": m, "low": m, "high": m}, f"box_{m}")
