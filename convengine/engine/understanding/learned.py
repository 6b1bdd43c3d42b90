"""What a sentence is, learned from others: a multinomial logistic regression over vectors, kept as plain arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
#: The digits of a probability that count. The last bits of a vector depend on the processor; decisions must not.
_DIGITS = 3


@dataclass(frozen=True, eq=False)
class Regression:
    """The weights: one row for each class. The last number of a row is the bias."""

    classes: tuple[str, ...]
    weights: Matrix

    def rate(self, vector: Matrix) -> Mapping[str, float]:
        """The probability of each class."""
        scores = self.weights[:, :-1] @ vector + self.weights[:, -1]
        powers = np.exp(scores - scores.max())
        shares = powers / powers.sum()
        return {name: round(float(share), _DIGITS) for name, share in zip(self.classes, shares, strict=True)}


def fit(vectors: Matrix, classes: Sequence[str], sharpness: float) -> Regression:
    """Learn the class of each row of the vectors. `sharpness`: how closely the examples are followed (C)."""
    # The libraries of machine learning take a second and 90 MB, and only who learns needs them.
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        learned = LogisticRegression(C=sharpness, max_iter=2000).fit(vectors, classes)
    weights = np.column_stack([learned.coef_, learned.intercept_])
    if len(learned.classes_) == 2:  # One row says how much more likely the second class is.
        weights = np.stack([np.zeros_like(weights[0]), weights[0]])
    return Regression(tuple(map(str, learned.classes_)), weights.astype(np.float32))
