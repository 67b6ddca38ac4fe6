"""The table of coding agents: in which file each keeps its servers, and what an entry looks like there.

One row an agent, taken from its own documentation; what could not be verified there has no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.errors import InputError, nearest
from assay.serve.agents.agent import FOLDER, THERE, Agent, AgentFiles, Entry, Shape


def _stdio(**more: Any) -> Shape:
    """Return the shape of an entry that says its type first."""
    return lambda command, args: {"type": "stdio", "command": command, "args": [*args], **more}


def _listed(command: str, args: Sequence[str]) -> Entry:
    return {"type": "local", "command": [command, *args], "enabled": True}


def _zed(command: str, args: Sequence[str]) -> Entry:
    return {"source": "custom", "command": command, "args": [*args], "env": {}}


AGENTS = (
    Agent(
        "claude-code",
        "Claude Code",
        AgentFiles((".mcp.json",), THERE, "it asks once whether it may start the servers of a project"),
        AgentFiles(("{home}/.claude.json",), THERE),
        ("claude", "{home}/.claude"),
        shape=_stdio(),
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        None,
        AgentFiles(("{app}/Claude/claude_desktop_config.json",)),
        ("{app}/Claude",),
        searches=False,
    ),
    Agent(
        "cursor",
        "Cursor",
        AgentFiles((".cursor/mcp.json",), FOLDER),
        AgentFiles(("{home}/.cursor/mcp.json",)),
        ("cursor", "{home}/.cursor"),
        shape=_stdio(),
    ),
    Agent(
        "vscode",
        "VS Code",
        AgentFiles((".vscode/mcp.json",), FOLDER),
        AgentFiles(("{code}/mcp.json",), FOLDER),
        ("code", "{code}"),
        keys=("servers",),
        shape=_stdio(),
    ),
    Agent(
        "windsurf",
        "Windsurf (Cascade)",
        None,
        AgentFiles(("{home}/.codeium/windsurf/mcp_config.json",)),
        ("windsurf", "{home}/.codeium/windsurf"),
    ),
    Agent(
        "zed",
        "Zed",
        AgentFiles((".zed/settings.json",)),
        AgentFiles(("{zed}/settings.json",)),
        ("zed", "zeditor", "{zed}"),
        keys=("context_servers",),
        shape=_zed,
    ),
    Agent(
        "codex",
        "Codex",
        AgentFiles((".codex/config.toml",), THERE, "it reads the file of a project that is trusted only"),
        AgentFiles(("{codex}/config.toml",), THERE),
        ("codex", "{codex}"),
        keys=("mcp_servers",),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        AgentFiles((".gemini/settings.json",), THERE),
        AgentFiles(("{home}/.gemini/settings.json",), THERE),
        ("gemini", "{home}/.gemini/settings.json"),
    ),
    Agent(
        "qwen",
        "Qwen Code",
        AgentFiles((".qwen/settings.json",), THERE),
        AgentFiles(("{home}/.qwen/settings.json",), THERE),
        ("qwen", "{home}/.qwen"),
    ),
    Agent(
        "opencode",
        "OpenCode",
        AgentFiles(("opencode.json", "opencode.jsonc"), THERE),
        AgentFiles(("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"), THERE),
        ("opencode", "{config}/opencode"),
        keys=("mcp",),
        shape=_listed,
    ),
    Agent(
        "kilo",
        "Kilo Code",
        AgentFiles((".kilo/kilo.jsonc", ".kilo/kilo.json", "kilo.jsonc", "kilo.json")),
        AgentFiles(("{config}/kilo/kilo.jsonc", "{config}/kilo/kilo.json")),
        ("kilo", "{config}/kilo"),
        keys=("mcp",),
        shape=_listed,
    ),
    Agent(
        "cline",
        "Cline (command line, and its extension since June 2026)",
        None,
        AgentFiles(("{cline}/data/settings/cline_mcp_settings.json",)),
        ("cline", "{cline}/data"),
    ),
    Agent(
        "cline-vscode",
        "Cline's extension for VS Code",
        None,
        AgentFiles(
            ("{code}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",),
            remark="from June 2026 on the extension reads the file of --agent cline, and takes this one over once",
        ),
        ("{code}/globalStorage/saoudrizwan.claude-dev",),
    ),
    Agent("continue", "Continue", AgentFiles((".continue/mcpServers/assay.json",)), None, ("cn", "{home}/.continue")),
    Agent(
        "amp",
        "Amp",
        AgentFiles((".amp/settings.json",), THERE),
        AgentFiles(("{config}/amp/settings.json",), THERE),
        ("amp", "{config}/amp"),
        keys=("amp.mcpServers",),
    ),
    Agent(
        "copilot",
        "GitHub Copilot CLI",
        None,
        AgentFiles(("{copilot}/mcp-config.json",), THERE),
        ("copilot", "{copilot}"),
        shape=_stdio(tools=["*"]),
    ),
    Agent(
        "kiro",
        "Kiro",
        AgentFiles((".kiro/settings/mcp.json",)),
        AgentFiles(("{home}/.kiro/settings/mcp.json",)),
        ("kiro", "kiro-cli", "{home}/.kiro"),
    ),
    Agent(
        "junie",
        "JetBrains Junie",
        AgentFiles((".junie/mcp/mcp.json",)),
        AgentFiles(("{home}/.junie/mcp/mcp.json",)),
        ("junie", "{home}/.junie"),
    ),
    Agent(
        "warp",
        "Warp",
        AgentFiles((".warp/.mcp.json",)),
        AgentFiles(("{home}/.warp/.mcp.json",)),
        ("warp-terminal", "{home}/.warp"),
    ),
)

OTHER = Agent("", "another agent", None, None, ())
"""What most agents that are not in the table take."""


def agent_named(name: str) -> Agent:
    """Return the row of a name."""
    for agent in AGENTS:
        if agent.name == name:
            return agent
    raise InputError(
        f"unknown agent '{name}'; {nearest(name, [agent.name for agent in AGENTS])}; for others: assay install --print"
    )
