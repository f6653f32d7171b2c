"""Compare the tools that cases name with the tools that are offered."""

from collections import Counter
from collections.abc import Collection, Iterable

from toolbench.errors import did_you_mean
from toolbench.evals.cases.case import Case
from toolbench.values import clip
from toolbench.wording import counted

# Names of each kind that get a sentence
_MOST = 10


def absent_tools(cases: Iterable[Case], offered: Collection[str]) -> list[str]:
    """Return a sentence for each tool that *cases* expect or forbid, but that is not *offered*."""
    expected: Counter[str] = Counter()
    forbidden: Counter[str] = Counter()
    for case in cases:
        expected.update({call.name for call in case.calls}.difference(offered))
        forbidden.update(set(case.forbid).difference(offered))
    return [
        *_sentences(expected, "expected", ": no answer can pass", offered),
        *_sentences(forbidden, "forbidden", "", offered),
    ]


def _sentences(names: Counter[str], verb: str, effect: str, offered: Collection[str]) -> list[str]:
    sentences = [
        f"{clip(name)} is {verb} in {counted(count, 'case')}, and no tool of that name is "
        f"offered{effect}.{did_you_mean(name, offered)}"
        for name, count in names.most_common(_MOST)
    ]
    if len(names) > _MOST:
        sentences.append(
            f"{counted(len(names) - _MOST, 'more name')} of tools that are not offered: {verb}."
        )
    return sentences
