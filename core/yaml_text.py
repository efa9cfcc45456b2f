"""YAML, read strictly: what the loader would take in silence or answer with a traceback is a fault with its line."""

from typing import Any

import yaml


def read_yaml(text: str) -> Any:
    """The value of a YAML text. Raises ValueError, in one line that begins with the place, when it has none.

    A key that a mapping has twice is such a fault: YAML forbids it, and the usual loaders keep the last one.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark else ""
        said = str(error.problem or error.context)
        raise ValueError(place + (said if isinstance(error, _Twice) else f"is not YAML: {said}")) from None
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:  # a date or number in shape only, such as 2024-13-01
        raise ValueError(f"holds a value that cannot be read: {error}; put it in quotes") from None


def write_yaml(value: Any) -> str:
    """A YAML text that `read_yaml` reads as `value`; with letters as they are, where that text does."""
    text: str = yaml.safe_dump(value, sort_keys=True, allow_unicode=True)
    # The writer leaves some line ends of Unicode in plain texts, which the reader takes for spaces.
    return text if read_yaml(text) == value else str(yaml.safe_dump(value, sort_keys=True))


class _Twice(yaml.constructor.ConstructorError):
    pass


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    def construct_document(self, node: yaml.Node) -> Any:
        # Before construction, which writes what `<<` brings in among the keys of a mapping.
        left, seen = [node], set()
        while left:
            if id(one := left.pop()) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, yaml.MappingNode):
                self._check_keys(one)
                left += [part for pair in one.value for part in pair]
            elif isinstance(one, yaml.SequenceNode):
                left += one.value
        return super().construct_document(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        first: dict[Any, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            meant = "<<" if key.tag == "tag:yaml.org,2002:merge" else self.construct_object(key)
            line = key.start_mark.line + 1
            if meant in first:
                said = f"the key {key.value!r} is there twice, first on line {first[meant]}; keep one of the two"
                raise _Twice(None, None, said, key.start_mark)
            first[meant] = line
