"""The project that is tormented."""

from tests.faults.conftest import built_shop, launcher, shop

__all__ = ["built_shop", "launcher", "shop"]
