"""Statistics for small numbers: confidence intervals of rates, and tests of differences."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb, erfc, nan, sqrt

# Of 95 %
_Z = 1.959963984540054
# The most outcomes that are added up one by one
_EXACT = 2_000


class Rate(float):
    """A rate: hits divided by total, a number from 0 to 1, or NaN if total is 0.

    Attributes:
        hits: The number of hits.
        total: The number of tries.
        low: The lower end of the 95 % confidence interval.
        high: The upper end of the interval.

    Examples:
        >>> from toolbench.evals import Rate
        >>> rate = Rate(18, 20)
        >>> print(f"{rate:.0%}, between {rate.low:.0%} and {rate.high:.0%}")
        90%, between 70% and 97%
    """

    hits: int
    total: int
    low: float
    high: float

    def __new__(cls, hits: int, total: int) -> "Rate":
        """Return the rate *hits* / *total*."""
        rate = super().__new__(cls, hits / total if total else nan)
        rate.hits, rate.total = hits, total
        rate.low, rate.high = wilson(hits, total)
        return rate

    def __reduce__(self) -> tuple[type["Rate"], tuple[int, int]]:
        return Rate, (self.hits, self.total)

    def differs_from(self, other: "Rate") -> bool:
        """Tell whether the two intervals are disjoint, a cautious test of a difference."""
        return self.low > other.high or other.low > self.high

    def __str__(self) -> str:
        if not self.total:
            return "-"
        return f"{self.hits} of {self.total} ({self.low:.0%} to {self.high:.0%})"

    def __repr__(self) -> str:
        return f"<Rate {self}>"


def wilson(hits: int, total: int, z: float = _Z) -> tuple[float, float]:
    """Return the confidence interval of the true rate, 95 % by default.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927), 209-212.

    Args:
        hits: The number of hits.
        total: The number of tries. If it is 0, the interval is from 0 to 1.
        z: The quantile of the normal distribution. The default gives an interval of 95 %.
    """
    if not total:
        return 0.0, 1.0
    share = hits / total
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    middle, scale = share + z * z / (2 * total), 1 + z * z / total
    low = 0.0 if hits == 0 else (middle - spread) / scale
    high = 1.0 if hits == total else (middle + spread) / scale
    return low, high


@dataclass(frozen=True)
class Stratum:
    """The answers to one case in two reports: how many there are, and how many passed."""

    before_hits: int
    before_total: int
    after_hits: int
    after_total: int


def p_value(strata: Iterable[Stratum]) -> float:
    """Return the two-sided p-value: how likely it is that chance alone causes such a difference.

    Each item of *strata* is one case. The test is the exact conditional test for stratified 2 x 2
    tables: it assumes that, within a case, each answer could equally well come from before or from
    after. If each case has only one answer, this is McNemar's exact test. For very many answers,
    the p-value is an approximation.

    Source: N. Mantel and W. Haenszel, Journal of the National Cancer Institute 22 (1959), 719-748;
    Q. McNemar, Psychometrika 12 (1947), 153-157; A. Agresti, Categorical Data Analysis, 6.3 and
    6.6.
    """
    informative = [s for s in strata if _can_differ(s)]
    if not informative:
        return 1.0
    if sum(_outcomes(s) for s in informative) > _EXACT:
        return _approximate(informative)
    shares = [1.0]
    position = 0
    for stratum in informative:
        low, own = _shares(stratum)
        position += stratum.after_hits - low
        shares = _sums(shares, own)
    # Equal probabilities may differ in the last digit
    limit = shares[position] * (1 + 1e-9)
    return min(1.0, sum(share for share in shares if share <= limit))


def _can_differ(stratum: Stratum) -> bool:
    hits = stratum.before_hits + stratum.after_hits
    total = stratum.before_total + stratum.after_total
    return bool(stratum.before_total and stratum.after_total) and 0 < hits < total


def _range(stratum: Stratum) -> tuple[int, int]:
    """Return the smallest and the largest `after_hits` that are possible with this sum of hits."""
    hits = stratum.before_hits + stratum.after_hits
    return max(0, hits - stratum.before_total), min(hits, stratum.after_total)


def _outcomes(stratum: Stratum) -> int:
    low, high = _range(stratum)
    return high - low


def _shares(stratum: Stratum) -> tuple[int, list[float]]:
    """Return the smallest possible `after_hits`, and the probability of each possible number."""
    hits = stratum.before_hits + stratum.after_hits
    low, high = _range(stratum)
    ways = comb(stratum.before_total + stratum.after_total, hits)
    return low, [
        comb(stratum.after_total, k) * comb(stratum.before_total, hits - k) / ways
        for k in range(low, high + 1)
    ]


def _sums(one: list[float], other: list[float]) -> list[float]:
    """Return the distribution of the sum of two independent numbers."""
    sums = [0.0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            sums[i + j] += a * b
    return sums


def _approximate(strata: list[Stratum]) -> float:
    """Approximate the p-value with the normal distribution and a continuity correction."""
    difference = variance = 0.0
    for s in strata:
        total = s.before_total + s.after_total
        hits = s.before_hits + s.after_hits
        difference += s.after_hits - s.after_total * hits / total
        spread = s.before_total * s.after_total * hits * (total - hits)
        variance += spread / (total * total * (total - 1))
    z = max(abs(difference) - 0.5, 0.0) / sqrt(variance)
    return erfc(z / sqrt(2))
