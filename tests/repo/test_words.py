"""Sentences are plain: words that a reader of English stumbles over, and what to write instead."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from .sources import ROOT, sources

_COUNTED = (
    r"one|values?|rows?|numbers?|once|times?|entr(?:y|ies)|arrays?|lines?|files?",
    r"degree|step|state|row|joint|run|call|process|second|body|point|component|input|output|line|link|loop|room|kind|name",
)
_COMPARED = "longer|more|less|fewer|larger|smaller|bigger|better|worse|faster|slower|later|earlier|greater|higher|lower"

#: What to look for, and what to write instead.
WORDS = {
    r"\bmass[ -]cent(?:re|er)": "center of mass",
    r"\bcentre": "center",
    r"(?<!degrees of )(?<!degree of )\bfreedoms?\b(?! dynamics)": "degree of freedom",
    rf"(?<!there )\b(?:is|are) no\b(?! (?:{_COMPARED})\b)": "is not a, has no",
    r"(?<!there )\b(?:is|are) none\b": "is not one, there is no",
    r"\banew\b": "again",
    r"\bshall\b": "must, should, will",
    r"\ball that there (?:is|are)\b": "all",
    r"\bwhat there is of\b": "the",
    rf"\b(?:{_COUNTED[0]}) an? (?:{_COUNTED[1]})\b": "per",
    r"\b(?:told|tells|tell) (?:of|by|in)\b": "said, reported, found by",
    r"\bbesides\b": "in addition to, apart from",
}

#: Written down as they were, or printed by a command.
EXEMPT = {
    "docs/benchmarks.md", "docs/comparison.md", "docs/contact-table.md", "docs/formats.md", "docs/parallel-ada.md",
    "docs/partitions.md", "docs/robot-files.md", "docs/rows.md", "docs/validation.md", "docs/work-precision.md",
}  # fmt: skip
PAGES = sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("studies/**/*.md")})
SCRIPTS = sorted(ROOT.glob("examples/*.py"))


def _title(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _judged(path: Path) -> bool:
    return _title(path) not in EXEMPT


def test_sentences_are_plain():
    stumbles = [
        f"{_title(path)}:{line}: {words!r}; write {instead!r}"
        for path in (*PAGES, *SCRIPTS, *sources())
        if _judged(path)
        for line, words, instead in found(path)
    ]
    assert not stumbles, "\n".join(stumbles)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("the mass\n    center", ["mass center"]),
        ("two freedoms, three degrees of\nfreedom", ["freedoms"]),
        ("x is no number; there is no other; y is no longer one", ["is no"]),
        ("one value a joint; `value a joint`; a name", ["value a joint"]),
    ],
)
def test_words_are_found_across_lines_and_not_in_code(sentence, words):
    assert [match for _, match, _ in _stumbles(_prose_of_text(sentence))] == words


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, the words that stand there, what to write instead) of a file's sentences."""
    text = path.read_text(encoding="utf-8")
    return _stumbles(_prose_of_code(text) if path.suffix == ".py" else _prose_of_page(text))


def _stumbles(prose: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    for line, raw in prose:
        text = re.sub(r"[^\S\n]*\n[^\S\n]*", "\n", raw)  # so that one character lies between two words
        for pattern, instead in WORDS.items():
            for match in re.finditer(pattern.replace(" ", r"\s"), text, flags=re.IGNORECASE):
                yield line + text.count("\n", 0, match.start()), " ".join(match.group().split()), instead


def _prose_of_text(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    """Without examples and what stands in backquotes; a text of one word is a name."""
    if len(text.split()) > 1:
        text = re.sub(r"^ *(?:>>>|\.\.\.).*$", "", text, flags=re.MULTILINE)
        yield line, re.sub(r"`[^`]*`", lambda code: "\n" * code.group().count("\n") + "…", text)


def _prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page of Markdown: without code and the targets of links."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code.group().count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return _prose_of_text(re.sub(r"\]\([^)]*\)", "]", text))


def _prose_of_code(text: str) -> Iterator[tuple[int, str]]:
    """The strings and comments of a file of Python; a comment of several lines is one text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield from _prose_of_text("".join(_words(part) for part in node.values), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _prose_of_text(node.value, node.lineno)
    comments = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    blocks: list[list[tokenize.TokenInfo]] = []
    for before, comment in pairwise([None, *comments]):
        if before is not None and comment.start == (before.start[0] + 1, before.start[1]):
            blocks[-1].append(comment)
        else:
            blocks.append([comment])
    for block in blocks:
        yield from _prose_of_text("\n".join(comment.string.lstrip("#: ") for comment in block), block[0].start[0])


def _words(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "…"
