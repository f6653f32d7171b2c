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
"""What the classes of each package begin with, in the order the tools are offered."""

FOR_AGENTS = {
    "ask_human": "AskHuman",
    "edit_file": "EditFile",
    "request_condensation": "CondensationRequest",
}
"""The same for tools that are of use in a conversation with a model only."""
