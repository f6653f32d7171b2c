"""The runtime tools by the names of their packages and classes."""

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
"""The beginning of the names of the classes of each package, in the order of the tools."""

FOR_AGENTS = {
    "ask_human": "AskHuman",
    "edit_file": "EditFile",
    "request_condensation": "CondensationRequest",
}
"""The same for tools that are useful only in a conversation with a model."""
