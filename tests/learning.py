"""`python -m tests.learning`: learn again what clauses do, from the sentences of the languages' tables."""

from importlib import resources
from pathlib import Path

import numpy as np

from convengine.engine.understanding.sentences import FILE, LearnedPart, learn


def main() -> None:
    """Write the weights beside the module that reads them."""
    learned = {subject: learn(subject) for subject in LearnedPart}
    arrays = {f"{subject}.classes": np.array(model.classes) for subject, model in learned.items()}
    # Half of the digits decide the same and take half of the room.
    arrays |= {f"{subject}.weights": model.weights.astype(np.float16) for subject, model in learned.items()}
    np.savez_compressed(Path(str(resources.files("convengine.engine.understanding"))) / FILE, **arrays)


if __name__ == "__main__":
    main()
