"""Every kind of parameter that is an input of the compiled step: an object of a class under `ModelKind`, by a line here."""

from ...model.values import FINITE, MASS, NOT_NEGATIVE
from .contract import ModelKind
from .gains import GainOfFunction
from .inertial import ENTRIES, Gravity, InertiaFactor, OfBodies
from .passive import Friction, JointArmatures, JointNumbers, OfJoints, Restitution

_CENTER = "a coordinate of a body's center of mass, as center_of_mass:BODY.x"
_MOMENT = "an entry of a body's rotational inertia about its center of mass, as moment:BODY.xx"
_FACTOR = "a factor on the rotational inertia of a body about its center of mass"
_FRICTION = "the dry friction of a joint; or, as friction:floor, the coefficient of friction of what touches"

#: In the order in which they are applied: a factor on an inertia acts on the entries that a moment has set. Other numbers of a
#: body stay where one is set, such as its rotational inertia about the center of mass; armatures are in addition to drives'.
MODEL_KINDS: tuple[ModelKind, ...] = (
    GainOfFunction(),
    OfBodies("mass", "the mass of a body; its rotational inertia stays", "mass", "kg", MASS),
    OfBodies("center_of_mass", _CENTER, "center", "m", FINITE, ("x", "y", "z")),
    OfBodies("moment", _MOMENT, "central", "kg·m²", FINITE, tuple(ENTRIES)),
    InertiaFactor("inertia", _FACTOR, "central", "1", NOT_NEGATIVE),
    OfJoints("damping", "the viscous friction of a joint", ("N·m·s/rad", "N·s/m"), JointNumbers("damping")),
    Friction("friction", _FRICTION, ("N·m", "N"), JointNumbers("friction")),
    OfJoints("armature", "the inertia of a drive as felt at its joint", ("kg·m²", "kg"), JointArmatures("armature"), MASS),
    OfJoints("stiffness", "the stiffness of a spring in a joint", ("N·m/rad", "N/m"), JointNumbers("stiffness"), springs=True),
    Gravity(),
    Restitution(),
)
