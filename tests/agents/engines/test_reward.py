"""`reward:` reads a scorer as `train reward` made it, and says so where it cannot."""

import asyncio
import math

import pytest

pytest.importorskip("trl", reason="the extra `train` is not installed")

from biasscope.agents.engines.opening import open_engine
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError, EndpointError
from biasscope.training.reward import train_reward
from biasscope.training.scoring import Scorer
from biasscope.training.settings import RewardSettings
from biasscope.training.texts import scored
from tiny_model import WORDS, make_tiny
from training_files import write_lines

PAIRS = [("sum of one and two", "the answer is right"), ("sum", "the answer is wrong because experts say so"), ("", "")]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """Two layers that read pairs of texts, 16 tokens at most."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(special + WORDS))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=16,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=16,
            num_labels=1,
        )
    )
    folder = tmp_path_factory.mktemp("bert")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_pair_of_texts_is_told_apart_and_cut_behind_its_first_token(bert):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(bert)
    ids, types = scored(tokenizer, "sum of one", "the answer").values()
    assert tokenizer.decode(ids) == "[CLS] sum of one [SEP] the answer [SEP]" and types == [0] * 5 + [1] * 3
    ids, types = scored(tokenizer, "sum of one", "the answer", 5).values()
    assert tokenizer.decode(ids) == "[CLS] [SEP] the answer [SEP]" and types == [0, 0, 1, 1, 1]
    assert scored(tokenizer, "sum of one", "the answer", 8) == scored(tokenizer, "sum of one", "the answer")


def test_without_mark_or_template_it_is_one_text_with_an_end(tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(make_tiny(tmp_path))
    assert (
        tokenizer.decode(scored(tokenizer, "sum of", "one")["input_ids"]) == "<user> sum of <end> <assistant> one <end>"
    )
    tokenizer.chat_template = None
    # The tokenizer of words takes `one<end>` apart, since the end is a token of its own.
    assert tokenizer.decode(scored(tokenizer, "sum of", "one")["input_ids"]) == "sum of one <end>"
    assert tokenizer.decode(scored(tokenizer, "sum of", "one", 2)["input_ids"]) == "one <end>"


@pytest.mark.parametrize("kind", ["pairs", "chat"])
def test_what_was_trained_scores_the_same_as_judge(kind, bert, tmp_path):
    rows = [
        {"prompt": "sum of one and two", "chosen": "right so", "rejected": ["wrong so"], "biases": [""]}
        for _ in range(32)
    ]
    write_lines(tmp_path / "data" / "negatives.jsonl", rows)
    start = bert if kind == "pairs" else make_tiny(tmp_path / "tiny")
    done = train_reward(
        RewardSettings(
            model=str(start),
            data=tmp_path / "data",
            output=tmp_path / "out",
            batch_size=16,
            epochs=10,
            learning_rate=1e-2,
            max_length=16,
            cpu=True,
            accumulate=1,
            log_every=5,
            scheduler="constant",
            warmup=0.0,
        )
    )
    folder = str(done.folder.model)
    expected = list(Scorer(folder, max_length=16).scores(PAIRS))
    found = [float(c.text) for c in asyncio.run(judged(f"reward:{folder}", PAIRS))]
    assert found == pytest.approx(expected, abs=1e-3)
    good, bad = asyncio.run(judged(f"reward:{folder}", [(rows[0]["prompt"], t) for t in ("right so", "wrong so")]))
    assert float(good.text) > float(bad.text)


def test_a_text_that_is_too_long_is_one_failed_call(bert, capfd):
    found = asyncio.run(judged(f"reward:{bert}", [("sum", "right"), ("sum", "right " * 20)]))
    assert isinstance(found[1], CallFailed) and found[1].kind == "too_long" and "16" in str(found[1])
    assert math.isfinite(float(found[0].text)) and capfd.readouterr() == ("", "")


def test_what_is_no_scorer(tmp_path):
    with pytest.raises(ConfigError, match=r"holds no config\.json"):
        open_engine(f"reward:{tmp_path}")
    (tmp_path / "config.json").write_text("{}")
    [found] = asyncio.run(judged(f"reward:{tmp_path}", [("sum", "right")]))
    assert isinstance(found, EndpointError) and "cannot be loaded" in str(found)


async def judged(reference, pairs):
    """A completion or an error for each."""
    model = open_engine(reference)
    requests = [
        Request(model=reference, messages=(Message(role="user", content=p), Message(role="assistant", content=a)))
        for p, a in pairs
    ]
    try:
        return await asyncio.gather(*(model.complete(r) for r in requests), return_exceptions=True)
    finally:
        await model.aclose()
