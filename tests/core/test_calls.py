"""A request's id follows its content, however the request came to be."""

from biasscope.core.calls import Message, Request
from hypothesis import given
from hypothesis import strategies as st

QUESTION = (Message(role="user", content="Which is better?"),)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "draw": st.integers(0, 5),
        "seed": st.integers(0, 5),
        "temperature": st.sampled_from([0.0, 0.5]),
        "max_tokens": st.integers(1, 9),
        "messages": st.sampled_from([QUESTION, (*QUESTION, Message(role="assistant", content="A"))]),
    },
)


@given(changes=CHANGES, asked_before=st.booleans())
def test_a_changed_copy_has_the_id_of_its_own_content(changes, asked_before):
    request = Request(model="m", messages=QUESTION)
    if asked_before:
        assert request.id
    fresh = Request(**({"model": "m", "messages": QUESTION} | changes))
    assert request.model_copy(update=changes).id == fresh.id
    assert request.model_copy(update=changes, deep=True).id == fresh.id


def test_role_and_stage_are_not_in_the_id_and_the_id_is_not_in_the_record():
    request = Request(model="m", messages=QUESTION)
    assert request.id == Request(model="m", messages=QUESTION, role="teacher", stage="perturb").id
    assert request == Request(model="m", messages=QUESTION)
    assert "id" not in request.model_dump()
