"""The folder of a sweep: what it is of, and a Parquet file for each block that is done, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.read.content import file_bytes
from ..model.read.json import from_json, to_json
from ..scenario import Scenario, read_scenario
from ..scenario.scenario import functions_of
from ..simulate.results.whole_file import replacing
from .block_run import Answer, version
from .plan import Block

__all__ = ["MANIFEST", "SweepFolder", "is_sweep", "opened_scenario"]

MANIFEST, PARTS, RUNS = "sweep.json", "parts", "runs"
FORMAT, VERSION = "kumitate-sweep", 1
#: The manifest may be as large as a mechanism's own file, and a scenario.
LARGEST = 80 * 2**20


def is_sweep(path: str | Path) -> bool:
    """Whether a path is the folder of a sweep."""
    return (Path(path) / MANIFEST).is_file()


@dataclass(frozen=True)
class SweepFolder:
    """A sweep's folder.

    Attributes:
        path: of the folder.
        digest: of the scenario, the mechanism and kumitate's version; parts of another sweep are not taken.
        units: of the columns of the table, by name, in their order.
    """

    path: Path
    digest: str
    units: Mapping[str, str]

    @classmethod
    def begin(cls, path: Path, scenario: Scenario, units: Mapping[str, str]) -> SweepFolder:
        """The folder for a sweep: a new one, or that of the same sweep, to go on with.

        Raises:
            InputError: if it holds another sweep, or other files.
        """
        content = _content(scenario)
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        others = path.is_dir() and any(not other.name.startswith(".") for other in path.iterdir())
        if is_sweep(path):  # looked for after the others, for another shard may begin now, and writes this one first
            found = _manifest(path)
            if found.get("digest") != digest:
                raise InputError(
                    f"{path}: holds another sweep (the scenario, the robot, a controller's file or the version of kumitate is "
                    "not the same); give another folder by --out, or delete this one"
                )
        elif others:
            raise InputError(f"{path}: is not the folder of a sweep, and not empty; give another folder by --out")
        path.mkdir(parents=True, exist_ok=True)
        # first, and hidden until it is whole: another shard that begins now sees an empty folder, or this sweep's
        with replacing(path / MANIFEST) as temporary:
            temporary.write_text(json.dumps({**content, "digest": digest}, indent=1), encoding="utf-8")
        (path / PARTS).mkdir(exist_ok=True)
        return cls(path, digest, units)

    @classmethod
    def of(cls, path: Path, units: Mapping[str, str]) -> SweepFolder:
        """The folder of a sweep as it is, for reading."""
        return cls(path, str(_manifest(path).get("digest")), units)

    def part(self, block: Block) -> Path:
        """The file of a block."""
        return self.path / PARTS / f"block-{block.number:06d}.parquet"

    def done(self, block: Block) -> bool:
        """Whether a block is done: its file is there, whole, and of this sweep."""
        parquet, path = _arrow("pyarrow.parquet"), self.part(block)
        if not path.exists():
            return False
        try:
            found = parquet.read_metadata(path)
        except (OSError, ValueError):  # damaged: it is computed again
            return False
        return found.num_rows == len(block.runs) and (found.metadata or {}).get(b"kumitate-sweep") == self.digest.encode()

    def write(self, block: Block, parameters: Mapping[str, Sequence[Any]], seed: int | None, answer: Answer) -> None:
        """Writes the files of the motions that are kept, and then the block's part: with it, all of the block is done."""
        recorded: list[str | None] = [None] * len(block.runs)
        for place, files in answer.files.items():
            folder = Path(RUNS) / f"{block.runs[place]:06d}"
            (self.path / folder).mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                with replacing(self.path / folder / name) as temporary:
                    temporary.write_bytes(content)
            recorded[place] = folder.as_posix()
        columns: dict[str, Any] = {"run": np.array(block.runs), **{k: list(v) for k, v in parameters.items()}}
        columns |= {"seed": [seed] * len(block.runs), **answer.columns, "recorded": recorded}
        table = _table({name: columns[name] for name in self.units}, self.units, self.digest)
        with replacing(self.part(block)) as temporary:
            _arrow("pyarrow.parquet").write_table(table, temporary)

    def read(self, blocks: Collection[Block]) -> Any:
        """The table (pyarrow) of those of the blocks that are done, in the order of the runs."""
        arrow, parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
        tables = [parquet.read_table(self.part(block)) for block in blocks if self.done(block)]
        if not tables:
            return _table({name: [] for name in self.units}, self.units, self.digest)
        return arrow.concat_tables(tables).sort_by("run").combine_chunks()


def opened_scenario(path: Path, controller: str | None = None) -> Scenario:
    """The scenario that a sweep's folder is of, with the mechanism that is kept there.

    Args:
        controller: the functions of files that may be run, as of `kumitate.scenario_of`.

    Raises:
        InputError: if the folder is not a sweep's, or damaged.
    """
    found = _manifest(path)
    try:
        mechanism = from_json(found["mechanism"], str(path / MANIFEST))
        allowed = functions_of(controller)
        return read_scenario(found["scenario"], mechanism=mechanism, source=str(path), allowed=allowed)
    except (KeyError, TypeError) as error:
        raise InputError(f"{path / MANIFEST}: is damaged ({error}); take a copy of the file, or run the sweep again") from None


def _content(scenario: Scenario) -> dict[str, Any]:
    """What a sweep is made from."""
    return {
        "format": FORMAT, "version": VERSION, "kumitate": version(), "scenario": dict(scenario.plain),
        "mechanism": to_json(scenario.setup.mechanism),
    }  # fmt: skip


def _manifest(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(file_bytes(path / MANIFEST, LARGEST, error=InputError)[0])
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path / MANIFEST}: is damaged ({error}); take a copy of the file, or run the sweep again") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
        raise InputError(f"{path / MANIFEST}: is not of a sweep that this kumitate reads; give the folder of one")
    return found


_TEXTS, _WHOLE = ("status", "message", "recorded"), ("run", "seed")


def _table(columns: Mapping[str, Any], units: Mapping[str, str], digest: str) -> Any:
    arrow = _arrow("pyarrow")

    def typed(name: str, values: Any) -> Any:
        texts = name in _TEXTS or (len(values) > 0 and isinstance(values[0], str))
        return arrow.string() if texts else arrow.int64() if name in _WHOLE else arrow.float64()

    fields = [arrow.field(name, typed(name, columns[name]), metadata={"unit": unit}) for name, unit in units.items()]
    arrays = [arrow.array(columns[field.name], type=field.type) for field in fields]
    return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata={"kumitate-sweep": digest}))


def _arrow(module: str) -> Any:
    """A module of pyarrow.

    Raises:
        InputError: where it is not installed, with the extra that brings it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError("sweeps need pyarrow, which is not installed; pip install 'kumitate[sweep]' brings it") from error
