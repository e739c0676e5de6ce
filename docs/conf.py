"""Settings of the documentation site, which `scripts/docs` builds with Sphinx."""

import gc
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_site"), str(HERE.parent)]  # the site's own directives, and the studies

import kumitate  # noqa: E402  (the one that is installed or on PYTHONPATH)

gc.set_threshold(100_000, 20, 10)  # pages are millions of nodes, which a ninth of the time would be spent to look through

project = "kumitate"
version = release = kumitate.__version__
author = "The kumitate authors"
copyright = "the kumitate authors, Apache-2.0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "cyclopts.sphinx_ext",
    "docstrings",
    "gallery",
    "mathml",
    "outside",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_site"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

default_role = "literal"  # docstrings write `code` in single backquotes, as Markdown does
autodoc_member_order = "bysource"
autoclass_content = "both"  # of a class and of how it is made
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring, napoleon_numpy_docstring = True, False
napoleon_use_ivar = True  # fields of dataclasses in one list
python_use_unqualified_type_names = True
python_display_short_literal_types = True

html_theme = "furo"
html_title = "kumitate"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
