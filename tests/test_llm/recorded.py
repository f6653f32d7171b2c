"""One message of each provider in the shape its API sends it: two calls, and words around them."""

import json

TEXT = "I will look for it first."
FIRST = {"pattern": "TODO", "limit": 5}
SECOND = {"path": "/tmp/notes.txt", "content": "a\nb"}

OPENAI = {
    "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "gpt-5.2",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": TEXT,
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "grep", "arguments": json.dumps(FIRST)},
                    },
                    {
                        "id": "call_2",
                        "type": "function",
                        "function": {
                            "name": "file_editor",
                            "arguments": json.dumps(SECOND),
                        },
                    },
                ],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99},
}

RESPONSES = {
    "id": "resp_67ca09c5efe0819096d0511c92b8c890",
    "object": "response",
    "created_at": 1741294021.0,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "model": "gpt-5.2",
    "output": [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "They want TODOs."}],
        },
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "grep",
            "arguments": json.dumps(FIRST),
            "status": "completed",
        },
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "call_2",
            "name": "file_editor",
            "arguments": json.dumps(SECOND),
            "status": "completed",
        },
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "metadata": {},
    "temperature": 1.0,
    "top_p": 1.0,
}

ANTHROPIC = {
    "id": "msg_01Aq9w938a90dw8q",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-5",
    "content": [
        {"type": "thinking", "thinking": "They want TODOs.", "signature": "EqQB"},
        {"type": "text", "text": TEXT},
        {"type": "tool_use", "id": "call_1", "name": "grep", "input": FIRST},
        {"type": "tool_use", "id": "call_2", "name": "file_editor", "input": SECOND},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 472, "output_tokens": 89},
}

GEMINI = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "They want TODOs.", "thought": True},
                    {"text": TEXT},
                    {"functionCall": {"id": "call_1", "name": "grep", "args": FIRST}},
                    {
                        "functionCall": {
                            "id": "call_2",
                            "name": "file_editor",
                            "args": SECOND,
                        }
                    },
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {"promptTokenCount": 90, "totalTokenCount": 120},
    "modelVersion": "gemini-3-pro",
    "responseId": "rKq1aJ",
}

MESSAGES = {
    "openai": OPENAI,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}
KINDS = {
    "openai": ("openai.types.chat", "ChatCompletion"),
    "responses": ("openai.types.responses", "Response"),
    "anthropic": ("anthropic.types", "Message"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
}
"""Where the SDK's class for each is."""
