"""The agents of season 1: the autopilot completes everything, the others play fair, repeat themselves, and differ."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

import pytest

from evalkit.errors import UsageError
from evalkit.season import play, verify
from evalkit.season.agents import agents_beside, load_agent
from evalkit.season.score import decision_budget, run_score
from tests.season_1.season_one import DIFFICULTIES, LEVELS, ROOT, at, season

pytestmark = pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the game is in C: it needs the toolchain extra, ziglang"
)
HONEST = ("ghost", "gunner", "planner", "walker")
MAY_IMPORT = {"collections", "collections.abc", "heapq", "random", "evalkit.season.agents"}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_the_route_completes_every_level_at_every_difficulty_with_every_seed(level: str, difficulty: str) -> None:
    one = at(level, difficulty)
    agent = load_agent("route", ROOT)
    for seed in (*one.seeds, *one.practice_seeds):
        run = play(one, level=level, seed=seed, agent=agent).run
        assert run.completed and run.objectives_done == run.objectives_total >= 1, f"seed {seed}: {run.ended_by}"
        assert run.reference == "anchor" and run.cheats == ("infinite-ammo", "invincible")
        assert 55 <= (run.time_s or 0) <= 600, "about one minute to ten"


def test_no_anchor_is_slower_than_its_route_and_each_grants_its_budget() -> None:
    for entry in season().entries:
        assert entry.anchor_s is not None
        time_s = play(season(), level=entry.level, seed=0, agent="route").run.time_s
        assert time_s is not None and entry.anchor_s <= time_s + 0.05 and entry.anchor_s > time_s - 1
        assert entry.decision_budget == decision_budget(entry.anchor_s)


def test_agents_that_live_in_the_season_are_found_by_plain_name() -> None:
    assert tuple(agents_beside(ROOT)) == (*HONEST, "route")
    assert load_agent("route", ROOT).reference == "anchor"
    with pytest.raises(UsageError, match='no agent "sneak": there are random, ghost, gunner, planner, walker, route'):
        load_agent("sneak", ROOT)
    with pytest.raises(UsageError, match='no agent "walker"'):
        load_agent("walker")


def test_an_agent_file_must_hold_one_agent(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "empty.py").write_text("A = 1\n")
    (tmp_path / "agents" / "_helper.py").write_text("")
    os.mkfifo(tmp_path / "agents" / "pipe.py")  # which nobody writes to: reading it would wait for ever
    (tmp_path / "agents" / "folder.py").mkdir()
    assert tuple(agents_beside(tmp_path)) == ("empty",)
    with pytest.raises(UsageError, match=r"agents/empty\.py holds no agents: it must hold one class"):
        load_agent("empty", tmp_path)


def test_the_digest_of_the_route_covers_its_data() -> None:
    agent = load_agent("route", ROOT)
    assert agent.digest != load_agent("walker", ROOT).digest
    assert "ROUTES.read_bytes()" in (ROOT / "private" / "route.py").read_text()


def test_the_routes_are_those_that_the_survey_makes_of_the_maps() -> None:
    survey = ROOT / "private" / "_survey.py"
    assert subprocess.run([sys.executable, str(survey)], check=False).returncode == 0, "run it with --write"


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_agent_has_nothing_but_what_it_is_shown(name: str) -> None:
    tree = ast.parse((ROOT / "agents" / f"{name}.py").read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= MAY_IMPORT
    assert not any(isinstance(node, ast.Attribute) and node.attr.startswith("__") for node in ast.walk(tree))
    agent = load_agent(name, ROOT)
    assert agent.reference is None and agent.cheats == () and agent.deterministic


@pytest.mark.parametrize(("name", "level"), list(zip(("random", *HONEST), LEVELS, strict=True)))
def test_what_an_agent_played_it_plays_again_and_its_replay_verifies(name: str, level: str) -> None:
    one, again = (play(season(), level=level, seed=1, agent=name) for _ in range(2))
    assert one.replay is not None and one.replay == again.replay
    assert one.run.ended_by in ("completed", "died", "failed", "budget")
    assert verify(one.replay, season()).verified


def test_the_scale_keeps_the_floor_the_walker_and_the_ghost_apart() -> None:
    """With one seed each, and room to spare: the whole table is in the season's README."""
    means = {}
    for name in ("random", "walker", "ghost"):
        agent = load_agent(name, ROOT)
        scores = []
        for entry in season().entries:
            run = play(season(), level=entry.level, seed=0, agent=agent).run
            facts = {"objectives_done": run.objectives_done, "objectives_total": run.objectives_total}
            ending = {"completed": run.completed, "time_s": run.time_s, "died": run.died}
            scores.append(run_score(**facts, **ending, anchor_s=entry.anchor_s))
        means[name] = mean(scores)
    assert means["random"] <= 10 and means["walker"] > means["random"] and means["ghost"] > means["walker"] + 30, means
