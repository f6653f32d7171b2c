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
"""The runtime tools by package, with the first part of their class names: `Grep` of `GrepTool`."""

FOR_AGENTS = {
    "ask_human": "AskHuman",
    "edit_file": "EditFile",
    "request_condensation": "CondensationRequest",
}
"""The same for tools that can be used only in a conversation with a model."""
