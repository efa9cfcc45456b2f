import biasscope.validators as face


def test_every_export_is_there_documented_and_listed_in_order() -> None:
    assert face.__all__ == sorted(face.__all__)
    for name in face.__all__:
        assert getattr(face, name).__doc__ or name in ("RuleName", "Step"), name
