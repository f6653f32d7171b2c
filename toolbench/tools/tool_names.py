"""The names of the runtime tools: packages and classes."""

STEMS = {
    "terminal": "Terminal",
    "file_editor": "FileEditor",
    "task_tracker": "TaskTracker",
    "glob": "Glob",
    "grep": "Grep",
    "apply_patch": "ApplyPatch",
    "ipython": "IPython",
    "web_read": "WebRead",
    "browser": "Browser",
}
"""The first part of the class names of each runtime tool, by package: `Grep` for `GrepTool`."""

FOR_AGENTS = {
    "ask_human": "AskHuman",
    "edit_file": "EditFile",
    "request_condensation": "CondensationRequest",
}
"""The first part of the class names of the tools that work only in a conversation."""
