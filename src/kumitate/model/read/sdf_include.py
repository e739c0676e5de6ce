"""<include> of SDF: the model of another file takes the element's place, with the name, pose and flags given there."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from ...errors import ModelError
from .meshes import MeshFinder
from .notes import Notes
from .sdf_values import read_text
from .xml import Element, read_xml

#: The largest depth of files that include one another.
_DEEPEST = 20
#: What an <include> may say of the model in its own words.
_SAID = ("pose", "static", "placement_frame")


def expand_includes(sdf: Element, path: Path | None, notes: Notes) -> None:
    """Puts included models in the places of all <include> elements of the worlds and models of a file.

    Files are sought as meshes are: `model://name` in the folders of GZ_SIM_RESOURCE_PATH and above the file, others beside it.
    Those that are not at hand are left out with a remark.

    Raises:
        ModelError: if files include one another without end, or an included file breaks a rule.
    """
    waiting = [(sdf, path, 0)]
    while waiting:
        owner, here, depth = waiting.pop()
        if depth > _DEEPEST:
            raise owner.error(f"files include one another more than {_DEEPEST} deep; take the <include> out of one of them")
        for at, part in enumerate(owner.children):
            if part.tag == "include":
                found = _included(part, here, notes)
                if found is not None:
                    owner.children[at] = found[0]
                    waiting.append((*found, depth + 1))
            elif part.tag in ("world", "model"):
                waiting.append((part, here, depth))


def _included(include: Element, path: Path | None, notes: Notes) -> tuple[Element, Path] | None:
    """The model that an <include> names, and its file; None if it is not at hand."""
    uri = read_text(include, "uri")
    if uri is None:
        raise include.error("<include> has no <uri>; write that of a model's file or folder")
    if (include.get("merge") or "false").lower() in ("true", "1"):
        notes.leave(include, '<include merge="true">: not read; put the elements of that model in its place', uri)
        return None
    file = _file(uri, path)
    if file is None:
        notes.leave(
            include, "<include> of files that are not at hand (set GZ_SIM_RESOURCE_PATH to their folder), left out", uri
        )
        return None
    sdf, place = read_xml(file, "sdf")
    models = sdf.all("model")
    if len(models) != 1:
        raise include.error(f"<include> of {file}, which has {len(models)} models; files that are included have one")
    (model,) = models
    if (name := read_text(include, "name")) is not None:
        model.attributes["name"] = name
    for tag in _SAID:
        if (said := include.child(tag)) is not None:
            model.children = [part for part in model.children if part.tag != tag]
            if tag == "placement_frame":
                model.attributes[tag] = said.text.strip()
            else:
                model.children.insert(0, said)
    for part in include.children:
        if part.tag not in (*_SAID, "uri", "name"):
            notes.leave(part, f"<{part.tag}> of <include>: not used", uri)
    assert place is not None
    return model, place


def _file(uri: str, path: Path | None) -> Path | None:
    """The file of a URI: itself, or the one in its folder."""
    scheme, _, rest = uri.partition("://")
    finder = MeshFinder(path)
    places: list[Path] = []
    if not rest or scheme.lower() == "file":
        plain = Path(unquote(rest or uri))
        places = [plain if plain.is_absolute() or path is None else path.absolute().parent / plain]
    elif scheme.lower() in ("model", "package"):
        package, _, inner = unquote(rest).partition("/")
        places = [folder / inner for folder in finder.folders(package)]
    for place in places:
        if place.is_file():
            return place
        if place.is_dir() and (found := _in_folder(place)) is not None:
            return found
    return None


def _in_folder(folder: Path) -> Path | None:
    """The file of a model's folder: the last that its model.config names, or model.sdf."""
    config, usual = folder / "model.config", folder / "model.sdf"
    if config.is_file():
        root, _ = read_xml(config, "model")
        named = [(_version(part), part.text.strip()) for part in root.all("sdf")]
        files = [folder / name for _, name in sorted(named, reverse=True) if (folder / name).is_file()]
        if files:
            return files[0]
    return usual if usual.is_file() else None


def _version(part: Element) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in (part.get("version") or "0").split("."))
    except ValueError:
        raise ModelError(f"{part.where}: <sdf> has the version {part.get('version')!r}, which is not one") from None
