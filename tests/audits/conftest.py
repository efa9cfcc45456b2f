"""Jobs on a store of their own, and pairs to audit with."""

import pytest
from biasscope.core.job import Job
from biasscope.core.progress import Progress
from biasscope.core.store import Store
from biasscope.data.builtin import builtin_pairs


@pytest.fixture
def job(tmp_path):
    store = Store(tmp_path / "store.db")
    yield Job("run", store, 3, Progress(store, "run"), 4)
    store.close()


@pytest.fixture(scope="session")
def pairs():
    return builtin_pairs(60)
