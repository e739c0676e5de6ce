"""The folder of a sweep: what it is of, and a Parquet file for each block that is done, written whole or not at all.

A part has the SHA-256 of its other bytes just before the footer of Parquet, a place that readers pass over: a file that was
damaged is known as such, whatever changed in it, and the file remains one that any reader of Parquet takes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, needed
from ..model.files import file_bytes, replacing
from ..model.read.json import from_json, to_json
from ..scenario import Scenario, read_scenario
from ..scenario.scenario import functions_of
from ..version import __version__
from .blocks import Answer, Block, BlockTask

MANIFEST, PARTS, RUNS = "sweep.json", "parts", "runs"
#: Parts of folders of version 1 have no digest.
FORMAT, VERSION, UNSEALED = "kumitate-sweep", 2, 1
#: The manifest may be as large as a mechanism's own file, and a scenario; a part has 1024 rows at most.
LARGEST, LARGEST_PART = 80 * 2**20, 2**30
#: Bytes of a digest.
_SEAL = 32


def is_sweep(path: str | Path) -> bool:
    """Whether a path is the folder of a sweep."""
    return (Path(path) / MANIFEST).is_file()


@dataclass(frozen=True)
class SweepFolder:
    """A sweep's folder; `units`: of the columns of the table, by name, in their order.

    `digest`: of scenario, mechanism and kumitate's version, which parts have; `sealed`: whether they have those of their bytes.
    """

    path: Path
    digest: str
    units: Mapping[str, str]
    sealed: bool = True

    @classmethod
    def begin(cls, path: Path, scenario: Scenario, units: Mapping[str, str]) -> SweepFolder:
        """The folder for a sweep: a new one, or that of the same sweep, to go on with; refused if it holds anything else."""
        content = _content(scenario)
        digest = _digest(content)
        folder = cls(path, digest, units)
        others = path.is_dir() and any(not other.name.startswith(".") for other in path.iterdir())
        if is_sweep(path):  # looked for after the others, for another shard may begin now, and writes this one first
            if not folder._begun():
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
        return folder

    @classmethod
    def of(cls, path: Path, units: Mapping[str, str]) -> SweepFolder:
        """The folder of a sweep as it is, for reading."""
        found = _manifest(path)
        return cls(path, found["digest"], units, found["version"] != UNSEALED)

    def part(self, block: Block) -> Path:
        """The file of a block."""
        return self.path / PARTS / f"block-{block.number:06d}.parquet"

    def done(self, block: Block) -> bool:
        """Whether a block is done: its file is there, undamaged, and of this sweep."""
        try:
            return self._table(block) is not None
        except InputError:  # damaged: it is computed again
            return False

    def _begun(self) -> bool:
        """Whether the folder holds this sweep; where its manifest is damaged, by a part that is whole."""
        try:
            return bool(_manifest(self.path)["digest"] == self.digest)
        except InputError:
            contents = (path.read_bytes() for path in (self.path / PARTS).glob("[!.]*.parquet"))
            if any(_whole(content) and self.digest.encode() in content for content in contents):
                return True
            raise

    def _table(self, block: Block) -> Any:
        """The table (pyarrow) of a block; None if it is not done."""
        arrow, parquet, path = _arrow("pyarrow"), _arrow("pyarrow.parquet"), self.part(block)
        if not path.exists():
            return None
        content = file_bytes(path, LARGEST_PART, error=InputError)[0]
        if self.sealed and not _whole(content):
            raise self._damaged(block, "its bytes have another digest than when they were written")
        try:
            table = parquet.read_table(arrow.BufferReader(content))
            table.validate(full=True)
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise self._damaged(block, str(error)) from None
        if (table.schema.metadata or {}).get(FORMAT.encode()) != self.digest.encode():
            raise self._damaged(block, "it is of another sweep")
        if table.column_names != list(self.units) or table.column("run").to_pylist() != list(block.runs):
            raise self._damaged(block, "its columns or its runs are others")
        return table

    def _damaged(self, block: Block, why: str) -> InputError:
        runs = f"{len(block.runs)} runs from {block.runs[0]} on"
        return InputError(
            f"{self.part(block)}: is damaged ({why}); sweep into the folder again, which computes its {runs} once more, or "
            "take a copy of the file"
        )

    def write(self, task: BlockTask, seed: int | None, answer: Answer) -> None:
        """Writes the files of the motions that are kept, and then the block's part: with it, all of the block is done."""
        block = task.block
        recorded: list[str | None] = [None] * len(block.runs)
        for place, files in answer.files.items():
            folder = Path(RUNS) / f"{block.runs[place]:06d}"
            (self.path / folder).mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                with replacing(self.path / folder / name) as temporary:
                    temporary.write_bytes(content)
            recorded[place] = folder.as_posix()
        columns: dict[str, Any] = {one.name: [row[k] for row in task.values] for k, one in enumerate(task.parameters)}
        columns |= {"run": np.array(block.runs), "seed": [seed] * len(block.runs), **answer.columns, "recorded": recorded}
        table = _table({name: columns[name] for name in self.units}, self.units, self.digest)
        buffer = _arrow("pyarrow").BufferOutputStream()
        _arrow("pyarrow.parquet").write_table(table, buffer)
        with replacing(self.part(block)) as temporary:
            temporary.write_bytes(_sealed(buffer.getvalue().to_pybytes()))

    def read(self, blocks: Collection[Block]) -> Any:
        """The table (pyarrow) of those of the blocks that are done, in the order of the runs; damaged ones are refused."""
        done = {block: table for block in blocks if (table := self._table(block)) is not None}
        if not done:
            return _table({name: [] for name in self.units}, self.units, self.digest)
        schema = next(iter(done.values())).schema
        for block, table in done.items():
            if not table.schema.equals(schema):
                raise self._damaged(block, "its columns are of other types than those of other blocks")
        return _arrow("pyarrow").concat_tables(done.values()).sort_by("run").combine_chunks()


def opened_scenario(path: Path, controller: str | None = None) -> Scenario:
    """The scenario that a sweep's folder is of, with the mechanism that is kept there; `controller`: as of `scenario_of`."""
    found = _manifest(path)
    text, plain = found.get("mechanism"), found.get("scenario")
    if not isinstance(text, str) or not isinstance(plain, dict):
        raise _damaged_manifest(path, "its mechanism must be a text, and its scenario a dictionary")
    mechanism = from_json(text, str(path / MANIFEST))
    return read_scenario(plain, mechanism=mechanism, source=str(path), allowed=functions_of(controller))


def _content(scenario: Scenario) -> dict[str, Any]:
    """What a sweep is made from."""
    return {
        "format": FORMAT, "version": VERSION, "kumitate": __version__, "scenario": dict(scenario.plain),
        "mechanism": to_json(scenario.setup.mechanism),
    }  # fmt: skip


def _digest(content: Mapping[str, Any]) -> str:
    """The digest of what a sweep is made from, as it is read back from its manifest."""
    plain = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _manifest(path: Path) -> dict[str, Any]:
    """What a sweep is made from, as its folder says, and the digest of this."""
    try:
        found = json.loads(file_bytes(path / MANIFEST, LARGEST, error=InputError)[0])
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise _damaged_manifest(path, str(error)) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") not in (VERSION, UNSEALED):
        raise InputError(f"{path / MANIFEST}: is not of a sweep that this kumitate reads; give the folder of one")
    if found.get("digest") != _digest({key: value for key, value in found.items() if key != "digest"}):
        raise _damaged_manifest(path, "its entries have another digest than when they were written")
    return found


def _damaged_manifest(path: Path, why: str) -> InputError:
    return InputError(
        f"{path / MANIFEST}: is damaged ({why}); take a copy of the file, or start the same sweep into this folder again"
    )


def _sealed(content: bytes) -> bytes:
    """A Parquet file with the digest of its bytes before its footer."""
    at = _footer(content)
    return content[:at] + hashlib.sha256(content).digest() + content[at:]


def _whole(content: bytes) -> bool:
    """Whether the bytes of a file are those that were sealed."""
    at = _footer(content) - _SEAL
    if at < 0:
        return False
    return hashlib.sha256(content[:at] + content[at + _SEAL :]).digest() == content[at : at + _SEAL]


def _footer(content: bytes) -> int:
    """Where the footer of a Parquet file begins; its length stands in four of the last eight bytes."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


_TEXTS, _WHOLE = ("status", "message", "recorded"), ("run", "seed")


def _table(columns: Mapping[str, Any], units: Mapping[str, str], digest: str) -> Any:
    arrow = _arrow("pyarrow")

    def typed(name: str, values: Any) -> Any:
        texts = name in _TEXTS or (len(values) > 0 and isinstance(values[0], str))
        return arrow.string() if texts else arrow.int64() if name in _WHOLE else arrow.float64()

    fields = [arrow.field(name, typed(name, columns[name]), metadata={"unit": unit}) for name, unit in units.items()]
    arrays = [arrow.array(columns[field.name], type=field.type) for field in fields]
    return arrow.Table.from_arrays(arrays, schema=arrow.schema(fields, metadata={FORMAT: digest, "kumitate": __version__}))


def _arrow(module: str) -> Any:
    return needed(module, "sweeps need pyarrow", "sweep")
