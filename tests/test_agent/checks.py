"""What is looked for in a conversation: its events, the answers to its calls, its requests."""

from toolbench.agent import (
    ActionEvent,
    AgentErrorEvent,
    ObservationEvent,
    UserRejectObservation,
)

ANSWERS = (ObservationEvent, AgentErrorEvent, UserRejectObservation)


def of(conversation, kind):
    """The events of *kind*, or one of several kinds."""
    return [event for event in conversation.events if isinstance(event, kind)]


def check_answered(conversation, *, waiting=0):
    """Every call has exactly one answer, but for those that wait; and no answer lacks its call."""
    called = [event.id for event in of(conversation, ActionEvent)]
    answered = [e.action_id for e in of(conversation, ANSWERS) if e.action_id]
    assert len(answered) == len(set(answered))
    assert set(answered) <= set(called)
    assert len(called) - len(answered) == waiting
    ids = {event.id: event.tool_call_id for event in of(conversation, ActionEvent)}
    # It sends and gets no ids
    if conversation.agent.llm.provider != "gemini":
        assert len(set(ids.values())) == len(ids)
    for event in of(conversation, ANSWERS):
        if event.action_id:
            assert event.tool_call_id == ids[event.action_id]


def check_sent(messages):
    """Each call in what a model is sent (OpenAI) is followed by its answer, before anything else."""
    open_ids = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_ids.pop(0)
        else:
            assert not open_ids
            open_ids = [sent["id"] for sent in message.get("tool_calls", ())]
    assert not open_ids


def sent(conversation, place=-1):
    return conversation.agent.llm.requests[place][0]
