"""A call in, the definitions that it means out: by file, import and receiver, as far as the code shows them.

What is only defined outside of the repository is not found. Where nothing says what a receiver is, every method of
the name comes into question, and the answer says of how many it is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from assay.corpus.call_facts import CALLABLES
from assay.corpus.languages import words
from assay.search.module_paths import ModulePaths
from assay.search.name_lookup import (
    NameContext,
    NameLookup,
    Thing,
    address,
    last_name,
    nearest_to,
    unique,
    without_headers,
)
from assay.search.path_traits import traits_of
from assay.search.reference_table import PlacedCall, PlacedDefinition, ReferenceTable, table_of
from assay.store.snapshot import Snapshot
from assay.terms import parts

_FEW = 3
"""Methods of one name that a call on something unknown is said to come from."""


COMMON_METHODS = words("""
    add addAll all and any append apply as_bytes as_mut as_ref as_slice as_str at await bind bytes call catch
    ceil charAt chars clear clone close cloned collect compareTo concat contains containsKey copy count cp
    debug decode default delete deref dict drain each elem encode end endsWith endswith entries enumerate eq
    equals equalsIgnoreCase err error every exec execute exists exit expect expand extend fetch fill filter
    finally find findIndex first flat flatMap flatten flush fmt fold forEach format from fromkeys get getBytes
    getClass getKey getMessage getName getOrDefault getValue group groups has hasNext hashCode id includes
    index indexOf info insert intersection into into_iter is_empty is_none is_ok is_some isEmpty isalnum
    isalpha isdigit iter iter_mut items join key keys last lastIndexOf len length list ljust load lock log
    lower lstrip map map_err match matches max merge min name new next now ok ok_or open or or_else order
    parse peek poll pop popitem position print println printf push put putAll putIfAbsent query raise read
    readline readlines recv reduce remove removeAll repeat replace replaceAll reset resolve reverse rstrip run
    save search seek send set setdefault shift size skip sleep slice some sort sorted splice split splitlines
    start startsWith starts_with startswith step stop stream strip sub submit substring sum swap take test
    text then throw title toArray toList toLowerCase toString toUpperCase to_owned to_string to_vec transform
    trim try type union unlock unshift unwrap unwrap_or unwrap_or_default unwrap_or_else update upper url
    value valueOf values wait warn warning with write writelines yield zip Error String Read Write Close Len
    Less Swap Unlock Lock Done Add Wait Set Get Fatal Fatalf Errorf Logf Log Run Helper Equal True False Skip
""")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a call may mean."""

    found: tuple[PlacedDefinition, ...] = ()
    among: int = 1
    """How many definitions come into question; 1 where the code says which."""


class Resolver:
    """What calls mean in one snapshot."""

    def __init__(self, table: ReferenceTable) -> None:
        self.table, self._modules = table, ModulePaths(table)
        self._known: dict[tuple[str, str, str, str], Meaning] = {}

    def meaning(self, call: PlacedCall) -> Meaning:
        """Return what a call means."""
        name, receiver, inside = call.at.name, call.at.receiver, call.at.inside
        if receiver.startswith("?"):  # where it stands says nothing about it
            key = (call.family, name, receiver, str(traits_of(call.path)[0]))
        else:
            key = (call.path, name, receiver, inside)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._meaning(call, NameContext(call.path, call.family, inside))
        return found

    @property
    def names(self) -> NameLookup:
        """What names mean, for one question."""
        return NameLookup(self.table, self._modules)

    def _meaning(self, call: PlacedCall, context: NameContext) -> Meaning:
        name, receiver, names = call.at.name, call.at.receiver, self.names
        if not receiver or receiver[0] == "*":
            return _sure(names.bare(name, context, receiver[1:].split(",") if receiver else ()))
        if receiver[0] == "?":
            return self._guess(name, receiver[1:], context)
        things = list(names.things_of(receiver, context, 0))
        found = unique(each for thing in things for each in names.attributes(thing, name, 0))
        known = [each for each in found if isinstance(each, PlacedDefinition) and each.at.kind != "constant"]
        return _sure(known) if known else self._otherwise(name, receiver, things, context)

    def _otherwise(self, name: str, receiver: str, things: Sequence[Thing], context: NameContext) -> Meaning:
        """Return what a call may mean whose receiver is known only in part, or has no such member."""
        word = receiver.replace("()", "").rpartition(".")[2].rpartition("|")[2]
        if receiver[0] == "@":
            is_object = receiver.endswith("|") or "^" in receiver
            return Meaning() if things and is_object else self._guess(name, word, context)
        if receiver[0] == ":":
            return self._guess(name, word, context) if things else self._by_owner(name, receiver, context)
        is_result = "(" in receiver and not any(isinstance(each, PlacedDefinition) for each in things)
        return self._guess(name, word, context) if is_result and self._starts_here(receiver, context) else Meaning()

    def _starts_here(self, receiver: str, context: NameContext) -> bool:
        """Say whether what a receiver begins with is of this repository."""
        head = re.split(r"[.(]", receiver.partition("|")[0])[0]
        return bool(list(self.names.start(head, context)))

    def _by_owner(self, name: str, receiver: str, context: NameContext) -> Meaning:
        """Return the members of a type or a namespace that is named, wherever it is."""
        owner = re.split(r"[/.]", receiver[1:].replace("()", ""))[-1]
        found = [
            each
            for each in self.table.definitions(name)
            if each.family == context.family and (last_name(each.at.owner) == owner or address(each)[-1:] == (owner,))
        ]
        return _sure(nearest_to(without_headers(found), context.path))

    def _guess(self, name: str, word: str, context: NameContext) -> Meaning:
        """Return the methods of a name, where nothing says of which type its receiver is."""
        found = [
            each
            for each in self.table.definitions(name)
            if each.family == context.family and each.at.owner and each.at.kind in CALLABLES
        ]
        in_test = traits_of(context.path)[0]
        found = [each for each in found if in_test or not traits_of(each.path)[0]]
        word = word.replace("()", "").rpartition(".")[2]
        alike = [each for each in found if _is_alike(word, last_name(each.at.owner))]
        if alike:
            return Meaning(tuple(alike[:_FEW]), max(len(found), 1)) if len(alike) <= _FEW else Meaning()
        if name in COMMON_METHODS or len(found) > _FEW:
            return Meaning()
        return Meaning(tuple(found), len(found))


def _is_alike(word: str, owner: str) -> bool:
    """Say whether a variable is called like a type: `order`, `new_order` or `orders` like `Order`, `RefundOrder`."""
    words = set(parts(word))
    return bool(words & set(parts(owner))) or "".join(parts(word)) == "".join(parts(owner)) != ""


def _sure(found: Sequence[PlacedDefinition]) -> Meaning:
    """Return what a call means; several definitions of one name in one file are overloads, and count as one."""
    return Meaning(tuple(found), max(1, len({(each.path, each.at.full_name) for each in found})))


_resolvers: WeakKeyDictionary[Snapshot, Resolver] = WeakKeyDictionary()


def resolver_of(snapshot: Snapshot) -> Resolver:
    """Return the resolver of a snapshot, the same one each time."""
    found = _resolvers.get(snapshot)
    if found is None:
        found = _resolvers[snapshot] = Resolver(table_of(snapshot))
    return found
