"""Every kind of parameter that is an input of the compiled step: a kind is a class under `ModelKind`, and a line here."""

from .contract import ModelKind
from .gains import GainOfFunction
from .gravity import Gravity
from .inertial import CenterOfMass, InertiaFactor, Mass, Moment
from .passive import Armature, Damping, Stiffness
from .surfaces import Friction, Restitution

#: In the order in which they are applied: a factor on an inertia acts on the entries that a moment has set.
MODEL_KINDS: tuple[ModelKind, ...] = (
    GainOfFunction(), Mass(), CenterOfMass(), Moment(), InertiaFactor(), Damping(), Friction(), Armature(), Stiffness(),
    Gravity(), Restitution(),
)  # fmt: skip
