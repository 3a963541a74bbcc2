"""Outside programs that are trained: what they are given, what they leave, what they say of targets."""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from sumcurve.capabilities.programs import process
from sumcurve.capabilities.programs.command import Command, CommandSettings
from sumcurve.capabilities.programs.process import MODEL, Limits
from sumcurve.capabilities.programs.program import decode_program, reading
from sumcurve.capabilities.programs.targets import tokens_of
from sumcurve.capabilities.programs.training import learn
from sumcurve.corpora.store import Corpus, rows_of
from sumcurve.models.vocabulary import EOS, SEP, Vocabulary
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record, RecordError, Text, write_jsonl
from sumcurve.store.stage import BuildError, Stage
from sumcurve.study import folders
from sumcurve.systems.file import FileSettings
from sumcurve.systems.system import LOG_OF, Alternatives, Item, Weighing

SIZES = {"percents": [100], "source_tokens": 9, "target_tokens": 9, "search": {"max_tokens": 5}}
CORPUS = CorpusSettings(raw={"path": "x.jsonl", "sha256": "0" * 64}, split={"valid": 1, "test": 3}, **SIZES)
ROWS = [{"id": str(number), "source": [f"Source {number}."], "target": [f"Target {number}"]} for number in range(4)]
ITEMS = [
    Item(
        Record(f"r{number}", [f"source {number} ."], ["to the point", "end"][: 1 + number % 2], group=f"g{number}"),
        Text(f"r{number}", [f"Source {number}."], ["To the point", "End"][: 1 + number % 2]),
    )
    for number in range(4)
]


def program(path, *lines):
    path.write_text("import json, os, sys\n" + "\n".join(lines) + "\n")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def settings(**told):
    return CommandSettings.model_validate({"summarize": "cat > /dev/null"} | told)


def trained(tmp_path, train, **told):
    """What a program has learned of `ROWS`, at what cost."""
    told = settings(train=train, **told).training()
    return learn(told, ROWS, ROWS[:1], 7, 1, "cpu", tmp_path / MODEL, tmp_path / "scratch", tmp_path / "log")


def system(tmp_path, **told):
    (tmp_path / MODEL).mkdir(exist_ok=True)
    inputs = {MODEL: tmp_path / MODEL, LOG_OF: tmp_path / "logs" / "run.log"}
    return Command(Command.specify(settings(train="true", **told), CORPUS), inputs)


def test_a_training_gets_records_seed_and_settings_and_its_cost_is_measured(tmp_path):
    lines = [
        "train, valid = (open(os.environ[f'SUMCURVE_{name}']).read() for name in ('TRAIN', 'VALID'))",
        "told = [os.environ[name] for name in ('SUMCURVE_SEED', 'SUMCURVE_DEVICE', 'RATE', 'OMP_NUM_THREADS')]",
        "open(os.environ['SUMCURVE_MODEL'] + '/all.json', 'w').write(json.dumps([train, valid, told]))",
        "print('learning'); print('done', file=sys.stderr)",
        "[number ** 2 for number in range(3_000_000)]",
    ]
    cost = trained(tmp_path, program(tmp_path / "p.py", *lines), settings={"RATE": 0.5})
    train, valid, told = json.loads((tmp_path / MODEL / "all.json").read_text())
    assert [json.loads(line) for line in train.splitlines()] == ROWS
    assert [json.loads(line) for line in valid.splitlines()] == ROWS[:1]
    assert told == ["7", "cpu", "0.5", "1"]
    assert set((tmp_path / "log").read_text().split()) == {"learning", "done"}
    assert 0.05 < cost < 60


TELLS = "open(os.environ['SUMCURVE_MODEL'] + '/all.json', 'w').write(json.dumps(dict(os.environ)))"
BY_SUMCURVE = {"SUMCURVE_TRAIN", "SUMCURVE_VALID", "SUMCURVE_SEED", "SUMCURVE_MODEL", "SUMCURVE_SCRATCH"}
BY_SUMCURVE |= {"SUMCURVE_DEVICE", "OMP_NUM_THREADS"}


def test_of_this_machine_s_variables_a_program_gets_those_that_start_programs_and_those_it_names(tmp_path, monkeypatch):
    machine = {"PATH": os.environ["PATH"], "HOME": "/h", "LC_TIME": "C", "TMPDIR": str(tmp_path), "MKL_CBWR": "AUTO"}
    for name in set(os.environ) - {"PATH"}:
        monkeypatch.delenv(name)
    for name, value in {**machine, "HF_TOKEN": "secret", "HF_HOME": "/hub", "SUMCURVE_FAIRSEQ": "x"}.items():
        monkeypatch.setenv(name, value)
    tells = program(tmp_path / "p.py", TELLS)
    trained(tmp_path, tells, environment=["HF_HOME"], settings={"HOME": "/own"})
    told = json.loads((tmp_path / MODEL / "all.json").read_text())
    for name in {*told} - {*machine, *BY_SUMCURVE} - {"HF_HOME"}:
        assert name in ("PWD", "SHLVL", "OLDPWD", "_", "LC_CTYPE"), name  # a shell's and Python's own
    assert {name: told.get(name) for name in machine} == machine | {"HOME": "/own"}
    assert told["HF_HOME"] == "/hub"
    assert told.keys() >= BY_SUMCURVE
    monkeypatch.delenv("HF_HOME")
    with pytest.raises(RecordError, match=r"environment: the variable HF_HOME of `.*p\.py` is not set"):
        system(tmp_path, summarize=tells, environment=["HF_HOME"])


def test_a_list_of_variables_decides_a_name_only_where_there_is_one():
    def specified(**told):
        given = settings(train="true", **told)
        return Command.specify(given, CORPUS), given.training()

    assert specified(environment=[]) == specified()
    assert all("environment" not in told for told in specified())
    assert specified(environment=["B", "A"]) == specified(environment=["A", "B"])
    assert all(told["environment"] == ["A"] for told in specified(environment=["A"]))
    with pytest.raises(ValidationError, match="environment: RATE has its value from `settings`"):
        specified(environment=["RATE"], settings={"RATE": 1})


def test_an_error_of_a_program_names_the_system_the_command_and_its_log(tmp_path):
    for name, field in (("test.jsonl", "record"), ("test.text.jsonl", "text")):
        write_jsonl(tmp_path / name, (getattr(item, field).as_dict() for item in ITEMS))
    rows = rows_of(Corpus(tmp_path).part("test"), [2, 0])  # what a program is given: texts with groups, as drawn
    assert [(row["source"], row["group"]) for row in rows] == [(["Source 2."], "g2"), (["Source 0."], "g0")]
    told = Command.specify(settings(summarize="echo no model >&2; exit 2"), CORPUS)
    specification = {"corpus": "corpora/tales", "system": "command", "told": told}
    (tmp_path / "stage").mkdir()
    stage = Stage(tmp_path / "stage", "tales-theirs-12345678", tmp_path, note=print)
    message = (
        r"tales-theirs-12345678: `echo no model .*` ended with exit status 2; it said:\nno model\n\(its log: (.*)\)"
    )
    with pytest.raises(BuildError, match=message):
        folders.system(specification, {"corpora/tales": tmp_path}, stage)
    assert (tmp_path / "logs" / "programs" / "tales-theirs-12345678.log").read_text() == "no model\n"


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ("exit 3", "ended with exit status 3 and said nothing"),
        ("echo no GPU >&2; exit 1", "exit status 1; it said:\nno GPU"),
        ("true", r"left no file in the folder \$SUMCURVE_MODEL"),
        ('ln -s /etc/hosts "$SUMCURVE_MODEL/hosts"', r"left a link in \$SUMCURVE_MODEL \(hosts\)"),
        ('head -c 3000000 /dev/zero > "$SUMCURVE_MODEL/big"', "max_gigabytes"),
        ('yes > "$SUMCURVE_MODEL/big"', "more than the 2,147,483 that its `max_gigabytes` allows, and was stopped"),
        ("sleep 100", r"has run for 3 seconds .* raise its `train_timeout`"),
    ],
)
def test_a_training_that_fails_or_never_ends_is_named_with_what_it_did(tmp_path, monkeypatch, train, message):
    monkeypatch.setattr(process, "LOOK", 0.1)
    with pytest.raises(RecordError, match=message):
        trained(tmp_path, train, max_gigabytes=0.002, train_timeout=3 if "sleep" in train else 60)


def test_a_training_goes_on_from_what_it_kept_when_it_was_killed(tmp_path):
    line = 'if [ -f "$SUMCURVE_SCRATCH/half" ]; then cp "$SUMCURVE_SCRATCH/half" "$SUMCURVE_MODEL"; else '
    line += 'echo one > "$SUMCURVE_SCRATCH/half"; kill -9 $$; fi'
    with pytest.raises(RecordError, match="was killed by signal 9"):
        trained(tmp_path, line)
    (tmp_path / MODEL).rmdir()
    trained(tmp_path, line)
    assert (tmp_path / MODEL / "half").read_text() == "one\n"


def test_a_command_that_only_summarizes_is_told_as_it_always_was():
    """Names of outputs are digests of this."""
    told = {"command": "cat", "files": {}, "timeout": 3600, "lower": True, "split": False, "max_tokens": 5}
    assert Command.specify(CommandSettings(summarize="cat"), CORPUS) == told


def test_endless_output_is_stopped_and_what_was_said_is_kept_in_part(tmp_path, monkeypatch):
    target, log = tmp_path / "out", tmp_path / "log"
    with pytest.raises(RecordError, match=r"`yes` wrote more than 70,000 bytes to its standard output and was stopped"):
        process.run("yes", log, Limits(60, output=70_000), {}, target=target)
    assert target.stat().st_size <= 70_000
    monkeypatch.setattr(process, "LOG", 1000)
    with pytest.raises(RecordError, match="last"):
        process.run("yes noise | head -n 10000; echo last; exit 1", log, Limits(60), {})
    assert 1000 < log.stat().st_size < 1100


def test_what_the_shell_left_running_does_not_hold_us(tmp_path):
    start = time.monotonic()
    process.run("sleep 50 & echo said", tmp_path / "log", Limits(40), {})
    assert (tmp_path / "log").read_text() == "said\n"
    assert time.monotonic() - start < 20


# What leaves the shell's process group and session, and whose parents have ended: what people call a daemon.
DAEMON = """
import os, pathlib, sys, time
if not os.fork():
    os.setsid()
    if not os.fork():
        pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()}\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
"""


def daemon(folder: Path, then: str = "time.sleep(600)") -> tuple[str, Path]:
    """A shell line that leaves one running, and the file that has its process id."""
    (folder / "daemon.py").write_text(DAEMON.replace("time.sleep(600)", then))
    return shlex.join([sys.executable, str(folder / "daemon.py"), str(folder / "pid")]), folder / "pid"


def running(pid: Path) -> bool:
    """Whether the process of a file that it has written its id to is there."""
    return Path(f"/proc/{pid.read_text().strip()}").exists()


def wait_for(path: Path) -> str:
    return f"while [ ! -s {shlex.quote(str(path))} ]; do sleep 0.1; done"


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere who has left the group is not found")


@on_linux
@pytest.mark.parametrize(
    ("then", "seconds", "error"),
    [("sleep 600", 3, "has run for 3 seconds"), ("exit 5", 60, "status 5"), ("kill -9 $$", 60, "signal 9")],
)
def test_a_daemon_does_not_outlive_the_line_that_started_it(tmp_path, then, seconds, error):
    line, pid = daemon(tmp_path)
    with pytest.raises(RecordError, match=error):
        process.run(f"{line} & {wait_for(pid)}; {then}", tmp_path / "log", Limits(seconds), {})
    assert not pid.exists() or not running(pid)


@on_linux
def test_a_daemon_of_a_line_that_ended_well_is_stopped_and_its_seconds_are_counted(tmp_path):
    work = "sum(number ** 2 for number in range(10_000_000)); "
    work += "pathlib.Path(sys.argv[1] + '.done').write_text(str(time.process_time())); time.sleep(600)"
    line, pid = daemon(tmp_path, work)
    done = tmp_path / "pid.done"
    cost = trained(tmp_path, f'{line}; {wait_for(done)}; echo x > "$SUMCURVE_MODEL/x"')
    assert not running(pid)
    assert cost > float(done.read_text())


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=on_linux)])
def test_who_ends_stops_what_was_started(tmp_path, number):
    lines = [
        "from pathlib import Path; from sumcurve.capabilities.programs.process import Limits, run",
        f"run('echo $$ > pid; sleep 600; true', Path({str(tmp_path / 'log')!r}), Limits(60), {{}})",
    ]
    started = subprocess.Popen([sys.executable, "-c", "\n".join(lines)], cwd=tmp_path)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert started.poll() is None
        time.sleep(0.1)
    started.send_signal(number)
    assert started.wait() == (128 + number if number == signal.SIGTERM else -number)
    end = time.monotonic() + 20
    while number == signal.SIGKILL and running(pid) and time.monotonic() < end:  # nobody is left who waits for it
        time.sleep(0.1)
    assert not running(pid)


def test_summaries_are_read_from_what_was_learned_which_stays_as_it_is(tmp_path):
    trained(tmp_path, 'cp "$SUMCURVE_TRAIN" "$SUMCURVE_MODEL/learned"')
    lines = ["known = open(os.environ['SUMCURVE_MODEL'] + '/learned').readlines()"]
    lines += ["assert open(os.environ['SUMCURVE_ITEMS']).read() == sys.stdin.read()"]
    lines += ["[print(json.loads(line)['target'][0]) for line in known]"]
    says = system(tmp_path, summarize=program(tmp_path / "p.py", *lines))
    assert list(says.summarize(ITEMS)) == [[f"target {number}"] for number in range(4)]
    writes = system(tmp_path, summarize='touch "$SUMCURVE_MODEL/cache"; cut -c1')
    with pytest.raises(RecordError, match=r"changed cache in \$SUMCURVE_MODEL, which is read only"):
        list(writes.summarize(ITEMS))


@pytest.mark.parametrize("most", [1, 3, 4, 5, 6, 9])
def test_targets_are_cut_and_counted_as_the_vocabulary_does(most):
    sentences = ["a b c", "", "d", "e f"]
    vocabulary = Vocabulary("abcdef")
    _, expected = vocabulary.target([one.split(" ") for one in sentences if one], [], most)
    cut, kinds = tokens_of(sentences, most)
    assert [{EOS: 2, SEP: 1}.get(token, 0) for token in expected] == kinds
    words = [vocabulary.words[token] for token in expected if token not in (EOS, SEP)]
    assert " ".join(cut).split() == words


CHANCES = [
    "for row in map(json.loads, sys.stdin):",
    "    words = ' '.join(row['target']).split()",
    "    own = int(row['source'][0].split()[1][0])",
    "    print(json.dumps({'id': row['id'], 'logp': [-own - place / 8 for place in range(len(words) + END)]}))",
]


@pytest.mark.parametrize("end", [0, 1])
def test_log_probabilities_stand_where_their_words_and_sources_do(tmp_path, end):
    """A program that says of word n, given source s, -(s + n / 8): the table of all of them is known."""
    says = system(tmp_path, logp=program(tmp_path / "p.py", f"END = {end}", *CHANCES))
    found = reading(says, ITEMS, Reading(others=2), most=9)
    assert found.sources.shape == (2, 4)
    for number, item in enumerate(ITEMS):
        line = slice(*found.starts[number : number + 2])
        words = " ".join(item.record.target).split()
        for source, values in [(number, found.own), *zip(found.sources[:, number], found.others, strict=True)]:
            expected = [-source - place / 8 for place in range(len(words) + end)] + [0.0] * (1 - end)
            if len(item.record.target) == 2:
                expected.insert(3, 0.0)  # between the sentences
            assert values[line] == pytest.approx(expected)
    assert found.known.all()
    assert (found.sources != np.arange(4)).all()
    total = says.logp(ITEMS[:1], [["to the point"]])[0]
    assert total == pytest.approx(math.fsum(-place / 8 for place in range(3 + end)))


def test_targets_of_a_source_are_weighed_as_far_as_the_run_reads_them(tmp_path):
    told = Command.specify(settings(train="true", logp=program(tmp_path / "p.py", "END = 1", *CHANCES)), CORPUS)
    (tmp_path / "run" / MODEL).mkdir(parents=True)
    says = Command.of_run(told, tmp_path / "run", {LOG_OF: tmp_path / "run.log"}, "cpu", target_tokens=3)
    assert isinstance(says, Weighing)
    assert says.environment["SUMCURVE_DEVICE"] == "cpu"
    targets = [["a b", "c"], ["a b", "d"], ["a"]]
    first, second = says.weigh([Alternatives(ITEMS[1], targets), Alternatives(ITEMS[2], targets[2:])])
    assert first.seen == [["a b"], ["a b"], ["a"]]  # a mark is the third token
    assert first.tokens == [3, 3, 2]  # words, and the end that the program speaks of
    assert first.logp == [-3.375, -3.375, -2.125]
    assert (second.seen, second.logp) == ([["a"]], [-4.125])


def test_an_output_with_log_probabilities_is_read_as_ours_is(tmp_path):
    from sumcurve.decoding.logp import read_logp

    command = program(tmp_path / "p.py", "END = 1", *CHANCES)
    says = system(tmp_path, logp=command, summarize="cut -c1-3")
    (tmp_path / "out").mkdir()
    decode_program(says, ITEMS, Reading(others=3), 9, tmp_path / "out")
    found = read_logp(tmp_path / "out", [item.record.id for item in ITEMS])
    assert found.own == pytest.approx(reading(says, ITEMS, Reading(others=3), 9).own)
    assert len((tmp_path / "out" / "summaries.jsonl").read_text().splitlines()) == 4
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["run.log", "run.logp.log"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (None, "has no command `logp` beside it"),
        ("pass", r"no line of id '0' \(1 of 1 have none\)"),
        ("print('{')", r"the output of `.*`:1: b'\{\\n' is no JSON object"),
        ("print(json.dumps([1]))", ":1: .* is no JSON object"),
        ("print(json.dumps({'id': '0', 'logp': [-1]}))", ":1: id '0' has 1 log-probabilities for a target of 3 words"),
        ("print(json.dumps({'id': '0', 'logp': 'x'}))", "for a target of 3 words"),
        ("print(json.dumps({'id': '5', 'logp': []}))", ":1: id '5' was not given"),
        ("[print(json.dumps({'id': '0', 'logp': [-1] * 3})) for _ in '12']", ":2: a second line of id '0'"),
        ("print(json.dumps({'id': '0', 'logp': [-1, 0.5, -1]}))", ":1: id '0': 0.5 is no logarithm"),
        ('print(\'{"id": "0", "logp": [-1, -Infinity, -1]}\')', ":1: id '0': -Infinity is no logarithm"),
        ("print(json.dumps({'id': '0', 'logp': [-1, None, -1]}))", ":1: id '0': null is no logarithm"),
    ],
)
def test_log_probabilities_that_are_none_are_named(tmp_path, line, message):
    told = {"logp": program(tmp_path / "p.py", line)} if line else {}
    with pytest.raises(RecordError, match=message):
        system(tmp_path, **told).logp(ITEMS[:1], [["to the point"]])


COMMAND, FILE = lambda told: settings(**told), FileSettings.model_validate


@pytest.mark.parametrize(
    ("read", "told", "message"),
    [
        (COMMAND, {"logp": "cat"}, "`logp` is asked of programs that are trained"),
        (COMMAND, {"settings": {"rate": 1}}, "'rate' becomes an environment variable"),
        (COMMAND, {"settings": {"SUMCURVE_SEED": 1}}, "not beginning with SUMCURVE_"),
        (COMMAND, {"train": "true", "trials": [{"RATE": 1}]}, "each says all of `settings` and nothing else, none"),
        (COMMAND, {"settings": {"RATE": 1}, "trials": [{"RATE": 1}]}, "`trials` are for programs that are trained"),
        (FILE, {"path": "a-{size}.jsonl"}, "braces hold `percent` or `seed`"),
        (FILE, {"path": "a-{percent"}, "braces hold `percent` or `seed`"),
        (FILE, {"path": "a-{percent}.jsonl", "sha256": "0" * 64}, "`sha256` is of a single file"),
        (FILE, {"path": "a-{seed}.jsonl"}, "say in `path` of which percent"),
        (FILE, {"path": "a-{percent}.jsonl", "seeds": [1, 2]}, "several `seeds` need `{seed}`"),
        (FILE, {"path": {}}, "at least 1"),
        (FILE, {"path": {0: "a"}}, "greater than or equal to 1"),
    ],
)
def test_settings_and_paths_that_cannot_be_are_named(read, told, message):
    with pytest.raises(ValidationError, match=message):
        read(told)


def test_files_are_of_the_sizes_and_seeds_that_their_paths_say():
    def of(**told):
        return FileSettings.model_validate(told).trainings([10, 100], [1, 2])

    assert of(path="a.jsonl") == []
    assert of(path="a-{percent}.jsonl") == [(10, 1), (100, 1)]
    assert of(path="a-{percent:03d}-{seed}.jsonl") == [(10, 1), (10, 2), (100, 1), (100, 2)]
    assert of(path={37: "a.jsonl", 5: "b.jsonl"}, seeds=[4]) == [(5, 4), (37, 4)]
    told = FileSettings.model_validate({"path": "a-{percent:03d}-{seed}.jsonl"})
    assert (told.at(10, 2).path, told.at(10, 2).curve) == ("a-010-2.jsonl", False)
