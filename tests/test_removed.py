import click
import pytest

from assay.cage.job import KINDS
from assay.cli.main import assay, run
from assay.plugins import BUILT_IN
from assay.removed import REMOVED
from assay.settings import QUANTISATIONS


def command_of(words):
    command, context = assay, click.Context(assay, info_name="assay")
    for word in words:
        command = command.get_command(context, word)
        context = click.Context(command, parent=context, info_name=word)
    return command


def test_what_is_said_to_be_gone_is_gone():
    assert not {kind: set(REMOVED[kind]) & set(BUILT_IN[kind]) for kind in ("ranker", "sampler")}["ranker"]
    assert REMOVED["sampler"].keys().isdisjoint(BUILT_IN["sampler"])
    assert REMOVED["sandbox"].keys().isdisjoint(KINDS)
    assert REMOVED["quantisation"].keys().isdisjoint(QUANTISATIONS)


@pytest.mark.parametrize("option", REMOVED["option"])
def test_an_option_that_went_is_refused_with_the_reason(option, capsys):
    *words, name = option.split()[1:]
    assert all(name not in parameter.opts for parameter in command_of(words).params)
    assert run([*words, name, "x"]) == 2
    assert REMOVED["option"][option] in capsys.readouterr().err


@pytest.mark.parametrize("command", REMOVED["command"])
def test_a_command_that_went_is_refused_with_the_reason(command, capsys):
    assert run([*command.split()[1:], "x"]) == 2
    assert REMOVED["command"][command] in capsys.readouterr().err
