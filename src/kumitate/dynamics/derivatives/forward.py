"""Derivatives of forward dynamics: ∂v̇/∂q, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹, from those of inverse dynamics.

Inverse dynamics at the accelerations of forward dynamics gives τ again, so that M ∂v̇/∂x = −∂τ/∂x for x = q, v (Carpentier and
Mansard, RSS 2018): forward dynamics itself is not differentiated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...errors import InputError
from ...model import Tree
from ...scalar import Scalar, Scalars
from ..acting import Acting, Wrenches
from ..crba import crba
from ..passive import passive_curve, resisting_inertia
from ..rnea import rnea
from .factors import inverse_factors
from .inverse import rnea_derivatives
from .slopes import Matrix


class ForwardSlopes(NamedTuple):
    """Forward dynamics and its derivatives.

    Attributes:
        a: the accelerations v̇ (nv).
        by_q: ∂v̇/∂q (nv, nv), along the degrees of freedom.
        by_v: ∂v̇/∂v (nv, nv).
        by_tau: ∂v̇/∂τ, the inverse of the inertia matrix (nv, nv).
    """

    a: list[Scalar]
    by_q: Matrix
    by_v: Matrix
    by_tau: Matrix


def aba_derivatives(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> ForwardSlopes:
    """Forward dynamics of a tree with its derivatives; arguments as for `aba`. Wrenches keep their directions in the world.

    In an implicit step `by_tau` is the inverse of the inertia matrix with what damping and springs add to it.

    Raises:
        InputError: if efforts in loops, drives that resist, prescribed joints or wrenches of another class act.
    """
    gravity, implicit_step = acting.gravity, acting.implicit_step
    wrenches = differentiable(replace(acting, implicit_step=0.0), "aba_derivatives")
    bias = rnea(tree, q, v, [0.0] * tree.nv, gravity=gravity, wrenches=wrenches)
    M, left = crba(tree, q), [t - h for t, h in zip(tau, bias, strict=True)]
    for link in tree.links:
        rates = link.velocities(v)
        resisting = resisting_inertia(link, rates, implicit_step)
        for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
            M[i][i] = M[i][i] + (resisting[k] - link.armature[k])
            left[i] = left[i] - implicit_step * link.stiffness[k] * rates[k]
    factors = inverse_factors(M)
    a = factors.solve(left)
    slopes = rnea_derivatives(tree, q, v, a, gravity=gravity, wrenches=wrenches)
    for link in tree.links:  # of h k v + h (∂f/∂v + h k) v̇, which an implicit step adds
        curves = passive_curve(link, link.velocities(v))
        for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
            slopes.by_v[i][i] = slopes.by_v[i][i] + implicit_step * (link.stiffness[k] + curves[k] * a[i])
    both = factors.solve_columns([[-entry for entry in (*q, *v)] for q, v in zip(slopes.by_q, slopes.by_v, strict=True)])
    by_q, by_v = ([row[start : start + tree.nv] for row in both] for start in (0, tree.nv))
    return ForwardSlopes(a, by_q, by_v, factors.dense())


def differentiable(acting: Acting, purpose: str) -> Wrenches | None:
    """The wrenches that act, if gravity and wrenches at places are all that acts.

    Raises:
        InputError: for anything else, of which there are no derivatives here.
    """
    acting.at_an_instant(purpose)
    if acting.loop_tau or not isinstance(acting.wrenches, Wrenches | None):
        what = "efforts in loops" if acting.loop_tau else f"wrenches of the class {type(acting.wrenches).__name__}"
        raise InputError(f"{purpose}: {what} act, of which there are no derivatives here; leave them out, or give Wrenches")
    return acting.wrenches
