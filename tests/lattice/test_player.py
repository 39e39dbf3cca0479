"""What the player shows of a factory is its state: each item where it is, and the same one from tick to tick."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import evalkit
from evalkit.errors import UsageError
from evalkit.performance.checking import load_file
from evalkit.performance.manifest import load_case
from evalkit.performance.playback import Playback, watch
from evalkit.performance.scene import scene_fault
from evalkit.store import Store
from tests.lattice.lattice_case import CASE, ROOT, load

player = load_file(CASE / "player.py")
SMOKE = sorted((CASE / "smoke").glob("*.json"))


def answer(path: Path, first: int, last: int) -> tuple[bytes, bytes]:
    """Return a scenario, and the oracle's answer for every tick of a window."""
    data = player.schedule(path.read_bytes(), range(first, last + 1))
    return path.read_bytes(), json.dumps(load("oracle").simulate(json.loads(data))).encode()


def test_the_manifest_names_the_player() -> None:
    case = load_case(CASE)
    assert case.contract is not None and case.contract.player == CASE / "player.py"


def test_a_schedule_changes_the_snapshots_and_nothing_else() -> None:
    scenario = json.loads(SMOKE[0].read_bytes())
    asked = json.loads(player.schedule(SMOKE[0].read_bytes(), [9, 3, 3]))
    assert asked.pop("snapshots") == [3, 9]
    assert asked == {key: value for key, value in scenario.items() if key != "snapshots"}


@pytest.mark.parametrize("ticks", [[], [0, 1], [1, 10**9]])
def test_a_schedule_outside_the_scenario_is_refused(ticks: list[int]) -> None:
    with pytest.raises(ValueError, match="this scenario has the ticks 1 to"):
        player.schedule(SMOKE[0].read_bytes(), ticks)


@pytest.mark.parametrize("name", ["smoke/craft-chain", "stress/small"])
def test_states_of_an_expected_answer_are_its_checksums(name: str) -> None:
    data, expected = (CASE / f"{name}.json").read_bytes(), (CASE / f"{name}.out").read_bytes()
    assert player.states(data, expected) == {row["tick"]: row["checksum"] for row in json.loads(expected)}


def test_a_reported_checksum_is_not_believed() -> None:
    data, output = answer(CASE / "smoke" / "craft-chain.json", 80, 90)
    told = json.loads(output)
    right = player.states(data, output)
    machine = next(entity for entity in told[3]["entities"] if "assembler" in entity)
    machine["assembler"]["craft_left"] += 1
    changed = player.states(data, json.dumps(told).encode())
    assert [tick for tick in right if right[tick] != changed[tick]] == [83]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (b"{", "not JSON"),
        (b"{}", "not a list of snapshots"),
        (b"[1]", "snapshot 1 .*is 1, not an object"),
        (b'[{"tick": 5, "checksum": "x", "entities": []}]', r"snapshot 1 \(tick 5\): entities is \[\]"),
    ],
)
def test_an_answer_that_is_no_state_is_one_line(output: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        player.states(SMOKE[0].read_bytes(), output)


@pytest.mark.parametrize("path", SMOKE, ids=lambda path: path.stem)
def test_every_smoke_input_is_a_sound_scene_without_faults_whose_items_are_where_the_states_have_them(
    path: Path,
) -> None:
    last = min(60, json.loads(path.read_bytes())["ticks"])
    data, output = answer(path, 1, last)
    scene = player.frames(data, output, 1, last)
    assert scene_fault(json.loads(json.dumps(scene))) is None
    assert scene["faults"] == []
    for snapshot in json.loads(output):
        assert there(scene, snapshot["tick"] - 1) == sorted(carried(snapshot["entities"]))


def carried(entities: list[dict[str, Any]]) -> list[str]:
    """Every item on a belt or in an arm."""
    lanes = [entity["belt"][lane] for entity in entities if "belt" in entity for lane in ("left", "right")]
    held = [entity["inserter"]["held"] for entity in entities if "held" in entity.get("inserter", {})]
    return [entry["item"] for lane in lanes for entry in lane] + held


def there(scene: dict[str, Any], frame: int) -> list[str]:
    """Every item that a scene has in a frame."""
    names = []
    for token in scene["tokens"]:
        count = sum(len(leg) - 1 for leg in token["legs"])
        start, end = token["from"] + ("born" in token), token["from"] + count - ("gone" in token)
        names += [scene["items"][token["item"]]["name"]] * (start <= frame < end)
    return sorted(names)


def test_an_item_that_nothing_takes_keeps_its_identity_through_curves_side_loads_and_splitters() -> None:
    data, output = answer(CASE / "stress" / "small.json", 1, 60)
    scene = player.frames(data, output, 1, 60)
    legs = [len(token["legs"]) for token in scene["tokens"]]
    assert max(legs) >= 4  # out of the source, onto a belt, through a splitter, onto the bus
    for token in scene["tokens"]:
        for path, *positions in token["legs"]:
            assert positions == sorted(positions), f"an item moved back on path {path}"
            assert all(b - a <= 96 + 0.6 * 256 for a, b in pairwise(positions))  # a tick's way, and into a sink


def test_a_factory_that_breaks_a_rule_is_marked_at_that_tick_and_place() -> None:
    data, output = answer(CASE / "smoke" / "belt-slow.json", 1, 30)
    told = json.loads(output)
    belt = next(entity["belt"] for entity in told[20]["entities"] if entity.get("belt", {}).get("left"))
    belt["left"][0]["pos"] += 1
    scene = player.frames(data, json.dumps(told).encode(), 1, 30)
    assert scene_fault(scene) is None
    assert scene["faults"][0][0] == 20
    assert scene["shapes"][scene["faults"][0][1]]["kind"] == "belt"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["craft-chain", "side-load-from-north", "splitter-two-to-one"])
def test_whatever_states_a_wrong_engine_returns_each_of_its_items_is_drawn(name: str, seed: int) -> None:
    data, output = answer(CASE / "smoke" / f"{name}.json", 1, 30)
    told, random = json.loads(output), Random(seed)
    items = list(load("oracle").ITEMS)
    for entity in (entity for snapshot in told for entity in snapshot["entities"] if random.random() < 0.15):
        if "belt" in entity:
            lane = [{"pos": random.randrange(256), "item": random.choice(items)} for _ in range(random.randrange(9))]
            entity["belt"][random.choice(["left", "right"])] = lane
        elif "inserter" in entity:
            held = {"held": random.choice(items)} if random.random() < 0.5 else {}
            phase, left = random.choice(["idle", "swing", "return"]), random.randrange(60_000)
            entity["inserter"] = {"phase": phase, **held, "swing_left": left}
        elif "assembler" in entity:
            entity["assembler"] |= {"inputs": {random.choice(items): 9}, "craft_left": random.randrange(60_000)}
    scene = player.frames(data, json.dumps(told).encode(), 1, 30)
    assert scene_fault(scene) is None
    assert scene["faults"]
    for snapshot in told:
        assert there(scene, snapshot["tick"] - 1) == sorted(carried(snapshot["entities"]))


# The sample's runs, with the engine -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample() -> Any:
    store = Store.open("sqlite://")
    store.import_(ROOT / "data" / "sample")
    yield store
    store.close()


def seen(store: Store, model: str, name: str, first: int, last: int) -> Playback:
    (run,) = [run for run in store.runs(case="lattice") if run.model == model]
    assert isinstance(run, evalkit.PerformanceRun) and run.module_digest
    return watch(load_case(CASE), run, store.module(run.module_digest), name, first, last)


def test_a_naive_run_over_the_ceiling_and_a_transport_run_show_the_same_factory(sample: Store) -> None:
    fast, slow = (seen(sample, f"evalkit-{model}", "medium", 1241, 1262) for model in ("transport", "naive"))
    assert slow.outcome == "over_ceiling"
    assert fast.differs_from(slow) is None
    assert fast.scene == slow.scene
    assert fast.checked == slow.checked == (1250, 2500)
    assert fast.first_fault is None


def test_a_wrong_run_shows_where_it_goes_wrong_long_before_a_graded_tick_does(sample: Store) -> None:
    wrong = seen(sample, "evalkit-sink-counts-in-a-byte", "small", 370, 385)
    assert (wrong.wrong_from, wrong.first_fault) == (1250, 377)
    frame, shape = wrong.scene["faults"][0]
    assert (wrong.first + frame, wrong.scene["shapes"][shape]["kind"]) == (377, "sink")


def test_a_wrong_smoke_input_can_be_watched(sample: Store) -> None:
    wrong = seen(sample, "evalkit-side-load-swapped", "side-load-from-north", 1, 30)
    assert wrong.wrong_from == wrong.first_fault == 19


def test_a_run_that_traps_says_so(sample: Store) -> None:
    with pytest.raises(UsageError, match=r"no answer for this window: .*unreachable"):
        seen(sample, "evalkit-unreachable", "belt-slow", 1, 5)
