"""Resolve a name or a call in a file to the definitions that it means.

What a receiver is follows from imports, from the types that parameters, fields and results are said to have, and from
what constructs it; an expression of which that says nothing means nothing here.

What is only defined outside of the repository is not found. Where nothing says what a receiver is, every method of
the name comes into question, and the answer says of how many it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import commonprefix, dirname
from weakref import WeakKeyDictionary

from assay.corpus.call_facts import CALLABLES, TYPES
from assay.corpus.grammars import grammar_of
from assay.corpus.languages import words
from assay.search.path_filters import traits_of
from assay.search.reference_table import (
    Module,
    ModulePaths,
    PlacedCall,
    PlacedDefinition,
    ReferenceTable,
    module_of,
    table_of,
)
from assay.store.snapshot import Snapshot
from assay.terms import parts

_MAX_DEPTH = 8
"""Steps from one type to the next that are followed."""
_MAX_EXPRESSIONS = 5000
"""Expressions that are read for one question."""
_STEP = re.compile(r"([./]#?)([\w$]+)|(\(\))|(\^)")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|d\.ts|pyi)$")


@dataclass(frozen=True, slots=True)
class NameContext:
    """The place where a name is read."""

    path: str
    family: str
    owner: str = ""


Thing = PlacedDefinition | Module


class NameLookup:
    """Resolves names in one snapshot; made for each question, whose steps it counts."""

    def __init__(self, table: ReferenceTable, modules: ModulePaths) -> None:
        self.table, self.modules = table, modules
        self._budget = _MAX_EXPRESSIONS
        self._walked: dict[tuple[tuple[str, int, str], str], tuple[int, list[Thing]]] = {}
        """Inherited members of types by name, and the depth at which they were looked up: bases may form a circle."""

    def bare(self, name: str, context: NameContext, stars: Sequence[str], depth: int = 0) -> list[PlacedDefinition]:
        """Return what an unqualified name means, from the nearest scope that has it."""
        found = [each for each in self._things_named(name, context.family) if each.at.kind != "constant"]
        if not found:
            return []
        methods = self._own_methods(name, context, depth)
        around = [each for each in found if each.path == context.path and _is_around(each.at.owner, context.owner)]
        if methods or around:
            innermost = max((len(each.at.owner) for each in around), default=0)
            return methods or [each for each in around if len(each.at.owner) == innermost]
        alone = [each for each in found if not each.at.owner or each.at.kind in TYPES]
        for star in stars:
            modules = self.modules.locate(star, context.path, context.family)
            if there := [each for each in alone for module in modules if _lies_in(each, module)]:
                return there
        return self._in_reach(alone, context)

    def _own_methods(self, name: str, context: NameContext, depth: int) -> list[PlacedDefinition]:
        """Return the methods of the types around, where these are called by their bare names."""
        grammar = grammar_of(context.family)
        if grammar is None or not grammar.methods_bare:
            return []
        for owner in _outer(context.owner):
            for type_ in self._types_here(owner, context):
                if found := [e for e in self.attributes(type_, name, depth) if isinstance(e, PlacedDefinition)]:
                    return found
        return []

    @staticmethod
    def _in_reach(alone: Sequence[PlacedDefinition], context: NameContext) -> list[PlacedDefinition]:
        """Return the definitions of other files that are visible without an import."""
        grammar = grammar_of(context.family)
        reach = grammar.reach if grammar else "file"
        if context.family == "rust":
            return [each for each in alone if each.at.kind == "macro"]
        if reach == "folder":
            here = [each for each in alone if dirname(each.path) == dirname(context.path)]
            return here or [each for each in alone if each.at.kind in TYPES and context.family == "java"]
        return nearest_to(without_headers(alone), context.path) if reach == "any" else []

    def _types_here(self, owner: str, context: NameContext) -> list[PlacedDefinition]:
        """Return the type of a full name, in this file if it is there."""
        name = owner.rpartition(".")[2]
        found = [each for each in self.table.of_family(name, context.family) if each.at.kind in TYPES]
        here = [each for each in found if each.path == context.path and each.at.full_name == owner]
        here = here or [each for each in found if each.path == context.path]
        return _declared_first(here) or nearest_to(_declared_first(found), context.path)[:1]

    def things_of(self, text: str, context: NameContext, depth: int) -> Iterator[Thing]:
        """Yield what an expression may be: types, functions, modules."""
        self._budget -= 1
        if depth > _MAX_DEPTH or self._budget < 0 or not text or text[0] in "?*":
            return
        if text[0] == "@":
            owner, _, steps = text[1:].partition("|")
            things: list[Thing] = list(self._types_here(owner, context))
        else:
            found = re.match(r"[^.(]*", text)
            head = found[0] if found else ""
            steps = text[len(head) :]
            things = list(self.start(head, context, depth))
        for step in _STEP.finditer(steps):
            if not things:
                return
            things = unique(each for thing in things for each in self._step(thing, step, depth + 1))[:_MAX_DEPTH]
        yield from things

    def _step(self, thing: Thing, step: re.Match[str], depth: int) -> Iterable[Thing]:
        if step[4]:
            return self._above(thing, depth) if isinstance(thing, PlacedDefinition) else ()
        if not step[3]:
            return self.attributes(thing, step[2], depth)
        if isinstance(thing, tuple):
            return ()
        if thing.at.kind not in TYPES:
            return self._return_type(thing, depth)
        called = [each for each in self._members(thing, "__call__") if thing.family == "python"]
        return [thing, *(each for one in called for each in self._return_type(one, depth))]

    def _return_type(self, thing: PlacedDefinition, depth: int) -> Iterator[Thing]:
        context = NameContext(thing.path, thing.family, thing.at.owner)
        if thing.at.kind in CALLABLES:
            for each in thing.at.types:
                yield from self.things_of(each, context, depth)

    def _above(self, type_: PlacedDefinition, depth: int) -> Iterator[Thing]:
        """Yield the bases of a type."""
        context = NameContext(type_.path, type_.family)
        for base in type_.at.types:
            yield from (each for each in self.things_of(base, context, depth) if each != type_)
        if type_.family == "go":
            for field in self.table.file(type_.path).fields:
                if field.owner == type_.at.full_name and re.split(r"[/:]", field.type)[-1] == field.name:
                    yield from self.things_of(field.type, context, depth)

    def start(self, head: str, context: NameContext, depth: int = 0) -> Iterator[Thing]:
        """Yield what a name or a path of names is."""
        if head.startswith(":"):
            first, *rest = head[1:].split("/")
            things: list[Thing] = [*self.bare(first, context, (), depth)]
            if not things and rest:
                things = [*self._names_beside(first, context)]
            for name in rest:
                things = [each for thing in things for each in self.attributes(thing, name, depth)]
            yield from things
            return
        for module in self.modules.locate(head, context.path, context.family):
            yield from self._in_module(module, context.family, depth)

    def _names_beside(self, name: str, context: NameContext) -> Iterator[Module]:
        """Yield the modules of a name below the file's own, as Rust declares them."""
        own = module_of(context.path, context.family)
        for module in ((*own, name), (*own[:-1], name)):
            if self.modules.is_module(module, context.family):
                yield module
                return

    def _in_module(self, module: Module, family: str, depth: int) -> Iterator[Thing]:
        """Yield what a module path means: a definition of its last name, or the module itself."""
        self._budget -= 1
        if not module or self._budget < 0:
            yield from () if module else (module,)
            return
        *above, last = module
        found: list[Thing] = [each for each in self._things_named(last, family) if address(each) == tuple(above)]
        found = found or list(self._variable(tuple(above), last, family, depth + 1))
        if self.modules.is_module(module, family):
            found.append(module)
        yield from found or self._below(tuple(above), last, family)

    def _below(self, module: Module, name: str, family: str) -> list[PlacedDefinition]:
        """Return the definitions of a name that a package re-exports from its modules, the nearest ones."""
        inner = [each for each in self._things_named(name, family) if not each.at.owner and _lies_in(each, module)]
        inner = [each for each in inner if module and not traits_of(each.path).is_test]
        shortest = min((len(address(each)) for each in inner), default=0)
        return without_headers([each for each in inner if len(address(each)) == shortest])

    def _variable(self, module: Module, name: str, family: str, depth: int) -> Iterator[Thing]:
        """Yield what a module binds to a name: a variable, a re-exported import, or a member of a type."""
        for path in self.modules.files.get(family, {}).get(module, ()) if depth <= _MAX_DEPTH else ():
            context = NameContext(path, family)
            for field in self.table.file(path).fields:
                if not field.owner and field.name == name:
                    yield from self.things_of(field.type, context, depth)
                elif field.name == "*":
                    for place in self.modules.locate(field.type, path, family):
                        yield from self._in_module((*place, name), family, depth + 3)
        for outer in self._in_module(module, family, depth) if self._names_type(module, family) else ():
            yield from self.attributes(outer, name, depth)

    def _names_type(self, module: Module, family: str) -> bool:
        return bool(module) and any(each.at.kind in TYPES for each in self._things_named(module[-1], family))

    def _things_named(self, name: str, family: str) -> list[PlacedDefinition]:
        return [each for each in self.table.of_family(name, family) if each.at.kind not in ("block", "section")]

    def attributes(self, thing: Thing, name: str, depth: int) -> Iterable[Thing]:
        """Return what `thing.name` is: a member, the type of a field, a name of a module."""
        if depth > _MAX_DEPTH:
            return ()
        if isinstance(thing, tuple):
            return list(self._module_member(thing, name, depth))
        if thing.at.kind not in TYPES:
            return ()
        own: Sequence[Thing] = self._members(thing, name) or list(self._field(thing, name, depth))
        return own or self._inherited_members(thing, name, depth)

    def _module_member(self, module: Module, name: str, depth: int) -> Iterator[Thing]:
        for family in self.modules.files:
            if self.modules.is_module(module, family) or not module:
                yield from self._in_module((*module, name.replace("-", "_")), family, depth)

    def _members(self, type_: PlacedDefinition, name: str) -> list[PlacedDefinition]:
        if name in ("new", "init") and type_.family in ("ruby", "swift"):
            name = "initialize" if type_.family == "ruby" else "init"
        named = self.table.of_family(name, type_.family)
        found = [each for each in named if each.at.owner and last_name(each.at.owner) == type_.at.name]
        for near in (
            [each for each in found if each.path == type_.path and each.at.owner == type_.at.full_name],
            [each for each in found if each.path == type_.path],
            [each for each in found if dirname(each.path) == dirname(type_.path)],
        ):
            if near:
                return without_headers(near)
        others = [each for each in self.table.definitions(type_.at.name) if each.at.kind in TYPES]
        alone = len({dirname(each.path) for each in others if each.at.kind != "impl"}) <= 1
        return without_headers(found) if alone else []

    def _field(self, type_: PlacedDefinition, name: str, depth: int) -> Iterator[Thing]:
        context = NameContext(type_.path, type_.family, type_.at.full_name)
        for field in self.table.file(type_.path).fields:
            if field.name == name and field.owner == type_.at.full_name:
                yield from self.things_of(field.type, context, depth + 1)

    def _inherited_members(self, type_: PlacedDefinition, name: str, depth: int) -> list[Thing]:
        key = type_.key, name
        at, found = self._walked.get(key, (_MAX_DEPTH + 1, []))
        if at <= depth:
            return found
        self._walked[key] = depth, []
        for base in self._above(type_, depth + 1):
            if isinstance(base, PlacedDefinition) and (found := list(self.attributes(base, name, depth + 1))):
                self._walked[key] = depth, found
                return found
        return []


def address(each: PlacedDefinition) -> Module:
    """Return the path of names that leads to a definition."""
    owner = tuple(each.at.owner.split(".")) if each.at.owner else ()
    return (*module_of(each.path, each.family), *owner)


def _lies_in(each: PlacedDefinition, module: Module) -> bool:
    return module_of(each.path, each.family)[: len(module)] == module


def _is_around(owner: str, inside: str) -> bool:
    return not owner or inside == owner or inside.startswith(f"{owner}.")


def _outer(owner: str) -> Iterator[str]:
    """Yield the names of what is around, innermost first."""
    while owner:
        yield owner
        owner = owner.rpartition(".")[0]


def last_name(name: str) -> str:
    """Return the innermost of names with dots between them."""
    return name.rpartition(".")[2]


def _declared_first(definitions: Sequence[PlacedDefinition]) -> list[PlacedDefinition]:
    """Return declarations of a type rather than blocks of its methods, where there are any."""
    return [each for each in definitions if each.at.kind != "impl"] or list(definitions)


def without_headers(definitions: Sequence[PlacedDefinition]) -> list[PlacedDefinition]:
    """Return definitions, without their declarations in headers."""
    return [each for each in definitions if not _HEADER.search(each.path)] or list(definitions)


def nearest_to(definitions: Sequence[PlacedDefinition], path: str) -> list[PlacedDefinition]:
    """Return the definitions that share the longest part of their path with a file."""
    ways = [_shared_parts(each.path, path) for each in definitions]
    longest = max(ways, default=0)
    return [each for each, way in zip(definitions, ways, strict=True) if way == longest]


def _shared_parts(one: str, other: str) -> int:
    if one == other:
        return 1000
    return len(commonprefix([one.split("/")[:-1], other.split("/")[:-1]]))


def unique(things: Iterable[Thing]) -> list[Thing]:
    """Return things without repetition, in order."""
    return list(dict.fromkeys(things))


_MAX_LIKELY_METHODS = 3
"""The most methods of one name among which a call on an unknown receiver may be."""


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

    definitions: tuple[PlacedDefinition, ...] = ()
    among: int = 1
    """How many definitions are possible; 1 if the code says which."""


class Resolver:
    """Resolves calls in one snapshot."""

    def __init__(self, table: ReferenceTable) -> None:
        self.table, self._modules = table, ModulePaths(table)
        self._meanings: dict[tuple[str, str, str, str], Meaning] = {}

    def meaning(self, call: PlacedCall) -> Meaning:
        """Return what a call means."""
        name, receiver, inside = call.at.name, call.at.receiver, call.at.inside
        if receiver.startswith("?"):  # where it stands says nothing about it
            key = (call.family, name, receiver, str(traits_of(call.path).is_test))
        else:
            key = (call.path, name, receiver, inside)
        found = self._meanings.get(key)
        if found is None:
            found = self._meanings[key] = self._meaning(call, NameContext(call.path, call.family, inside))
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
        """Return the meaning of a call whose receiver is only partly known, or lacks the member."""
        word = receiver.replace("()", "").rpartition(".")[2].rpartition("|")[2]
        if receiver[0] == "@":
            is_object = receiver.endswith("|") or "^" in receiver
            return Meaning() if things and is_object else self._guess(name, word, context)
        if receiver[0] == ":":
            return self._guess(name, word, context) if things else self._by_owner(name, receiver, context)
        is_result = "(" in receiver and not any(isinstance(each, PlacedDefinition) for each in things)
        return self._guess(name, word, context) if is_result and self._starts_here(receiver, context) else Meaning()

    def _starts_here(self, receiver: str, context: NameContext) -> bool:
        """Return whether what a receiver begins with is of this repository."""
        head = re.split(r"[.(]", receiver.partition("|")[0])[0]
        return bool(list(self.names.start(head, context)))

    def _by_owner(self, name: str, receiver: str, context: NameContext) -> Meaning:
        """Return the members of a type or a namespace that is named, wherever it is."""
        owner = re.split(r"[/.]", receiver[1:].replace("()", ""))[-1]
        named = self.table.of_family(name, context.family)
        found = [each for each in named if last_name(each.at.owner) == owner or address(each)[-1:] == (owner,)]
        return _sure(nearest_to(without_headers(found), context.path))

    def _guess(self, name: str, word: str, context: NameContext) -> Meaning:
        """Return the methods of a name, if the type of the receiver is unknown."""
        named = self.table.of_family(name, context.family)
        found = [each for each in named if each.at.owner and each.at.kind in CALLABLES]
        in_test = traits_of(context.path).is_test
        found = [each for each in found if in_test or not traits_of(each.path).is_test]
        word = word.replace("()", "").rpartition(".")[2]
        alike = [each for each in found if _is_alike(word, last_name(each.at.owner))]
        if not alike and name in COMMON_METHODS:
            return Meaning()
        likely = alike or found
        return Meaning(tuple(likely), len(found)) if len(likely) <= _MAX_LIKELY_METHODS else Meaning()


def _is_alike(word: str, owner: str) -> bool:
    """Return whether a variable is called like a type: `order`, `new_order` or `orders` like `Order`, `RefundOrder`."""
    words = set(parts(word))
    return bool(words & set(parts(owner))) or "".join(parts(word)) == "".join(parts(owner)) != ""


def _sure(definitions: Sequence[PlacedDefinition]) -> Meaning:
    """Return the meaning of a call; several definitions of one name in one file are overloads, and count as one."""
    return Meaning(tuple(definitions), max(1, len({(each.path, each.at.full_name) for each in definitions})))


_resolvers: WeakKeyDictionary[Snapshot, Resolver] = WeakKeyDictionary()


def resolver_of(snapshot: Snapshot) -> Resolver:
    """Return the resolver of a snapshot, the same one each time."""
    return _resolvers.setdefault(snapshot, Resolver(table_of(snapshot)))
