"""The name of JSON values, once."""

from typing import Any, TypeAlias

#: What JSON can hold. A recursive type says more, and asks for a cast at each of 3,100 places that read a key.
Json: TypeAlias = Any
