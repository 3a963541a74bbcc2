"""A lent device belongs to one process; the kernel takes it back."""

import os
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from cards import driver as invented_driver
from cards import name
from sumcurve.cli.messages import ERRORS
from sumcurve.machine import devices, launch, torchrun
from sumcurve.machine.torchrun import TorchrunError
from sumcurve.training.parallel import Group, join, own_card


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The environment of a machine with a driver and four cards; only the driver is invented."""
    return invented_driver(tmp_path_factory.mktemp("driver"))


HOLDER = """
import sys, time
from pathlib import Path
from sumcurve.machine.devices import lease
with lease(sys.argv[1].split(","), Path(sys.argv[2]), wait_seconds=0.02, shares=int(sys.argv[3])) as device:
    print(device, flush=True)
    time.sleep(60)
"""


def hold(pool, locks, shares=1):
    """A process that says which card it has, once it has one."""
    command = [sys.executable, "-c", HOLDER, pool, str(locks), str(shares)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def card_of(process):
    return process.stdout.readline().strip()


def test_two_processes_get_two_devices_and_a_killed_one_frees_its_own(tmp_path):
    first, second = hold("0,1", tmp_path), hold("0,1", tmp_path)
    cards = [card_of(first), card_of(second)]
    third = hold("0,1", tmp_path)
    try:
        assert {*cards} == {"0", "1"}
        time.sleep(0.3)
        assert third.poll() is None  # it waits
        second.kill()
        assert card_of(third) == cards[1]
    finally:
        for process in (first, second, third):
            process.kill()


def test_cards_are_shared_by_those_who_say_so_and_by_no_more(tmp_path):
    """Two by two on two cards; a fifth waits, and so does one that wants a card alone, until a whole card is free."""
    sharers = [hold("a,b", tmp_path, 2) for _ in range(4)]
    waiting = []
    try:
        cards = [card_of(process) for process in sharers]
        assert sorted(cards) == ["a", "a", "b", "b"]
        waiting = [hold("a,b", tmp_path)]
        on_a = [process for process, card in zip(sharers, cards, strict=True) if card == "a"]
        on_a[0].kill()
        assert waiting[0].poll() is None
        assert not select.select([waiting[0].stdout], [], [], 0.5)[0]  # half a card is not one
        on_a[1].kill()
        assert card_of(waiting[0]) == "a"
        fifth = hold("a,b", tmp_path, 2)
        waiting.append(fifth)
        next(process for process, card in zip(sharers, cards, strict=True) if card == "b").kill()
        assert card_of(fifth) == "b"
    finally:
        for process in sharers + waiting:
            process.kill()
            process.wait()


SEVERAL = """
import sys, time
from pathlib import Path
from sumcurve.machine.devices import leases
with leases(sys.argv[1].split(","), int(sys.argv[3]), Path(sys.argv[2]), wait_seconds=0.02) as cards:
    print(",".join(cards.names), flush=True)
    time.sleep(float(sys.argv[4]))
"""


def hold_several(pool, locks, number, seconds=60.0):
    """A process that says which cards it has, once it has so many."""
    command = [sys.executable, "-c", SEVERAL, pool, str(locks), str(number), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def silent(process, seconds=0.5):
    """Whether it waits."""
    return not select.select([process.stdout], [], [], seconds)[0]


@contextmanager
def ended(*processes):
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_two_that_want_two_of_three_cards_both_finish(tmp_path):
    """Each by itself would hold one and wait for the other's. They start together, in many orders."""
    for _ in range(3):
        with ended(*(hold_several("a,b,c", tmp_path, 2, 0.1) for _ in range(4))) as processes:
            cards = [process.communicate(timeout=30)[0].strip() for process in processes]
            assert all(len(set(pair.split(","))) == 2 for pair in cards)


def test_who_wants_two_cards_is_not_overtaken_and_overtakes_nobody(tmp_path):
    """A card is free all the time, which who wants one takes only when it is its turn."""
    with ended(hold_several("a,b", tmp_path, 1)) as (holder,):
        assert card_of(holder) == "a"
        with ended(hold_several("a,b", tmp_path, 2)) as (pair,):
            assert silent(pair, 1.0)
            with ended(hold("a,b", tmp_path)) as (single,):
                assert silent(single)
                holder.kill()
                assert card_of(pair) == "a,b"
                with ended(hold_several("a,b", tmp_path, 2)) as (later,):
                    assert silent(later)
                    pair.kill()
                    assert card_of(single) in ("a", "b")  # whichever lock of the killed process is freed first
                    assert silent(later)
                    single.kill()
                    assert card_of(later) == "a,b"


def test_a_process_that_is_killed_frees_all_its_cards_and_its_turn(tmp_path):
    with ended(hold_several("a,b", tmp_path, 2), *(hold_several("a,b", tmp_path, 2) for _ in range(2))) as processes:
        for _ in processes:
            (ready,) = select.select([process.stdout for process in processes if process.poll() is None], [], [], 30)[0]
            holder = next(process for process in processes if process.stdout is ready)
            assert card_of(holder) == "a,b"
            assert all(silent(process, 0.2) for process in processes if process.poll() is None)
            holder.kill()
            holder.wait()
    with ended(hold_several("a", tmp_path, 1)) as (holder,):
        assert card_of(holder) == "a"
        with ended(hold_several("a,b", tmp_path, 2)) as (waiting,):
            assert silent(waiting)
        with ended(hold("b,a", tmp_path)) as (other,):
            assert card_of(other) == "b"


def test_a_process_of_a_torchrun_by_hand_waits_for_nobody_s_turn(driver, usable, tmp_path):
    """Its second would wait for who wants two cards, who waits for the first."""
    pool = f"{name(0)},{name(1)}"
    with ended(hold(name(0), tmp_path)) as (first,):
        assert card_of(first) == name(0)
        with ended(hold_several(pool, tmp_path, 2)) as (waiting,):
            assert silent(waiting)
            second = driver | TORCHRUN | {"CUDA_VISIBLE_DEVICES": pool, "LOCAL_RANK": "1"}
            with devices.device(second, tmp_path):
                assert os.environ["CUDA_VISIBLE_DEVICES"] == name(1)


def test_gpus_per_run_are_whole_cards_or_a_share_of_one_or_refused():
    told = {"1": (1, 1), "2": (2, 1), "8": (8, 1), "1.0": (1, 1), "0.5": (1, 2), "0.33": (1, 3), "0.25": (1, 4)}
    assert {text: devices.per_run({devices.PER_RUN: text}) for text in told} == told
    assert devices.per_run({}) == (1, 1)
    for text in ("2.5", "2.0", "0", "-1", "-2", "0.4", "half", "nan", "inf", "²", ""):
        with pytest.raises(devices.DeviceError, match=devices.PER_RUN):
            devices.per_run({devices.PER_RUN: text})


def test_a_training_of_two_cards_leases_both_at_once_and_says_for_what_it_waits(driver, tmp_path):
    environment = driver | {"CARDS": "1,3", devices.PER_RUN: "2"}
    with devices.several(environment, tmp_path) as cards:
        assert cards.names == (name(1), name(3))
        assert len(cards.files) == 2
    waits = []
    with ended(hold(name(3), tmp_path)) as (holder,):
        assert card_of(holder) == name(3)

        def say(text):
            waits.append(text)
            holder.kill()

        with devices.several(environment, tmp_path, say) as cards:
            assert cards.names == (name(1), name(3))
    assert waits == [f"waiting for 2 GPUs: {name(1)}, {name(3)} in use by other processes (locks in {tmp_path})"]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            {"SUMCURVE_DEVICE": "cpu"},
            "may use no GPU: set it to 1 .*on CPUs `torchrun --nproc-per-node 3 -m sumcurve make`",
        ),
        ({"CUDA_VISIBLE_DEVICES": ""}, "may use no GPU: set it to 1"),
        ({"CUDA_VISIBLE_DEVICES": "2,0"}, f"may use GPUs {name(2)}, {name(0)}: set it to 2"),
    ],
)
def test_more_cards_than_there_are_is_an_error_that_says_what_to_do(driver, tmp_path, told, said):
    with (
        pytest.raises(devices.DeviceError, match=f"{devices.PER_RUN} is 3 and this process {said}"),
        devices.several(driver | told | {devices.PER_RUN: "3"}, tmp_path),
    ):
        pass


def test_what_is_no_training_leases_one_card(driver, usable, tmp_path):
    """Decoding, with the same environment; and alone."""
    with devices.device(driver | {devices.PER_RUN: "2"}, tmp_path) as lease:
        assert os.environ["CUDA_VISIBLE_DEVICES"] == name(0)
        assert lease == devices.Lease("cuda", exclusive=True)


def test_a_process_whose_parent_leased_its_card_takes_it_without_a_lock(driver, usable, tmp_path):
    with devices.leases([name(0), name(1)], 2, tmp_path) as cards:
        told = launch.environment_of(1, cards.names, driver | {devices.PER_RUN: "2"}, 29400)
        assert torchrun.place(told) == torchrun.Place(rank=1, size=2, local_rank=1, local_size=2)
        with devices.device(told, tmp_path) as lease:
            assert lease == devices.Lease("cuda", exclusive=True)
            assert os.environ["CUDA_VISIBLE_DEVICES"] == name(1)
            assert own_card(told, 1) == 0


def test_a_shared_card_is_no_exclusive_lease(driver, usable, tmp_path):
    """Which tables refuse to read seconds from (`curves`, `tables.efficiency`)."""
    environment = driver | {"CARDS": "1", devices.PER_RUN: "0.5"}
    with devices.device(environment, tmp_path) as first, devices.device(environment, tmp_path) as second:
        assert first == second == devices.Lease("cuda", exclusive=False)
    with devices.device(driver | {"CARDS": "1"}, tmp_path) as alone:
        assert alone.exclusive


def test_cards_are_named_by_uuid_however_they_are_asked_for(driver):
    """An index and a UUID of one card are one name, so one lease; blanks are no part of a name."""
    assert devices.pool(driver) == [name(card) for card in range(4)]
    for asked in ("2,1", " 2, 1", f"{name(2)},{name(1)}", f"2, {name(1)}", "2,1,-1,0", "2,1,9"):
        assert devices.pool(driver | {"CUDA_VISIBLE_DEVICES": asked}) == [name(2), name(1)], asked
    # In a container with one card, its device file is called nvidia3 and CUDA calls the card 0.
    assert devices.pool(driver | {"CARDS": "3"}) == [name(3)]


@pytest.mark.parametrize(
    "hides",
    [
        {"SUMCURVE_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "0"},
        *({"CUDA_VISIBLE_DEVICES": text} for text in ("", " ", "-1", "NoDevFiles", "none", "void", "-1,0")),
    ],
)
def test_what_hides_all_cards_is_the_cpu(hides, driver, tmp_path):
    environment = driver | hides
    assert devices.pool(environment) == []
    with devices.device(environment, tmp_path) as lease:
        assert lease == devices.Lease("cpu", exclusive=True)


def test_a_mig_device_is_one_however_it_is_asked_for(driver, tmp_path):
    """By its UUID, by the name that such devices once had, by its index: one name, so one lease."""
    mig = driver | {"SLICED": "1"}
    first, second = (name(card).replace("GPU", "MIG") for card in (1, 2))
    for asked in (f"MIG-GPU-1b2c/1/0,{second}", f"{first}, MIG-GPU-1b2c/2/0", f"{first},{second},MIG-GPU-1b2c/1/0"):
        found = devices.pool(mig | {"CUDA_VISIBLE_DEVICES": asked})
        assert found == [first, second], asked
    with devices.lease(found, tmp_path) as one, devices.lease(found, tmp_path) as other:
        assert [one, other] == [first, second]
    assert devices.pool(mig | {"CUDA_VISIBLE_DEVICES": "1"}) == [first]
    assert devices.pool(mig | {"CARDS": "1"}) == [first]


def test_a_driver_that_fails_is_told(driver):
    with pytest.raises(devices.DeviceError, match="cuInit returned 803"):
        devices.pool(driver | {"BROKEN": "1"})
    with pytest.raises(devices.DeviceError, match="GPU 7 was granted"):
        devices.pool(driver | {"CUDA_VISIBLE_DEVICES": "7"})


def test_a_machine_without_a_driver_has_no_cards(monkeypatch):
    """Whatever this machine is, the library asked for is in no folder."""
    monkeypatch.setattr(devices, "_ASK", devices._ASK.replace("libcuda.so.1", "libcuda-of-no-machine.so.1"))
    assert devices.pool({}) == []


@pytest.fixture
def usable(monkeypatch):
    """As if torch could use what was lent; what a lease sets in the environment is undone."""
    monkeypatch.setattr(devices, "_require_cuda", lambda lent: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


def test_processes_of_one_allocation_take_different_cards(driver, usable, tmp_path):
    environment = driver | {"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "0,1"}
    with devices.device(environment, tmp_path) as first:
        card = os.environ["CUDA_VISIBLE_DEVICES"]
        with devices.device(environment, tmp_path) as second:
            assert {card, os.environ["CUDA_VISIBLE_DEVICES"]} == {name(0), name(1)}
            assert first == second == devices.Lease("cuda", exclusive=True)


def test_single_precision_on_a_card_is_no_tf32(driver, usable, tmp_path, monkeypatch):
    """torch's own choice for cuDNN is TF32: a mantissa of 10 bits in every LSTM and convolution."""
    import torch

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    with devices.device(driver, tmp_path):
        assert not torch.backends.cudnn.allow_tf32
        assert torch.get_float32_matmul_precision() == "highest"


TORCHRUN = {
    "TORCHELASTIC_RUN_ID": "none",
    "RANK": "2",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "29400",
}


def test_ranks_take_the_cards_of_their_numbers(driver, usable, tmp_path):
    environment = driver | TORCHRUN | {"CUDA_VISIBLE_DEVICES": "3,1"}
    with devices.device(environment | {"LOCAL_RANK": "1"}, tmp_path):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == name(1)
        with devices.device(environment, tmp_path):
            assert os.environ["CUDA_VISIBLE_DEVICES"] == name(3)
    many = devices.device(environment | {"LOCAL_WORLD_SIZE": "3"}, tmp_path)
    with pytest.raises(devices.DeviceError, match=r"3 processes .* 2 GPUs"), many:
        pass


def test_a_rank_that_sees_several_cards_computes_on_its_own():
    assert own_card({}, 4) == 0
    third = TORCHRUN | {"LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "4"}
    assert own_card(third, 4) == 3
    assert own_card(third, 1) == 0  # its lease shows it one
    with pytest.raises(ValueError, match="LOCAL_RANK is 3 and this process sees 2"):
        own_card(third, 2)


@pytest.mark.parametrize("left", [{"RANK": "1"}, {"RANK": ""}, {"WORLD_SIZE": "2"}, {"LOCAL_RANK": "x"}, "the rest"])
def test_what_a_cluster_exports_without_torchrun_is_one_process(monkeypatch, left):
    """As a second one it would train without the folder's lock, and wait for others that nobody started."""
    told = {name: value for name, value in TORCHRUN.items() if name != torchrun.RUN} if left == "the rest" else left
    for key, value in told.items():
        monkeypatch.setenv(key, value)
    assert torchrun.place(told) == torchrun.Place(rank=0, size=1, local_rank=0, local_size=1)
    assert join(SimpleNamespace(type="cpu")) == Group(rank=0, size=1)
    assert own_card(told, 4) == 0
    assert devices._of_rank(["GPU-3", "GPU-1"], told) == ["GPU-3", "GPU-1"]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (dict.fromkeys(TORCHRUN, "") | {"TORCHELASTIC_RUN_ID": "none"}, "RANK is '', WORLD_SIZE is ''"),
        (TORCHRUN | {"RANK": "4"}, "RANK is '4'"),
        (TORCHRUN | {"RANK": "-1"}, "RANK is '-1'"),
        (TORCHRUN | {"LOCAL_WORLD_SIZE": "0"}, "LOCAL_RANK is '0'"),
        ({key: value for key, value in TORCHRUN.items() if key != "MASTER_PORT"}, "MASTER_PORT is None"),
    ],
)
def test_half_of_what_torchrun_says_is_refused_with_what_to_do(told, said):
    assert torchrun.place(TORCHRUN) == torchrun.Place(rank=2, size=4, local_rank=0, local_size=2)
    with pytest.raises(TorchrunError, match=rf"{said}.*unset TORCHELASTIC_RUN_ID") as caught:
        torchrun.place(told)
    assert isinstance(caught.value, ERRORS)


def test_a_granted_gpu_that_torch_cannot_use_is_an_error(tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU that torch can use")
    granted = devices.device({"CUDA_VISIBLE_DEVICES": "0"}, tmp_path)
    with pytest.raises(devices.DeviceError, match="cannot use it"), granted:
        pass


@pytest.fixture
def everybodys():
    """A folder like /tmp."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def holds_for_nobody(told: Callable[[], bool]) -> bool:
    """Whether it holds in a process of the user nobody."""
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            status = 0 if told() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two users")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_lock_that_another_user_made_can_be_taken(everybodys, mask):
    """Whatever the umask of who came first."""
    before = os.umask(mask)
    with devices.lease(["0"], everybodys):
        os.umask(before)

    def lent() -> bool:
        with devices.lease(["0"], everybodys) as card:
            return card == "0"

    assert holds_for_nobody(lent)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two users")
def test_a_lock_that_cannot_be_read_is_an_error_that_names_it(everybodys):
    """Made by hand, or by something else of that name: waiting would never end."""
    lock = everybodys / "sumcurve-gpu-0.lock"
    lock.touch(0o600)

    def named() -> bool:
        try:
            with devices.lease(["0"], everybodys):
                return False
        except devices.DeviceError as error:
            return f"{lock}: the lock file" in str(error)

    assert holds_for_nobody(named)


def test_a_lock_file_is_everybodys_and_alone(tmp_path):
    before = os.umask(0o077)
    try:
        with devices.lease(["0"], tmp_path):
            pass
    finally:
        os.umask(before)
    made = sorted(tmp_path.iterdir())  # nothing temporary stays
    assert [path.name for path in made] == ["sumcurve-gpu-0.lock", "sumcurve-turn-0.lock"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o666, 0o666]


def test_bars_have_lines_of_their_own_and_nobody_waits_for_one(tmp_path):
    with devices.bar_line(tmp_path, 2) as first, devices.bar_line(tmp_path, 2) as second:
        assert [first, second] == [0, 1]
        with devices.bar_line(tmp_path, 2) as third:
            assert third == 0
    with devices.bar_line(tmp_path / "a file" / "folder", 2) as line:
        assert line == 0
    (tmp_path / "plain").touch()
    with devices.bar_line(tmp_path / "plain", 2) as line:
        assert line == 0
