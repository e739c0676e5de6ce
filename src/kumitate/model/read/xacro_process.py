"""The process in which a xacro file is expanded: expressions of the file are evaluated in it, and it can be stopped.

It runs as a script, `python -P xacro_process.py`, without the rest of kumitate. The request is one object of JSON on standard
input, the answer one on standard output: {"text": ...} or {"error": ...}.
"""

import json
import sys
from contextlib import suppress
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, str]:
    """The expanded text of a file, or why there is none."""
    sys.path[:] = request["path"]
    with suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 1))
        allowed = resource.getrlimit(resource.RLIMIT_AS)[1]  # a limit can be made lower only
        size = request["bytes"] if allowed == resource.RLIM_INFINITY else min(request["bytes"], allowed)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    try:
        import xacrodoc

        if request["packages"]:
            xacrodoc.packages.update_package_cache(request["packages"])
        document = xacrodoc.XacroDoc.from_file(request["file"], subargs=request["arguments"], resolve_packages=False)
        return {"text": document.to_urdf_string()}
    except Exception as error:  # of any kind: the file's own expressions are evaluated
        return {"error": " ".join(str(error).split()) or type(error).__name__}


if __name__ == "__main__":
    out, sys.stdout = sys.stdout, sys.stderr  # what xacro prints is not the answer
    json.dump(answer(json.load(sys.stdin)), out)
