"""The table of the files in which coding agents read instructions, of the project and of the user.

The sources, with their dates, are in docs/serving.md. An agent or a scope whose file is not documented has no entry.
"""

from __future__ import annotations

from pathlib import Path

from assay.serve.agents.agent import Agent, SettingsPlaces
from assay.serve.agents.instructions import InstructionFiles

_AGENTS_MD = InstructionFiles(("AGENTS.md",))
_ALWAYS = "---\nalwaysApply: true\n---\n"

INSTRUCTIONS: dict[str, dict[str, InstructionFiles]] = {
    "claude-code": {
        "project": InstructionFiles(("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")),
        "user": InstructionFiles(("{home}/.claude/CLAUDE.md",)),
    },
    "cursor": {"project": InstructionFiles((".cursor/rules/assay.mdc",), head=_ALWAYS)},
    "vscode": {"project": InstructionFiles((".github/copilot-instructions.md", "AGENTS.md"))},
    "windsurf": {"user": InstructionFiles(("{home}/.codeium/windsurf/memories/global_rules.md",))},
    "zed": {
        "project": InstructionFiles(
            (
                ".rules",
                ".cursorrules",
                ".windsurfrules",
                ".clinerules",
                ".github/copilot-instructions.md",
                "AGENT.md",
                "AGENTS.md",
                "CLAUDE.md",
                "GEMINI.md",
            ),
            new="AGENTS.md",
        ),
        "user": InstructionFiles(("{zed}/AGENTS.md",)),
    },
    "codex": {
        "project": InstructionFiles(("AGENTS.override.md", "AGENTS.md"), new="AGENTS.md"),
        "user": InstructionFiles(("{codex}/AGENTS.override.md", "{codex}/AGENTS.md"), new="{codex}/AGENTS.md"),
    },
    "gemini": {
        "project": InstructionFiles(("GEMINI.md",)),
        "user": InstructionFiles(("{home}/.gemini/GEMINI.md",)),
    },
    "qwen": {
        "project": InstructionFiles(("QWEN.md", "AGENTS.md")),
        "user": InstructionFiles(("{home}/.qwen/QWEN.md",)),
    },
    "opencode": {
        "project": InstructionFiles(("AGENTS.md", "CLAUDE.md")),
        "user": InstructionFiles(("{config}/opencode/AGENTS.md",)),
    },
    "kilo": {
        "project": InstructionFiles(("AGENTS.md", "CLAUDE.md")),
        "user": InstructionFiles(("{config}/kilo/AGENTS.md",)),
    },
    "cline": {"user": InstructionFiles(("{home}/.agents/AGENTS.md",))},
    "cline-vscode": {"user": InstructionFiles(("{home}/.agents/AGENTS.md",))},
    "continue": {"project": InstructionFiles((".continue/rules/assay.md",), head=_ALWAYS)},
    "amp": {"project": _AGENTS_MD, "user": InstructionFiles(("{config}/amp/AGENTS.md",))},
    "copilot": {"user": InstructionFiles(("{copilot}/copilot-instructions.md",))},
    "kiro": {
        "project": InstructionFiles((".kiro/steering/assay.md",)),
        "user": InstructionFiles(("{home}/.kiro/steering/assay.md",)),
    },
    "junie": {"project": InstructionFiles((".junie/guidelines.md", ".junie/AGENTS.md", "AGENTS.md"))},
    "warp": {"project": InstructionFiles(("WARP.md", "AGENTS.md"), new="AGENTS.md")},
}


def instructions_of(agent: Agent, scope: str, machine: SettingsPlaces, project: Path) -> tuple[Path, str] | None:
    """Return the file of instructions of an agent and what a new one starts with, or None if it has none there."""
    known = INSTRUCTIONS.get(agent.name, {}).get(scope)
    if known is None:
        return None
    files = tuple(str(machine.path(file)) for file in known.files)
    new = str(machine.path(known.new)) if known.new else ""
    return InstructionFiles(files, new, known.head).pick(project), known.head
