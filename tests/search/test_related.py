"""What calls, is called by, tests and resembles a piece of code, resolved by receivers in many languages."""

# ruff: noqa: E501  (a table of files)

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.search.reference_table import table_of
from assay.search.related import declaration_of, definitions_at, references_at, related_code
from assay.search.resolve import nearest_to

SHOP = {
    "shop/order.py": '''"""Orders."""
from shop.pay import charge
from shop.price import sum_prices as total_of


def place_order(cart):
    """Sum the cart, then call refund(cart) by hand if it fails."""
    # cancel(cart) is for later
    total = total_of(cart)
    return charge(total)


def cancel(order):
    return "place_order(order)"
''',
    "shop/price.py": "def sum_prices(cart):\n    return sum(cart)\n",
    "shop/pay.py": """class Card:
    def charge(self, total):
        return self.check(total)

    def check(self, total):
        return total > 0


def charge(total):
    card = Card()
    return card.charge(total)


def refund(total):
    return -total
""",
    "shop/web.py": '''import shop.order


def checkout(cart):
    first = shop.order.place_order(cart)
    return first or shop.order.place_order(cart)


def notes():
    """How place_order(cart) is called: place_order([])."""
    return {"place_order": 1}
''',
    "tests/test_order.py": "from shop.order import place_order\n\n\ndef test_it():\n    assert place_order([])\n",
    "questions.jsonl": '{"question": "who calls place_order(cart)", "answer": "place_order(cart)"}\n',
    "README.md": "# Shop\n\nCall `place_order(cart)` and then `charge(total)`.\n",
}


def names(places) -> list[str]:
    return [f"{place.path}:{place.start_line} {place.symbol}" for place in places]


@pytest.fixture(scope="module")
def shop(linked_snapshot_of):
    return linked_snapshot_of(SHOP)


def test_callers_callees_and_tests_are_read_from_calls(shop):
    found = related_code(shop, "shop/order.py", 9, 10)
    assert found.subject.symbol == "place_order"
    assert names(found.groups["callers"]) == ["shop/web.py:5 checkout"]
    assert found.groups["callers"][0].lines == (5, 6)
    assert names(found.groups["callees"]) == ["shop/price.py:1 sum_prices", "shop/pay.py:9 charge"]
    assert names(found.groups["tests"]) == ["tests/test_order.py:4 test_it"]  # where it is declared
    assert found.groups["tests"][0].lines == ()


def test_docstrings_comments_strings_and_data_call_nothing(shop):
    found = related_code(shop, "shop/pay.py", 14, 10)
    assert found.subject.symbol == "refund"
    assert not (*found.groups["callers"], *found.groups["callees"], *found.groups["tests"])
    cancel = related_code(shop, "shop/order.py", 13, 10)
    assert not (*cancel.groups["callers"], *cancel.groups["callees"])
    for k in (0, 1):  # at most so many of a group
        found = related_code(shop, "shop/order.py", 9, k)
        assert all(len(places) == min(k, found.total[group]) for group, places in found.groups.items())


def test_a_method_is_told_from_a_function_of_its_name_by_the_receiver(shop):
    method = related_code(shop, "shop/pay.py", 3, 10)
    assert names(method.groups["callers"]) == ["shop/pay.py:11 charge"]
    assert names(method.groups["callees"]) == ["shop/pay.py:5 Card.check"]
    function = related_code(shop, "shop/pay.py", 10, 10)
    assert names(function.groups["callers"]) == ["shop/order.py:10 place_order"]
    assert names(function.groups["callees"]) == ["shop/pay.py:1 Card", "shop/pay.py:2 Card.charge"]


GO = """package a

type Store struct{}

func (s *Store) Run() {}

func NewStore(n int) *Store { return &Store{} }

var shared = NewStore(3)

func One(x any) {
	s, ok := x.(*Store)
	_ = ok
	s.Run()
}

func Two() { shared.Run() }

func Three() {
	t := NewStore(1)
	t.Run()
}
"""


OTHER = "package a\n\ntype Other struct{}\n\nfunc (o *Other) Run() {}\n\nfunc Four(o *Other) { o.Run() }\n"
WIDGET = "function Widget() {\n  const clear = () => {\n    go()\n  }\n  return <b onClick={clear} />\n}\n"
OUTSIDE = "import json\nimport os.path\n\n\ndef run(x):\n    json.dumps(x)\n    os.path.join(x)\n    print(x)\n"
RESOLVED = {
    "a function that calls itself": ("a.py:1 callers", "a.py:6 start", {
        "a.py": "def walk(tree):\n    return [walk(child) for child in tree]\n\n\ndef start(tree):\n    return walk(tree)\n"}),
    "values of Go by what made them": ("a.go:5 callers", "a.go:14 One, a.go:17 Two, a.go:21 Three", {"a.go": GO, "b.go": OTHER}),
    "a handler of a component of Vue": ("Cart.vue:3 callers", "Cart.vue:6 ", {
        "Cart.vue": '<script>\nfunction add(a) {\n  return a\n}\n</script>\n<button @click="add">+</button>\n'}),
    "a handler of a component of React": ("widget.jsx:2 callers", "widget.jsx:5 Widget", {"widget.jsx": WIDGET}),
    "names that modules from outside define": ("app/main.py:6 callees", "", {
        "app/main.py": OUTSIDE, "app/json.py": "def dumps(x):\n    return 1\n",
        "app/text.py": "def join(x):\n    return 1\n\n\ndef print_it(x):\n    return x\n"}),
    "definitions rather than declarations of headers": ("main.c:3 callees", "pay.c:2 charge", {
        "pay.h": "int charge(int total);\n", "pay.c": '#include "pay.h"\nint charge(int total) {\n  return total;\n}\n',
        "main.c": '#include "pay.h"\nint main(void) {\n  return charge(1);\n}\n'}),
    "what a package exports again, and stars": ("src/app.ts:3 callees", "src/cart.ts:1 add, src/shop.ts:1 buy", {
        "src/index.ts": "export { buy as order } from './shop';\nexport * from './cart';\n",
        "src/shop.ts": "export function buy(x: number) {\n  return x;\n}\n",
        "src/cart.ts": "export function add(x: number) {\n  return x;\n}\n",
        "src/app.ts": "import { add, order } from '.';\nexport function run() {\n  return add(order(1));\n}\n"}),
    "what a package imports": ("main.py:5 callees", "pkg/core.py:1 open_cart", {
        "pkg/__init__.py": "from .core import open_cart\n", "pkg/core.py": "def open_cart():\n    return 1\n",
        "main.py": "import pkg\n\n\ndef run():\n    return pkg.open_cart()\n"}),
    "a variable that is called, beside a method of its name": ("router.py:2 callers", "", {
        "router.py": "class Router:\n    def app(self, scope):\n        return scope\n",
        "main.py": "from web import Web\n\n\ndef run(scope):\n    app = Web()\n    return app(scope)\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", RESOLVED)
def test_calls_are_resolved(linked_snapshot_of, name):
    asked, wanted, files = RESOLVED[name]
    place, group = asked.split()
    path, line = place.split(":")
    found = related_code(linked_snapshot_of(files), path, int(line), 10)
    assert ", ".join(names(found.groups[group])) == wanted


def test_no_piece_of_the_subject_is_related_to_it_and_a_place_is_one_short_line(linked_snapshot_of):
    body = "".join(f"    total = add(total, part_{number})\n" for number in range(400))
    long = ", ".join(f"argument_{number}" for number in range(900))
    snapshot = linked_snapshot_of({
        "long.py": f"def long_sum(total):\n{body}    return total\n\n\ndef add(a, b): ...\n",
        "a.py": f"def far(*all):\n    pass\n\n\ndef near():\n    return far({long})\n",
    })  # fmt: skip
    found = related_code(snapshot, "long.py", 300, 10)
    assert (found.subject.start_line, found.subject.end_line) == (1, 402)
    related = [place for group in found.groups.values() for place in group]
    assert not [place for place in related if place.path == "long.py" and place.start_line <= 402]
    assert names(found.groups["callees"]) == ["long.py:405 add"]
    assert max(len(place.text) for place in related_code(snapshot, "a.py", 1, 10).groups["callers"]) <= 200


AMBIGUOUS = {
    "a.py": "class A:\n    def render_page(self):\n        return 1\n",
    "b.py": "class B:\n    def render_page(self):\n        return 2\n",
    "c.py": "def show(thing):\n    return thing.render_page()\n",
    "d.py": "from a import A\n\n\ndef show_it(x: A):\n    return x.render_page()\n",
}


def test_what_is_not_known_says_of_how_many_it_is_one(linked_snapshot_of):
    snapshot = linked_snapshot_of(AMBIGUOUS)
    found = related_code(snapshot, "a.py", 2, 10)
    assert [(place.symbol, place.among) for place in found.groups["callers"]] == [("show_it", 1), ("show", 2)]
    assert [(each.symbol, each.among) for each in definitions_at(snapshot, "c.py", 2, "render_page")] == [
        ("A.render_page", 2),
        ("B.render_page", 2),
    ]
    assert [each.symbol for each in definitions_at(snapshot, "d.py", 5, "render_page")] == ["A.render_page"]


LANGUAGES = {
    "typescript": {
        "src/cart.ts": "export class Cart {\n  add(x: number) { return this.check(x); }\n  check(x: number) { return x; }\n}\n",
        "src/shop.ts": "import { Cart as Basket } from './cart';\nexport function buy(c: Basket) {\n  return c.add(1);\n}\n",
        "src/tree.ts": "export class Tree { add(x: number) { return x; } }\n",
    },
    "go": {
        "go.mod": "module example.com/shop\n",
        "cart/cart.go": "package cart\n\ntype Cart struct{}\n\nfunc (c *Cart) Add(x int) int { return c.check(x) }\n\n"
        "func (c *Cart) check(x int) int { return x }\n",
        "shop/shop.go": 'package shop\n\nimport "example.com/shop/cart"\n\nfunc buy(c *cart.Cart) int {\n\treturn c.Add(1)\n}\n',
        "tree/tree.go": "package tree\n\ntype Tree struct{}\n\nfunc (t *Tree) Add(x int) int { return x }\n",
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/cart.rs": "pub struct Cart;\nimpl Cart {\n    pub fn add(&self, x: u8) -> u8 { self.check(x) }\n"
        "    fn check(&self, x: u8) -> u8 { x }\n}\n",
        "src/shop.rs": "use crate::cart::Cart;\npub fn buy(c: &Cart) -> u8 {\n    c.add(1)\n}\n",
        "src/tree.rs": "pub struct Tree;\nimpl Tree {\n    pub fn add(&self, x: u8) -> u8 { x }\n}\n",
    },
    "java": {
        "src/main/java/shop/cart/Cart.java": "package shop.cart;\npublic class Cart {\n"
        "  public int add(int x) { return check(x); }\n  int check(int x) { return x; }\n}\n",
        "src/main/java/shop/Shop.java": "package shop;\nimport shop.cart.Cart;\nclass Shop {\n  private Cart c;\n"
        "  int buy() {\n    return c.add(1);\n  }\n}\n",
        "src/main/java/shop/Tree.java": "package shop;\nclass Tree {\n  int add(int x) { return x; }\n}\n",
    },
}  # fmt: skip


def test_receivers_are_resolved_in_many_languages(linked_snapshot_of):
    for language, files in LANGUAGES.items():
        snapshot = linked_snapshot_of(files)
        (cart,) = [path for path in files if "cart." in path.lower()]
        line = 1 + next(n for n, text in enumerate(files[cart].split("\n")) if "dd(" in text)
        found = related_code(snapshot, cart, line, 10)
        assert [place.symbol.rpartition(".")[2] for place in found.groups["callers"]] == ["buy"], language
        assert [(p.symbol.rpartition(".")[2], p.among) for p in found.groups["callees"]] == [("check", 1)], language
        assert len(references_at(snapshot, cart, line)) == 1, language


def test_a_line_of_prose_has_only_what_is_alike_and_says_so(shop):
    found = related_code(shop, "README.md", 3, 10)
    assert found.note == "README.md is markdown, which has no calls: only similar code is shown"
    assert {group for group, count in found.total.items() if not count} == {"callers", "callees", "tests"}


def test_code_is_like_named_code_of_its_language_and_not_like_what_is_written_about_it(linked_snapshot_of):
    files = {
        "pay.py": "def pay_order(order):\n    return order.total * 2\n",
        "bill.py": "def bill_order(order):\n    return order.total * 3\n",
        "run.py": "print(2 * 3, 'the total of an order')\n",
        "pay.md": "# Pay an order\n\nThe function pay_order pays an order, its total times two.\n",
        "pay.css": ".pay-order { color: red; }\n",
        "pay.js": "function pay(cart) {\n  return pay_order(cart);\n}\n",
    }
    snapshot = linked_snapshot_of(files)
    paid = related_code(snapshot, "pay.py", 1, 9).groups
    assert [place.path for place in paid["alike"]] == ["bill.py"]
    assert not paid["callers"], "what calls a function of its name in another language is no caller"
    assert "pay.py" in [place.path for place in related_code(snapshot, "pay.md", 3, 9).groups["alike"]]


def test_an_unknown_path_or_line_is_an_error_that_says_so(shop):
    with pytest.raises(InputError, match=r"'shop/none.py' is not indexed"):
        related_code(shop, "shop/none.py", 1, 5)
    with pytest.raises(InputError, match=r"no code at 'shop/pay.py:999'; the file's last line of text is 15"):
        related_code(shop, "shop/pay.py", 999, 5)
    with pytest.raises(InputError, match=r"nothing is defined at 'README.md:1'"):
        references_at(shop, "README.md", 1)


def test_a_name_is_found_where_it_is_declared_and_how_often(shop):
    assert declaration_of(shop, "place_order") == ("shop/order.py", 6, 1)
    assert declaration_of(shop, "Card.charge") == ("shop/pay.py", 2, 1)
    assert declaration_of(shop, "charge", "shop") == ("shop/pay.py", 9, 2)
    with pytest.raises(InputError, match="nothing here declares 'place_ordr'; similar names: place_order"):
        declaration_of(shop, "place_ordr")
    with pytest.raises(InputError, match="nothing here declares 'refund'"):
        declaration_of(shop, "refund", "tests")


def test_circles_of_imports_bases_results_and_stars_end(linked_snapshot_of):
    files = {
        "a.py": "from b import x\n\nx = x\n\n\ndef f():\n    return x.go()\n",
        "b.py": "from a import x\n\nx = x.y\n\n\nclass C(C):\n    def go(self):\n        return self.stop()\n",
    }
    snapshot = linked_snapshot_of(files)
    assert not related_code(snapshot, "b.py", 7, 5).groups["callees"]
    related_code(snapshot, "a.py", 7, 5)
    several = range(14)
    classes = (
        f"class K{each}({', '.join(f'K{other}' for other in several if other != each)}):\n"
        f"    def run(self):\n        self.nothing{each}()\n        return self.found()\n\n\n"
        for each in several
    )
    calls = "\n".join(f"    if x > {each}:\n        return f{each}(x)" for each in several)
    functions = (f"def f{each}(x):\n{calls}\n    return f0(x).go()\n\n\n" for each in several)
    stars = "".join(f"from m{each} import *\n" for each in several)
    files = {
        "bases.py": "".join(classes) + "class Last(K3):\n    def run(self):\n        return self.held()\n",
        "held.py": "class Held:\n    def held(self):\n        return 1\n",
        "results.py": "".join(functions),
        **{f"m{each}.py": f"{stars}\n\ndef g{each}():\n    return missing().go()\n" for each in several},
    }
    files["bases.py"] = "from held import Held\n\n\n" + files["bases.py"].replace("class K5(", "class K5(Held, ")
    snapshot = linked_snapshot_of(files)
    line = files["bases.py"].splitlines().index("class Last(K3):") + 2
    assert names(related_code(snapshot, "bases.py", line, 5).groups["callees"]) == ["held.py:2 Held.held"]
    for path, at in (("bases.py", 5), ("results.py", 1), ("m3.py", 17)):
        related_code(snapshot, path, at, 5)


def test_many_definitions_endless_chains_and_deep_nesting_are_followed(linked_snapshot_of):
    files = {f"p{each}/a.py": "def same():\n    return 1\n" for each in range(3)}
    one = table_of(linked_snapshot_of(files)).definitions("same")
    assert [each.path for each in nearest_to(one * 2_000, "p1/b.py")] == ["p1/a.py"] * 2_000
    assert nearest_to([], "p1/b.py") == []
    chain, nested = "x" + ".step()" * 2500, "f(" * 300 + ")" * 300
    snapshot = linked_snapshot_of({"deep.py": f"def run(x):\n    {chain}\n    {nested}\n\n\ndef f(*x): ...\n"})
    assert names(related_code(snapshot, "deep.py", 2, 5).groups["callees"]) == ["deep.py:6 f"]


def test_a_parameter_of_a_closure_is_no_variable_of_the_function_around_it(linked_snapshot_of):
    files = {
        "cart.go": "package shop\n\ntype Cart struct{}\n\nfunc (c *Cart) Use(f any) {}\n\n"
        "func (c *Cart) Add(x int) {}\n",
        "tree.go": "package shop\n\ntype Tree struct{}\n\nfunc (t *Tree) Add(x int) {}\n",
        "shop.go": "package shop\n\nfunc run() {\n\tc := &Cart{}\n\tc.Use(func(c *Tree) {\n\t\tc.Add(1)\n"
        "\t})\n\tc.Add(2)\n}\n",
    }
    snapshot = linked_snapshot_of(files)
    assert [place.start_line for place in references_at(snapshot, "cart.go", 7)] == [8]
    assert [place.start_line for place in references_at(snapshot, "tree.go", 5)] == [6]
