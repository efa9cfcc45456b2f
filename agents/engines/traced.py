"""One span for every call that goes to a model."""

from ...core.calls import Completion, Model, Request
from ...core.tracing import span


class Traced:
    """The model, with a span around each call: its role, stage, tokens and how it ended, in OpenTelemetry's names."""

    def __init__(self, model: Model, run_id: str) -> None:
        self._model, self._run_id = model, run_id

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._model.name

    async def complete(self, request: Request) -> Completion:
        """Answer."""
        with span(
            f"chat {request.role}",
            gen_ai__operation__name="chat",
            gen_ai__request__model=request.model,
            biasscope__run=self._run_id,
            biasscope__role=request.role,
            biasscope__stage=request.stage,
            biasscope__request=request.id,
        ) as tell:
            completion = await self._model.complete(request)
            tell(
                gen_ai__usage__input_tokens=completion.prompt_tokens,
                gen_ai__usage__output_tokens=completion.completion_tokens,
                biasscope__cached_prompt_tokens=completion.cached_prompt_tokens,
                biasscope__finish_reason=completion.finish_reason,
            )
            return completion

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
