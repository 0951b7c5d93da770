"""numpy, imported when it is first used, since most commands compute nothing; types of arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Bools", "Floats", "Ints", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Numpy()
    Ints = Floats = Bools = Any
