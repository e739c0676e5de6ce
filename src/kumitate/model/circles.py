"""Cycles in a mapping in which each name follows at most one other."""

from __future__ import annotations

from collections.abc import Mapping


def first_circle(follows: Mapping[str, str]) -> list[str]:
    """The members of a cycle in order, or an empty list; `follows` maps each name to the one that it follows.

    The cycle starts with the first of its members in the mapping. Each name is visited once.

    >>> first_circle({"a": "b", "b": "c", "c": "b"}), first_circle({"a": "b", "b": "c"})
    (['b', 'c'], [])
    """
    done: set[str] = set()
    for start in follows:
        way: dict[str, int] = {}
        name = start
        while name in follows and name not in done and name not in way:
            way[name] = len(way)
            name = follows[name]
        if name in way:
            circle = set(list(way)[way[name] :])
            members = [next(member for member in follows if member in circle)]
            while (after := follows[members[-1]]) != members[0]:
                members.append(after)
            return members
        done.update(way)
    return []
