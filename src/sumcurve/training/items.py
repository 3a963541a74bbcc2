"""Training items that are not in memory: made at every access, or kept in a file of this process."""

import pickle
import tempfile
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class Made(Sequence[Item], Generic[Item]):
    """`size` items, each made by `make` from its number at every access."""

    def __init__(self, size: int, make: Callable[[int], Item]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self._make(index) for index in range(*number.indices(self._size))]
        if not -self._size <= number < self._size:
            raise IndexError(number)
        return self._make(number % self._size)


class Kept(Sequence[Item], Generic[Item]):
    """Items in a temporary file (in TMPDIR), which no other process can open."""

    def __init__(self) -> None:
        self._stream = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the items are used
        self._ends = array("q", [0])

    def append(self, item: Item) -> None:
        self._stream.seek(0, 2)
        self._stream.write(pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL))
        self._ends.append(self._stream.tell())

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        start, end = self._ends[number], self._ends[number + 1]
        self._stream.seek(start)
        # No outside data is read: the file has no name, and holds only the writes of this object.
        return pickle.loads(self._stream.read(end - start))


class Numbers(Sequence[list[int]]):
    """Lists of small whole numbers, four bytes each."""

    def __init__(self, rows: Iterable[Sequence[int]]) -> None:
        self._ends, self._values = array("q", [0]), array("i")
        for row in rows:
            self._values.extend(row)
            self._ends.append(len(self._values))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        return self._values[self._ends[number] : self._ends[number + 1]].tolist()

    def places(self) -> tuple[array, array]:
        """Places of every number of all lists: its list, and its position in it."""
        lists, orders = array("q"), array("i")
        for number in range(len(self)):
            count = self._ends[number + 1] - self._ends[number]
            lists.extend([number] * count)
            orders.extend(range(count))
        return lists, orders
