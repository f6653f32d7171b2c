"""Run with the SDK's Python: an agent with a scripted model calls the tools; prints what came back."""

import json
import sys

from openhands.sdk import Agent, Conversation, Message, TextContent, Tool
from openhands.sdk.llm import MessageToolCall
from openhands.sdk.testing import TestLLM

spec = json.loads(sys.stdin.read())
for package in spec.get("packages", []):
    __import__(package)
answers = [
    Message(
        role="assistant",
        content=[TextContent(text="")],
        tool_calls=[
            MessageToolCall(
                id=f"c{n}",
                name=c["name"],
                arguments=json.dumps(c["arguments"]),
                origin="completion",
            )
        ],
    )
    for n, c in enumerate(spec["calls"])
]
answers.append(Message(role="assistant", content=[TextContent(text="done")]))
agent = Agent(
    llm=TestLLM.from_messages(answers),
    tools=[Tool(name=n) for n in spec.get("tools", [])],
    mcp_config=spec.get("mcp_config", {}),
)
conversation = Conversation(agent=agent, workspace=spec["workspace"], visualizer=None)
conversation.send_message("go")
conversation.run()
results = []
for event in conversation.state.events:
    observation = getattr(event, "observation", None)
    if observation is not None:
        results.append(
            {
                "tool": event.tool_name,
                "text": "".join(getattr(c, "text", "") for c in observation.to_llm_content),
                "is_error": observation.is_error,
            }
        )
    elif type(event).__name__ == "AgentErrorEvent":
        results.append({"error": event.error})
print("RESULTS", json.dumps(results))
