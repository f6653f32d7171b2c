"""Agents: a model with tools, its conversations, and their events."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.agent.agent import Agent as Agent
    from toolbench.agent.agent import ToolProblem as ToolProblem
    from toolbench.agent.agent import check_tools as check_tools
    from toolbench.agent.condenser import Condenser as Condenser
    from toolbench.agent.condenser import (
        LLMSummarizingCondenser as LLMSummarizingCondenser,
    )
    from toolbench.agent.condenser import Summary as Summary
    from toolbench.agent.conversation import Conversation as Conversation
    from toolbench.agent.events import ActionEvent as ActionEvent
    from toolbench.agent.events import AgentErrorEvent as AgentErrorEvent
    from toolbench.agent.events import Condensation as Condensation
    from toolbench.agent.events import Event as Event
    from toolbench.agent.events import MessageEvent as MessageEvent
    from toolbench.agent.events import NoticeEvent as NoticeEvent
    from toolbench.agent.events import ObservationEvent as ObservationEvent
    from toolbench.agent.events import StopEvent as StopEvent
    from toolbench.agent.events import UserRejectObservation as UserRejectObservation
    from toolbench.agent.security_analyzer import (
        LLMSecurityAnalyzer as LLMSecurityAnalyzer,
    )
    from toolbench.agent.security_analyzer import (
        RuleSecurityAnalyzer as RuleSecurityAnalyzer,
    )
    from toolbench.agent.security_analyzer import SecurityAnalyzer as SecurityAnalyzer

__getattr__, __dir__, __all__ = public_names(__name__, packages=("tools",))
