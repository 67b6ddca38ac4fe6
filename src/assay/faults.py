"""How a program fails: one taxonomy for running, judging and ranking programs, and the label sets derived from it.

The classes and their names are those of *Fault-Aware Neural Code Rankers* (Inala et al. 2022, tables 4 and 5). What
the machinery failed to find out is no fault of a program and has no member here.
"""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """What running a program against its tests showed.

    >>> Fault("TypeError").is_execution
    True
    """

    CORRECT = "correct"

    NAME_ERROR = "NameError"
    VALUE_ERROR = "ValueError"
    EOF_ERROR = "EOFError"
    TYPE_ERROR = "TypeError"
    INDEX_ERROR = "IndexError"
    KEY_ERROR = "KeyError"
    TIMEOUT = "timeout"
    SYNTAX_ERROR = "SyntaxError"
    FUNCTION_NOT_FOUND = "function not found"
    EXECUTION_OTHER = "other execution error"

    NONE_ERROR = "NoneError"
    EMPTY_ERROR = "EmptyError"
    OUTPUT_TYPE_ERROR = "OutputTypeError"
    LENGTH_ERROR = "LengthError"
    INT_SMALL_ERROR = "IntSmallError"
    INT_LARGE_ERROR = "IntLargeError"
    STRING_SMALL_ERROR = "StringSmallError"
    STRING_LARGE_ERROR = "StringLargeError"
    INTENT_OTHER = "other intent error"

    @property
    def is_execution(self) -> bool:
        """Return whether the program broke, rather than answered wrongly."""
        return self in EXECUTION

    @property
    def is_intent(self) -> bool:
        """Return whether the program answered, and wrongly."""
        return self in INTENT


_ORDER = tuple(Fault)
EXECUTION = frozenset(_ORDER[1:11])
INTENT = frozenset(_ORDER[11:])
WRONG, EXECUTION_ERROR, INTENT_ERROR = "wrong", "execution error", "intent error"


def binary(fault: Fault) -> str:
    """Return one of 2 classes: correct or wrong."""
    return str(fault) if fault is Fault.CORRECT else WRONG


def ternary(fault: Fault) -> str:
    """Return one of 3 classes: correct, intent error, execution error."""
    if fault is Fault.CORRECT:
        return str(fault)
    return EXECUTION_ERROR if fault.is_execution else INTENT_ERROR


def intent(fault: Fault) -> str:
    """Return one of 11 classes: intent errors by kind, the others as ternary has them."""
    return str(fault) if fault.is_intent else ternary(fault)


def execution(fault: Fault) -> str:
    """Return one of 12 classes: execution errors by kind, the others as ternary has them."""
    return str(fault) if fault.is_execution else ternary(fault)


def execution_line(fault: Fault, line: int) -> tuple[str, int]:
    """Return the execution label with the line of the program that broke, -1 if none did."""
    return execution(fault), line if fault.is_execution else -1
