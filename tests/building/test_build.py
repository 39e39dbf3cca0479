"""A build is untrusted: it sees its own copy and little else, and it ends whole, whatever it tries."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from evalkit.building import build as build_module
from evalkit.building import walls
from evalkit.building.build import BuildLimits, BuildResult, build_solution, solution_digest
from evalkit.building.commands import Build
from evalkit.errors import UsageError
from tests.casework import make_case, make_solution

SPACES = subprocess.run(
    [
        sys.executable,
        "-c",
        "from evalkit.building import walls; import sys; sys.exit(not walls.enter_name_spaces(False))",
    ],
    check=False,
)
spaced = pytest.mark.skipif(SPACES.returncode != 0, reason="this kernel grants no name spaces of one's own")
landlocked = pytest.mark.skipif(
    not walls.landlock_abi(), reason="this kernel has no Landlock to keep a build in its folder"
)


def build(folder: Path, command: str | tuple[str, ...], install: str | None = None, **limits: float) -> BuildResult:
    limits.setdefault("seconds", 30)
    order = Build(install=install, build=command, module="engine.wasm")
    return build_solution(folder, order, limits=BuildLimits(**limits))  # type: ignore[arg-type]


def python(code: str) -> tuple[str, ...]:
    return ("python", "-c", code)


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    folder = tmp_path / "solution"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.txt").write_text("a")
    (folder / "solution.toml").write_text('model = "m"')
    return folder


class TestWhatABuildGives:
    def test_the_module_that_the_commands_leave_comes_back(self, solution: Path) -> None:
        assert build(solution, "cat src/a.txt > engine.wasm").module == b"a"

    def test_install_runs_before_build_and_in_the_same_copy(self, solution: Path) -> None:
        assert build(solution, "cp made engine.wasm", install="echo 1 > made").module == b"1\n"

    def test_a_command_as_a_list_goes_without_a_shell(self, solution: Path) -> None:
        assert build(solution, ("cp", "src/a.txt", "engine.wasm")).module == b"a"

    def test_the_solutions_own_folder_is_left_untouched(self, solution: Path) -> None:
        before = sorted(solution.rglob("*"))
        build(solution, "rm -rf src; echo > engine.wasm; echo > new")
        assert sorted(solution.rglob("*")) == before

    @pytest.mark.parametrize(
        ("command", "words"),
        [
            ("echo some words; echo more >&2; exit 3", "ended with status 3"),
            ("true", "left no file engine.wasm"),
            ("mkdir engine.wasm", "left no file engine.wasm"),
            ("ln -s /etc/passwd engine.wasm", "left no file engine.wasm"),
            ("mkfifo engine.wasm", "left no file engine.wasm"),
            ("ln -s engine.wasm engine.wasm", "left no file engine.wasm"),
            ("kill -9 $$", "killed by signal 9"),
            ("no-such-compiler", "command not found"),
            (("no-such-compiler",), "command not found"),
        ],
    )
    def test_a_build_that_fails_is_a_value_with_its_reason(
        self, solution: Path, command: str | tuple[str, ...], words: str
    ) -> None:
        result = build(solution, command)
        assert (result.module, result.reason) == (None, "build_failed")
        assert words in str(result.detail)

    def test_the_tail_of_the_log_is_kept(self, solution: Path) -> None:
        log = build(
            solution, "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo last >&2; exit 1"
        ).log
        assert log.endswith("last\n")
        assert "line 2999" in log
        assert len(log) <= 4000

    def test_a_module_over_the_size_limit_is_an_invalid_module_and_is_not_read(self, solution: Path) -> None:
        result = build(solution, "truncate -s 200M engine.wasm")
        assert (result.module, result.reason) == (None, "invalid_module")
        assert "209,715,200 bytes" in str(result.detail)


class TestContainment:
    def test_no_variable_of_the_operator_reaches_a_build(self, solution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOME_API_KEY", "secret-value")
        log = build(solution, "env; exit 1").log
        assert "secret-value" not in log
        names = {line.split("=")[0] for line in log.splitlines() if "=" in line}
        assert names <= {
            "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "SOURCE_DATE_EPOCH", "PYTHONDONTWRITEBYTECODE",
            "PWD", "OLDPWD", "SHLVL", "_",
        }  # fmt: skip

    @landlocked
    def test_nor_through_another_processs_files(self, solution: Path) -> None:
        pids = f"{os.getpid()} $PPID"
        log = build(solution, f"for p in {pids}; do cat /proc/$p/environ && echo leaked; done; exit 1").log
        assert "leaked" not in log
        assert "denied" in log

    @landlocked
    def test_a_build_writes_nowhere_but_in_its_copy_its_home_and_its_temporary_folder(
        self, solution: Path, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        code = f"""
import os, pathlib, tempfile
for place in ({str(outside)!r}, '/tmp/evalkit-escape', os.path.expanduser('~/../../escape'), {str(solution / "x")!r}):
    try:
        pathlib.Path(place).write_text('x')
        print('escaped to', place)
    except OSError:
        pass
pathlib.Path('engine.wasm').write_bytes(b'ok')
pathlib.Path.home().joinpath('a').write_text('x')
tempfile.NamedTemporaryFile().write(b'x')
"""
        result = build(solution, python(code))
        assert result.module == b"ok", result
        assert "escaped" not in result.log
        assert not outside.exists()
        assert not Path("/tmp/evalkit-escape").exists()

    def test_nor_does_it_change_the_mode_the_owner_or_the_times_of_anything_else(
        self, solution: Path, tmp_path: Path
    ) -> None:
        """Landlock does not govern these; the read-only view of the file system does, where this kernel grants one."""
        outside = tmp_path / "outside"
        outside.write_text("x")
        before = outside.stat()
        log = build(
            solution, f"chmod 777 {outside}; touch -d 2001-01-01 {outside}; chmod 700 src/a.txt && echo mine; exit 1"
        ).log
        if "Read-only" not in log:
            pytest.skip("this kernel grants no mount name space of one's own")
        after = outside.stat()
        assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
        assert "mine" in log

    @landlocked
    def test_a_build_cannot_read_the_operators_files(self, solution: Path, tmp_path: Path) -> None:
        (tmp_path / "expected.out").write_text("the held-out answer")
        log = build(solution, f"cat {tmp_path}/expected.out; ls {tmp_path}; exit 1").log
        assert "held-out" not in log
        assert log.count("denied") == 2

    @landlocked
    def test_a_link_in_the_solution_is_no_way_out(self, solution: Path, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("secret")
        (solution / "way-out").symlink_to(tmp_path / "secret")
        assert build(solution, "cat way-out > engine.wasm").module is None

    @pytest.mark.skipif(walls.landlock_abi() < 4, reason="this kernel's Landlock cannot refuse TCP")
    def test_build_has_no_network_and_install_may_have(self, solution: Path) -> None:
        code = "import socket,sys; s=socket.socket(); s.settimeout(2); sys.exit(s.connect_ex(('127.0.0.1', 9)))"
        refused_by_kernel, refused_by_nobody_there = 13, 111
        step = f'python -c "{code}"; echo $? > engine.wasm'
        assert build(solution, step).module == b"%d\n" % refused_by_kernel
        assert build(solution, "true", install=step).module == b"%d\n" % refused_by_nobody_there

    @landlocked
    def test_a_build_cannot_signal_the_harness(self, solution: Path) -> None:
        log = build(solution, f"kill -TERM {os.getpid()} $PPID; exit 1").log
        assert log.lower().count("not permitted") + log.lower().count("no such process") == 2

    def test_what_a_build_leaves_running_is_ended_even_in_a_session_of_its_own(self, solution: Path) -> None:
        marker = f"297{os.getpid()}"
        command = f"setsid sleep {marker} & (setsid sh -c 'sleep {marker}' &) ; sleep 0.2; echo > engine.wasm"
        assert build(solution, command).module
        left = [p for p in psutil.process_iter(["cmdline"]) if marker in " ".join(p.info["cmdline"] or [])]
        assert left == []

    def test_a_build_over_its_time_is_ended(self, solution: Path) -> None:
        began = time.monotonic()
        result = build(solution, "sleep 60", seconds=0.5)
        assert "time limit of 0.5 s" in str(result.detail)
        assert time.monotonic() - began < 20

    def test_memory_is_limited_for_each_process(self, solution: Path) -> None:
        result = build(solution, python("x = bytearray(2 << 30)"), memory_bytes=1 << 30)
        assert result.reason == "build_failed"
        assert "MemoryError" in result.log

    def test_and_for_all_processes_together(self, solution: Path) -> None:
        hog = "import time; x = bytearray(300 << 20); time.sleep(20)"
        start = f"subprocess.Popen([sys.executable, '-c', {hog!r}])"
        code = f"import subprocess, sys; p = [{start} for _ in '123']; p[0].wait()"
        result = build(solution, python(code), memory_bytes=600 << 20)
        assert "memory limit of 600 MiB" in str(result.detail)

    def test_a_file_cannot_grow_without_end(self, solution: Path) -> None:
        result = build(solution, "head -c 3M /dev/zero > big && echo whole > engine.wasm", file_bytes=1 << 20)
        assert result.module is None

    def test_a_flood_of_processes_is_ended_whole(self, solution: Path) -> None:
        code = "import os, time\nfor _ in range(9): os.fork()\ntime.sleep(30)"
        result = build(solution, python(code), processes=100)
        assert "limit of 100 processes" in str(result.detail)

    def test_the_builds_own_folder_is_gone_afterwards(self, solution: Path) -> None:
        where = build(solution, "pwd; exit 1").log.strip()
        assert where
        assert not Path(where).exists()

    def test_a_kernel_without_confinement_is_said_so(self, solution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(build_module, "_run", lambda *_, **__: {"status": 1, "limit": None, "confined": False})
        monkeypatch.setattr(build_module, "_tail", lambda _: "")
        assert "no Landlock" in build(solution, "true").warnings[0]

    def test_a_build_cannot_hand_in_the_module_of_another_solution(self, solution: Path, tmp_path: Path) -> None:
        rival = tmp_path / "rival"
        rival.mkdir()
        (rival / "engine.wasm").write_bytes(b"the rival's")
        result = build(solution, f"cd ..; mv solution x; ln -s {rival} solution")
        assert (result.module, result.reason) == (None, "build_failed")
        assert "replaced the folder" in str(result.detail)

    def test_what_a_build_leaves_however_deep_is_removed_and_loses_no_module(self, solution: Path) -> None:
        code = "import os\nopen('engine.wasm','w').write('ok')\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
        result = build(solution, python(code + "\nprint(os.environ['HOME'])"))
        assert result.module == b"ok"
        assert not Path(result.log.strip()).parent.parent.exists()

    def test_many_short_processes_one_after_another_are_no_flood(self, solution: Path) -> None:
        command = "i=0; while [ $i -lt 300 ]; do (setsid true &); i=$((i+1)); done; echo > engine.wasm"
        assert build(solution, command, processes=100).module

    @spaced
    def test_a_build_sees_no_process_but_its_own_and_cannot_limit_another(self, solution: Path) -> None:
        code = (
            f"import resource\ntry: resource.prlimit({os.getpid()}, resource.RLIMIT_NOFILE)"
            "\nexcept OSError as error: print(type(error).__name__)"
        )
        log = build(solution, (*python(code), "x"), install=None).log
        assert "ProcessLookupError" in log

    @spaced
    def test_chains_of_processes_that_outrun_a_killer_end_with_their_name_space(self, solution: Path) -> None:
        marker = f"398{os.getpid()}"
        code = f"""
import os, signal, sys, time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        end = time.time() + 20
        while time.time() < end:
            if os.fork(): os._exit(0)
        os.execvp('sleep', ['sleep', '{marker}'])
print('started')
"""
        began = time.monotonic()
        build(solution, python(code))
        assert time.monotonic() - began < 15
        assert not [p for p in psutil.process_iter(["cmdline"]) if marker in " ".join(p.info["cmdline"] or [])]

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root could make a device")
    def test_root_has_no_privilege_in_a_build(self, solution: Path) -> None:
        calls = "lambda: os.mknod('b', 0o60600, 0x700), lambda: os.chroot('.'), lambda: os.setuid(1)"
        code = f"import os\nfor call in ({calls}):"
        code += "\n    try: call(); print('did')\n    except OSError: print('refused')"
        assert build(solution, python(code)).log.split() == ["refused"] * 3

    @spaced
    def test_no_kind_of_socket_reaches_the_network_from_a_build(self, solution: Path) -> None:
        server = socket.create_server(("127.0.0.1", 0))
        port = server.getsockname()[1]
        code = f"""
import socket
for kind, protocol in ((socket.SOCK_STREAM, 0), (socket.SOCK_STREAM, 262), (socket.SOCK_DGRAM, 0)):
    try:
        s = socket.socket(socket.AF_INET, kind, protocol); s.settimeout(2)
        s.connect(('127.0.0.1', {port})); s.send(b'x'); print('reached')
    except OSError: print('no')
"""
        with server:
            assert build(solution, python(code)).log.split() == ["no"] * 3

    def test_a_grade_that_is_interrupted_takes_its_build_along(self, tmp_path: Path) -> None:
        marker = f"396{os.getpid()}"
        case = make_case(tmp_path / "cases", build=f"(setsid sleep {marker} &); sleep {marker}")
        solution = make_solution(tmp_path / "s")
        command = [
            sys.executable,
            "-m",
            "evalkit.cli",
            "grade",
            str(case),
            str(solution),
            "--store",
            str(tmp_path / "s.db"),
        ]
        child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        end = time.monotonic() + 30
        while time.monotonic() < end and len(_running(marker)) < 2:
            time.sleep(0.1)
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=30)
        assert errors.strip() == "evalkit: interrupted; what had finished is stored"
        assert _running(marker) == []


def _running(marker: str) -> list[psutil.Process]:
    return [
        p
        for p in psutil.process_iter(["cmdline"])
        if (p.info["cmdline"] or [])[:1] == ["sleep"] and marker in p.info["cmdline"]
    ]


class TestTheSolutionsDigest:
    def test_it_moves_with_every_byte_name_and_mode_of_the_source(self, solution: Path) -> None:
        digests = {solution_digest(solution)}
        (solution / "src" / "a.txt").write_text("b")
        digests.add(solution_digest(solution))
        (solution / "src" / "a.txt").rename(solution / "src" / "b.txt")
        digests.add(solution_digest(solution))
        (solution / "src" / "b.txt").chmod(0o755)
        digests.add(solution_digest(solution))
        (solution / "link").symlink_to("src")
        digests.add(solution_digest(solution))
        assert len(digests) == 5

    def test_it_does_not_move_with_words_about_the_solution_or_with_caches(self, solution: Path) -> None:
        before = solution_digest(solution)
        (solution / "solution.toml").write_text('model = "m"\nnotes = "better words"')
        (solution / "__pycache__").mkdir()
        (solution / "__pycache__" / "x.pyc").write_bytes(b"x")
        assert solution_digest(solution) == before

    def test_a_folder_that_is_not_there_or_holds_a_device_is_refused(self, solution: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no such solution folder"):
            solution_digest(tmp_path / "nowhere")
        os.mkfifo(solution / "pipe")
        with pytest.raises(UsageError, match="neither a file nor a link"):
            solution_digest(solution)


@pytest.mark.skipif(sys.platform != "linux", reason="the toolchain's output was recorded on Linux")
def test_the_toolchain_builds_the_same_module_in_any_folder(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the toolchain extra is not installed")
    modules = set()
    for name in ("one", "two/deep"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "a.c").write_text("int f(int a) { return a + 1; }")
        flags = "-target wasm32-freestanding -O2 -nostdlib -Wl,--no-entry -Wl,--export=f -Wl,--export-memory -s"
        modules.add(build(folder, f"python -m ziglang cc {flags} -o engine.wasm a.c").module)
    assert len(modules) == 1
    assert None not in modules
