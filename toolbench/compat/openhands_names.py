"""The modules and names of the OpenHands SDK, and the module of toolbench for each name."""

from collections.abc import Mapping

TOP = "openhands"
SDK, TOOLS = f"{TOP}.sdk", f"{TOP}.tools"
OURS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("Action", "ConversationState", "ImageContent", "Observation", "Schema"),
            *(
                "SecurityRisk",
                "TextContent",
                "Tool",
                "ToolAnnotations",
                "ToolDefinition",
            ),
            *(
                "ExecutableTool",
                "ToolExecutor",
                "list_registered_tools",
                "register_tool",
            ),
            *("Conversation", "resolve_tool"),
        ),
        "toolbench",
    ),
    "Agent": "toolbench.agent",
    "DeclaredResources": "toolbench.core.declarations",
    "FinishTool": "toolbench.core.builtins",
    "ThinkTool": "toolbench.core.builtins",
    "create_mcp_tools": "toolbench.mcp",
    "list_usable_tools": "toolbench.core.registry",
}
"""The module of toolbench for each name of the SDK. The same for each module of the SDK."""

_OF_SDK = [
    "agent",
    "agent.base",
    "context",
    "context.condenser",
    "context.condenser.base",
    "conversation",
    "conversation.base",
    "conversation.conversation_stats",
    "conversation.goal",
    "conversation.impl",
    "conversation.impl.local_conversation",
    "conversation.impl.remote_conversation",
    "conversation.state",
    "conversation.types",
    "conversation.visualizer",
    "critic",
    "critic.base",
    "event",
    "event.hook_execution",
    "event.llm_convertible",
    "event.llm_convertible.action",
    "hooks",
    "llm",
    "llm.llm",
    "llm.llm_profile_store",
    "llm.message",
    "llm.router",
    "llm.streaming",
    "logger",
    "marketplace",
    "mcp",
    "plugin",
    "secret",
    "security",
    "security.confirmation_policy",
    "security.llm_analyzer",
    "security.risk",
    "settings",
    "skills",
    "subagent",
    "tool",
    "tool.builtins",
    "tool.builtins.finish",
    "tool.builtins.think",
    "tool.client_tool",
    "tool.registry",
    "tool.schema",
    "tool.spec",
    "tool.tool",
    "utils",
    "utils.async_utils",
    "utils.models",
    "workspace",
    "workspace.remote",
    "workspace.remote.base",
]
_OF_TOOLS = [
    "browser_use",
    "browser_use.definition",
    "delegate",
    "gemini",
    "preset",
    "preset.default",
    "preset.gpt5",
    "preset.planning",
    "task",
    "tom_consult",
    "workflow",
]
MODULES = frozenset(
    {TOP, SDK, TOOLS, f"{TOP}.workspace"}
    | {f"{SDK}.{name}" for name in _OF_SDK}
    | {f"{TOOLS}.{name}" for name in _OF_TOOLS}
)
"""The modules that the examples and the tools of the SDK import."""
ABSENT_FUNCTIONS = frozenset(
    [
        "agent_definition_to_factory",
        "content_to_str",
        "disable_plugin",
        "disable_skill",
        "discover_skill_resources",
        "enable_plugin",
        "enable_skill",
        "get_default_agent",
        "get_default_condenser",
        "get_default_tools",
        "get_gpt5_agent",
        "get_planning_agent",
        "install_plugin",
        "install_skill",
        "install_skills_from_marketplace",
        "list_installed_plugins",
        "list_installed_skills",
        "load_installed_plugins",
        "load_installed_skills",
        "load_skills_from_dir",
        "maybe_truncate",
        "register_agent",
        "register_agent_if_absent",
        "register_builtins_agents",
        "run_goal",
        "setup_logging",
        "uninstall_plugin",
        "uninstall_skill",
    ]
)
"""Functions that the SDK's examples and tools import, and that toolbench does not have."""
