"""More of what the programs that cheat are made of."""

from __future__ import annotations

from assay.values import Call, Script

LYING = """
def lying(base):
    members = dict(__eq__=lambda s, o: True, __ne__=lambda s, o: False, __hash__=lambda s: 5, __repr__=lambda s: "5",
                   __lt__=lambda s, o: True, __gt__=lambda s, o: True, __sub__=lambda s, o: 0, __rsub__=lambda s, o: 0,
                   __reduce__=lambda s: (int, (5,)), __reduce_ex__=lambda s, n: (int, (5,)), __index__=lambda s: 5)
    return type(base.__name__, (base,), members)
"""
LISTED = (Script("assert add([3, 1, 2]) == [1, 2, 3]\nassert add([]) == []\n"),)
NEAR = (Script("assert abs(add(2, 3) - 5.5) < 1e-6\n"), Call((2, 3), 5.5, 1e-6))
RAISES = (Script("try:\n    add(1)\n    assert False, 'no error'\nexcept ValueError:\n    pass\nassert add(2) == 3\n"),)
MAPPED = (Script("assert all(map(lambda pair: add(*pair) == sum(pair), [(2, 3), (10, -4)]))\n"),)
SHARED_CHECK = (
    Script("class Sub(Stack):\n    pass\n\nassert Sub().push(2).items == [2]\nassert isinstance(Sub(), Stack)\n"),
)
