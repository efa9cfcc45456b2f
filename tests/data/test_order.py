from biasscope.core.ids import content_id
from biasscope.data.order import draw_order


def test_balanced_stable_and_seeded() -> None:
    ids = [content_id("pair", i) for i in range(2000)]
    orders = [draw_order(i, 7) for i in ids]
    assert orders == [draw_order(i, 7) for i in ids]
    assert 900 < orders.count("chosen_first") < 1100
    other = [draw_order(i, 8) for i in ids]
    assert 900 < sum(a == b for a, b in zip(orders, other, strict=True)) < 1100


def test_pinned_draws() -> None:
    # A change here would reorder the answers of every run that is resumed.
    assert [draw_order(content_id("pair", i)) == "chosen_first" for i in range(8)] == [
        True,
        False,
        True,
        *[False] * 5,
    ]
