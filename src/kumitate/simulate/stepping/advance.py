"""The contract of what advances the states of a simulation: one robot's compiled step, or the steps of many bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import InputError
from ...model import Mechanism
from ...scalar import Array
from ..integrators import Integrator
from .actuation import Actuation, How

if TYPE_CHECKING:
    from ..results.contact_record import Touched
    from .stepper import Stepper


class RowsInPlace(Protocol):
    """Rows of states in arrays that `run` advances in place."""

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""

    def look(self, rows: np.ndarray) -> None:
        """Computes the outputs of some rows."""


class Advancing(Protocol):
    """What makes `RowsInPlace` of arrays, as `compile.Recurrence` does.

    Attributes:
        seen: the arrays that are recorded.
    """

    @property
    def seen(self) -> Sequence[Array]: ...

    def over(
        self, state: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray], seen: Mapping[str, np.ndarray], *, batch: bool
    ) -> RowsInPlace:
        """The rows (N, …) of a state, what is given to steps, and the room for records (N, records, …)."""


class Advance(ABC):
    """How a mechanism moves from step to step, with all that acts on it.

    `CompiledStep` has one robot's steps in straight-line code, `ManyBodies` those of scenes over lists of bodies.

    Attributes:
        mechanism, integrator: whose steps they are.
        follows: whether efforts at joints follow from the state, as those of drives do, and are not only those that are given.
        keeps_closed: whether projection alone keeps loops closed: nothing touches the mechanism, and no point of it is held.
        refusal: why steps have no derivatives and joints cannot follow prescribed motions, or "".
    """

    mechanism: Mechanism
    integrator: Integrator
    refusal: str = ""

    @property
    @abstractmethod
    def follows(self) -> bool: ...

    @property
    @abstractmethod
    def keeps_closed(self) -> bool: ...

    @abstractmethod
    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> Stepper:
        """One state (nq), (nv) in progress."""

    @abstractmethod
    def rows(self, actuation: Actuation, step: float) -> Advancing:
        """What advances rows of states side by side; rows of scenes keep impulses, so that each batch has its own."""

    @abstractmethod
    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        """Energies, center of mass and momentum of states (n, nq), (n, nv) with efforts and parameters u (n, size)."""

    @abstractmethod
    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (n, nq), (n, nv) with their loops closed, by the mechanism as it was made."""

    @abstractmethod
    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at many states: `held` (n, size) or (size), with the compiled functions' values."""

    @abstractmethod
    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The efforts (n, `freedoms`) at the joints at states: of a controller, of drives, and of prescribed motions."""

    @abstractmethod
    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """v̇ (n, nv) at states where no contact is computed."""

    @abstractmethod
    def touched(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact of steps h from states, with efforts u; None where nothing can touch, or only runs record it."""

    def check_rows(self, actuation: Actuation) -> None:
        """Refuses steps that cannot be made side by side.

        Raises:
            InputError: for an adaptive integrator, and for functions that must be called.
        """
        name = self.mechanism.name
        if self.integrator.adaptive:
            raise InputError(f"{name}: batched runs need a constant step; {self.integrator.name} has none, take 'auto'")
        lines = zip(actuation.lines(), actuation.functions, strict=True)
        called = next((line for line, how in lines if how is not How.COMPILED), None)
        if called is not None:
            raise InputError(
                f"{name}: batched runs need functions that can be compiled; {called}. Give `sample_time`, and the controller "
                "is called with the states of all runs at once"
            )
