"""A model-backed agent against an endpoint on loopback that misbehaves on demand: every fault counted, none fatal."""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import AuthoringError, UsageError
from evalkit.records import canonical
from evalkit.season import load_season, play, verify
from evalkit.season.agents import load_agent
from evalkit.season.agents.modelfile import load_model_file
from evalkit.season.agents.prices import Prices, Tokens, load_prices
from evalkit.season.costs import run_cost
from evalkit.season.playing import Played
from evalkit.season.season import Season
from tests.season.modelwork import A_CALL, KEY, PRICES, USAGE, Say, Server, act, model_file, serving, told, zipped
from tests.season.seasonwork import VAULT, make_season


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    (tmp_path / "prices.toml").write_text(PRICES)
    monkeypatch.setenv("EVALKIT_PRICES", str(tmp_path / "prices.toml"))
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return load_season(make_season(tmp_path_factory.mktemp("models")))


@pytest.fixture
def played(server: Server, season: Season, tmp_path: Path) -> Any:
    """Play the hall with a model's file, after a script of answers."""

    def call(*script: Say, more: str = "", endpoint: str = "", **options: Any) -> Played:
        server.script[:] = script
        path = model_file(tmp_path / "agents", server.url, more=more, endpoint=endpoint)
        options = {"level": "hall", "seed": 0, "agent": f"model:{path}", **options}
        one = play(season, **options)
        one.run.validate()
        return one

    return call


def turns(one: Played) -> list[Any]:
    return [json.loads(line) for line in (one.turns or b"").splitlines()]


class TestPlaying:
    def test_a_model_plays_a_level_and_its_run_verifies_and_says_what_it_took(
        self, played: Any, season: Season, server: Server
    ) -> None:
        one = played()
        run, calls = one.run, len(server.bodies)
        assert run.agent == "careful" and run.decisions == calls > 5
        assert run.tokens == calls * 1050
        assert run.dollars == pytest.approx(calls * A_CALL)
        assert verify(one.replay, season).verified is True
        said = run.provenance
        assert said["usage"] == {
            "input": calls * 1000,
            "cached": calls * 400,
            "output": calls * 50,
            "reasoning": calls * 20,
        }
        assert (said["calls"], said["malformed"], said["noops"], said["unanswered"]) == (calls, 0, 0, 0)
        assert said["model"] == "test-model" and said["answered_by"] == ["test-model-2026-01-01"]
        assert said["prices"].startswith("prices.toml ")
        assert said["turns"] == hashlib.sha256(one.turns).hexdigest()

    def test_a_model_is_told_the_game_its_numbers_and_a_strict_schema_of_what_is_legal(
        self, played: Any, server: Server
    ) -> None:
        played()
        first = server.bodies[0]
        system = first["messages"][0]["content"]
        assert system.startswith("Play well, and leave by the door.") and "level hall at difficulty easy" in system
        assert "- right (8, 16 ticks; holds right)" in system and "150 turns" in system
        shown = told(first)
        assert set(shown["numbers"]) == {"x", "health", "ammo", "guard"}
        schema = first["response_format"]["json_schema"]
        assert schema["strict"] is True and schema["schema"]["additionalProperties"] is False
        assert schema["schema"]["required"] == ["note", "action"]
        enum = schema["schema"]["properties"]["action"]["enum"]
        assert enum == shown["legal"] and "right 16" in enum and "leave 4" not in enum

    def test_what_a_model_is_sent_is_pinned_as_a_change_of_it_is_another_agent(
        self, played: Any, server: Server
    ) -> None:
        # When this moves, raise FORM in modelfile.py: stored runs were played by another agent than the new one.
        played()
        digests = [hashlib.sha256(canonical(server.bodies[turn])).hexdigest()[:16] for turn in (0, 4)]
        assert digests == ["e19e7694129d0e04", "933cec1dc7891604"]

    def test_the_memory_is_bounded_and_holds_notes_and_actions_but_no_pictures(
        self, played: Any, server: Server
    ) -> None:
        played(more='memory = 2\nsee = "both"')
        messages = server.bodies[4]["messages"]
        assert [row["role"] for row in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
        assert [json.loads(messages[at]["content"])["turn"] for at in (1, 3)] == [3, 4]
        assert [list(json.loads(messages[at]["content"])) for at in (1, 3)] == [["turn", "numbers"]] * 2
        assert json.loads(messages[2]["content"]) == {"note": "on we go", "action": "right 16"}
        assert messages[-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        played(more="memory = 0")
        assert len(server.bodies[-1]["messages"]) == 2

    def test_a_model_that_sees_the_picture_alone_gets_no_numbers_and_the_turn_keeps_a_digest(
        self, played: Any, server: Server
    ) -> None:
        one = played(more='see = "picture"')
        assert "numbers" not in told(server.bodies[0])
        row = turns(one)[0]
        assert len(row["picture"]) == 64 and b"base64" not in one.turns
        assert row["calls"][0]["request"] == hashlib.sha256(canonical(server.bodies[0])).hexdigest()

    def test_a_game_without_a_picture_says_so(self, server: Server, tmp_path: Path) -> None:
        blind = load_season(make_season(tmp_path, VAULT.replace("picture = true", "")))
        path = model_file(tmp_path, server.url, more='see = "picture"')
        run = play(blind, level="hall", seed=0, agent=f"model:{path}").run
        assert run.ended_by == "agent_error" and 'set see = "text"' in str(run.ungraded) and server.bodies == []

    def test_options_go_along_and_other_answer_forms_ask_for_no_schema(self, played: Any, server: Server) -> None:
        played(more='answer = "json_object"\n[options]\ntemperature = 0\nreasoning = { effort = "low" }')
        assert (server.bodies[0]["temperature"], server.bodies[0]["reasoning"]) == (0, {"effort": "low"})
        assert server.bodies[0]["response_format"] == {"type": "json_object"}
        played(more='answer = "text"')
        assert "response_format" not in server.bodies[-1]


class TestMalformed:
    @pytest.mark.parametrize(
        ("say", "fault"),
        [
            (Say(text="I would go right."), "no JSON object"),
            (Say(text='{"note": "x", "action": "ri'), "no JSON object"),
            (Say(text='{"note": "x", "action": "ri', finish="length"), "it was cut off"),
            (Say(text='{"action": "fly 16"}'), "none of those that are legal"),
            (Say(text='{"action": "leave 4"}'), "none of those that are legal"),
            (Say(text='{"action": "right 9"}'), "none of those that are legal"),
            (Say(text='{"action": ["right", 16]}'), "none of those that are legal"),
            (Say(text="[1, 2]"), "no JSON object"),
            (Say(text="{" * 100_000), "no JSON object"),
            (Say(text=""), "it is empty"),
            (Say(text=None), "it is empty"),
            (Say(refusal="I will not play."), "a refusal"),
            (Say(text='{"note": "\\ud800", "action": "\\ud800"}'), "none of those"),
            (Say(body=json.dumps({"choices": [], "usage": USAGE}).encode()), "it is empty"),
            (Say(body=json.dumps({"choices": [{"message": 3}], "usage": USAGE}).encode()), "it is empty"),
        ],
    )
    def test_a_malformed_answer_is_asked_for_again_with_the_reason_and_counted(
        self, played: Any, server: Server, say: Say, fault: str
    ) -> None:
        one = played(say)
        [bad, good] = turns(one)[0]["calls"]
        assert fault in bad["fault"] and good["fault"] is None
        assert turns(one)[0]["action"] == "take 2"
        assert (one.run.provenance["malformed"], one.run.provenance["noops"]) == (1, 0)
        assert one.run.tokens == 1050 * (one.run.decisions + 1)
        assert bad["fault"] in server.bodies[1]["messages"][-1]["content"]

    def test_after_the_stated_retries_the_noop_is_played_and_counted(self, played: Any, server: Server) -> None:
        one = played(*[Say(text="no")] * 3, more="retries = 2")
        first = turns(one)[0]
        assert (first["action"], first["noop"], len(first["calls"])) == ("wait 4", True, 3)
        assert (one.run.provenance["malformed"], one.run.provenance["noops"]) == (3, 1)
        one = played(Say(text="no"), more="retries = 0")
        assert (len(turns(one)[0]["calls"]), turns(one)[0]["noop"]) == (1, True)

    def test_without_an_idle_action_the_noop_is_the_first_legal_one(self, server: Server, tmp_path: Path) -> None:
        busy = VAULT.replace("[actions.wait]\nticks = [4, 30]\n", "")
        server.default = lambda request: Say(text="no")
        path = model_file(tmp_path, server.url, more="retries = 0")
        one = play(load_season(make_season(tmp_path, busy)), level="hall", seed=0, agent=f"model:{path}")
        assert turns(one)[0]["action"] == "left 8"

    @pytest.mark.parametrize(
        "text",
        [
            'Sure!\n```json\n{"note": "x", "action": "take 2"}\n```',
            '{"action": "take", "ticks": 2}',
            '{"action": " take  2 ", "more": [1]}',
            '{oops} {"action": "take 2"}',
        ],
    )
    def test_an_answer_of_an_endpoint_that_knows_no_schema_is_read_where_it_is_clear(
        self, played: Any, text: str
    ) -> None:
        one = played(Say(text=text))
        assert turns(one)[0]["action"] == "take 2" and one.run.provenance["malformed"] == 0


class TestEndpoint:
    @pytest.mark.parametrize(
        "bad",
        [
            Say(status=500), Say(status=503, body=b"<html>"), Say(status=429), Say(status=408),
            Say(text="x", cut=True), Say(body=b"not json"), Say(body=b"\xff\xfe"), Say(body=b'{"error": "busy"}'),
            Say(body=b"[" * 100_000), Say(body=act("wait 4").bytes() + b" " * (2 << 20)),
            Say(status=500, body=b" " * (2 << 20)),
            zipped(act("wait 4").bytes() + b" " * (64 << 20)),
        ],
        ids=range(12),
    )  # fmt: skip
    def test_what_may_pass_is_tried_again_and_counted_as_unanswered(self, played: Any, bad: Say) -> None:
        one = played(bad)
        assert one.run.ungraded is None
        assert one.run.provenance["unanswered"] == 1 and one.run.provenance["malformed"] == 0
        assert turns(one)[0]["calls"][0]["tries"] == 2
        assert one.run.tokens == 1050 * one.run.decisions

    @pytest.mark.parametrize("slow", [Say(delay_s=0.6), Say(text="x", drip_s=0.02)], ids=["silent", "dripping"])
    def test_an_answer_that_takes_too_long_is_given_up_and_asked_for_again(self, played: Any, slow: Say) -> None:
        began = time.monotonic()
        one = played(slow, endpoint="timeout_s = 0.2")
        assert one.run.provenance["unanswered"] == 1 and time.monotonic() - began < 5

    def test_retry_after_is_honoured_in_both_forms_and_bounded(self, played: Any, monkeypatch: Any) -> None:
        waits: list[float] = []
        monkeypatch.setattr("evalkit.season.agents.endpoint.time.sleep", waits.append)
        later = [Say(status=429, headers={"retry-after": value}) for value in ("0.125", "3600", "-1", "soon")]
        for say in (*later, Say(status=503, headers={"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"})):
            played(say)
        assert waits[:3] == [0.125, 0.3, 0.0] and 0 < waits[3] <= 0.01 and waits[4] == 0.3

    def test_back_off_doubles(self, played: Any, monkeypatch: Any) -> None:
        waits: list[float] = []
        monkeypatch.setattr("evalkit.season.agents.endpoint.time.sleep", waits.append)
        played(*[Say(status=500)] * 3)
        assert len(waits) == 2 and 0.005 <= waits[0] <= 0.01 and 0.01 <= waits[1] <= 0.02

    def test_an_endpoint_that_stays_down_ends_the_run_ungraded_and_keeps_what_was_spent(
        self, played: Any, server: Server
    ) -> None:
        one = played(act("take 2"), act("right 16"), Say(text="no"), *[Say(status=502)] * 3)
        run = one.run
        assert (run.ended_by, run.decisions, one.replay) == ("agent_error", 2, None)
        assert "decision 3: MachineError: the endpoint gave no answer in 3 tries: status 502" in str(run.ungraded)
        assert run.tokens == 3 * 1050 and run.dollars == pytest.approx(3 * A_CALL)
        assert run.provenance["unanswered"] == 3
        last = turns(one)[-1]
        assert (last["decision"], last["action"], len(last["calls"])) == (3, None, 1)

    def test_a_refused_connection_is_said_in_a_line(self, played: Any, server: Server) -> None:
        server.url = "http://127.0.0.1:9/v1"
        run = played().run
        assert (run.ended_by, run.tokens, run.dollars) == ("agent_error", 0, 0.0)
        assert "no answer in 3 tries" in str(run.ungraded) and "127.0.0.1" not in str(run.ungraded)

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 302])
    def test_a_call_that_is_refused_is_not_made_again(self, played: Any, server: Server, status: int) -> None:
        body = json.dumps({"error": {"message": f"no such thing, key {KEY}"}}).encode()
        run = played(Say(status=status, body=body, headers={"location": "http://127.0.0.1:9/"})).run
        assert run.ended_by == "agent_error" and f"refuses the call: status {status}" in str(run.ungraded)
        assert len(server.bodies) == 1 and KEY not in str(run.ungraded)

    @pytest.mark.parametrize(
        "usage",
        [
            None, {}, {"prompt_tokens": 5}, {"prompt_tokens": -1, "completion_tokens": 1}, {"prompt_tokens": True},
            {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}},
            {"prompt_tokens": "7", "completion_tokens": 1}, {"prompt_tokens": 10**30, "completion_tokens": 1},
        ],
    )  # fmt: skip
    def test_usage_that_is_missing_or_cannot_be_makes_the_total_unknown_and_not_zero(
        self, played: Any, usage: Any
    ) -> None:
        run = played(act("take 2", usage=usage)).run
        assert (run.tokens, run.dollars, run.provenance["without_usage"]) == (None, None, 1)
        assert run.provenance["usage"]["input"] == 1000 * (run.decisions - 1)

    def test_what_the_provider_charges_stands_apart_from_what_is_computed(self, played: Any, server: Server) -> None:
        server.default = lambda request: act("wait 30", usage={**USAGE, "cost": 0.5})
        run = played().run
        assert run.provenance["charged"] == 0.5 * run.decisions
        assert run.dollars == pytest.approx(A_CALL * run.decisions)

    def test_each_call_of_a_run_is_priced_by_itself_where_their_sum_costs_other_than_its_parts(
        self, server: Server, season: Season, tmp_path: Path
    ) -> None:
        server.default = lambda request: act("wait 30", usage={"prompt_tokens": 150_000, "completion_tokens": 1})
        path = model_file(tmp_path, server.url, endpoint='provider = "google"')
        path.write_text(path.read_text().replace("test-model", "gemini-2.5-pro"))
        one = play(season, level="hall", seed=0, agent=f"model:{path}")
        calls = len(server.bodies)

        def price(times: int) -> float:
            tokens, day = Tokens(input=150_000 * times, output=times), datetime.now(UTC)
            cost = Prices().cost(tokens, "gemini-2.5-pro", provider="google", base_url=None, when=day)
            assert cost is not None
            return cost.dollars

        assert calls > 2 and price(calls) > 1.5 * calls * price(1)  # the sum is in a dearer tier
        assert one.run.dollars == pytest.approx(calls * price(1))
        assert run_cost(one.run, turns(one), Prices()).computed == pytest.approx(one.run.dollars)


class TestSecrets:
    def test_the_key_reaches_the_endpoint_and_nothing_that_is_kept_or_logged(
        self, played: Any, server: Server, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        echo = Say(text=f'{{"note": "your key is {KEY}", "action": "take 2"}}')
        one = played(echo, act("right 16", note=KEY), *[Say(status=418, body=KEY.encode())] * 3)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        kept = (one.turns or b"") + canonical(one.run.to_json())
        assert "POST" in caplog.text and KEY not in caplog.text
        assert KEY.encode() not in kept and b"your key is ***" in kept

    def test_no_header_leaves_but_those_that_are_needed(
        self, played: Any, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: mine")
        for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
            monkeypatch.setenv(name, "mine-too")
        played(endpoint="")
        allowed = {"host", "accept", "content-type", "content-length", "user-agent", "connection", "accept-encoding"}
        assert set(server.headers[0]) <= allowed | {"authorization"}
        assert "mine" not in str(server.headers[0])

    def test_no_proxy_of_the_environment_gets_a_request(
        self, played: Any, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving() as proxy:
            for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
                monkeypatch.setenv(name.lower(), proxy.url.removesuffix("/v1"))
            for name in ("NO_PROXY", "no_proxy"):
                monkeypatch.delenv(name, raising=False)
            assert played().run.ungraded is None
            assert (proxy.bodies, proxy.headers) == ([], []) and server.bodies

    def test_without_a_key_variable_no_key_is_sent_whatever_the_environment_holds(
        self, server: Server, season: Season, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone-else")
        path = model_file(tmp_path, server.url)
        path.write_text(path.read_text().replace('key_env = "TEST_MODEL_KEY"', ""))
        play(season, level="hall", seed=0, agent=f"model:{path}")
        assert "authorization" not in server.headers[0]

    def test_a_missing_key_is_one_line_before_anything_is_played(
        self, played: Any, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for value in ("", "two\nlines"):
            monkeypatch.setenv("TEST_MODEL_KEY", value)
            with pytest.raises(UsageError, match=r"^TEST_MODEL_KEY holds no key") as missing:
                played()
            assert "two" not in str(missing.value)
        assert server.bodies == []

    @pytest.mark.parametrize(
        ("more", "where"),
        [
            (f'name = "{KEY}"', "its name"),
            (f'[options]\nuser = "{KEY}"', "[options]"),
            (f'[options]\nuser = {{ "of {KEY}!" = [1] }}', "[options]"),
            ("", "its model"),
            ("", "its prompt"),
        ],
    )
    def test_a_file_that_holds_the_key_is_refused_in_a_line_before_anything_is_sent(
        self, server: Server, season: Season, tmp_path: Path, more: str, where: str
    ) -> None:
        path = model_file(tmp_path, server.url, more=more)
        if where == "its model":
            path.write_text(path.read_text().replace("test-model", KEY))
        if where == "its prompt":
            (tmp_path / "prompt.md").write_text(f"Play. {KEY}")
        agent = load_agent(f"model:{path}")
        with pytest.raises(UsageError, match="the key in TEST_MODEL_KEY stands in a model's file") as refused:
            play(season, level="hall", seed=0, agent=agent)
        said = str(refused.value)
        assert where in said and KEY not in said and "\n" not in said and server.bodies == []
        with pytest.raises(UsageError, match="stands in a model's file"):
            agent.agent.reset(None, 0)  # type: ignore[arg-type]

    def test_without_the_extra_one_line_says_what_to_install(self, server: Server, tmp_path: Path) -> None:
        path = model_file(tmp_path, server.url)
        code = (
            "import sys; sys.modules['openai'] = sys.modules['genai_prices'] = None\n"
            "from evalkit.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        folder = make_season(tmp_path)
        words = [
            "play",
            str(folder),
            "--level",
            "hall",
            "--seed",
            "0",
            "--agent",
            f"model:{path}",
            "--store",
            str(tmp_path / "s.sqlite"),
        ]
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "pip install evalkit[models]" in done.stderr


class TestFile:
    def test_the_digest_is_of_what_makes_the_agent_and_not_of_how_it_is_reached(self, tmp_path: Path) -> None:
        def digest(more: str = "", endpoint: str = "", url: str = "http://127.0.0.1:1/v1", prompt: str = "") -> str:
            path = model_file(tmp_path, url, more=more, endpoint=endpoint)
            (tmp_path / "prompt.md").write_text(prompt or "Play.")
            return load_agent(f"model:{path}").digest

        same = digest()
        assert digest(url="https://example.invalid/v1", endpoint='timeout_s = 9\nprovider = "openai"') == same
        assert digest(more='name = "other"') == same
        others = [
            digest(prompt="Play!"), digest("memory = 1"), digest('see = "both"'), digest("retries = 1"),
            digest('answer = "text"'), digest("[options]\ntemperature = 1"),
        ]  # fmt: skip
        assert len({same, *others}) == 7

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (("test-model", ""), "model: is empty"),
            (('prompt = "prompt.md"', 'prompt = "../prompt.md"'), "prompt: "),
            (('prompt = "prompt.md"', 'prompt = "nothing.md"'), 'no file "nothing.md"'),
            (("[endpoint]", "[endpiont]"), "endpoint: is missing"),
            (("TEST_MODEL_KEY", KEY), "never the key itself"),
            (("key_env", "api_key"), "api_key: is not a known key"),
            (("http://127.0.0.1:1/v1", "http://me:secret@127.0.0.1/v1"), "holds more than an address"),
            (("http://127.0.0.1:1/v1", "https://a.invalid/v1?key=secret"), "holds more than an address"),
            (("http://127.0.0.1:1/v1", "http://a.invalid/v1"), "send the key in the clear"),
            (("http://127.0.0.1:1/v1", "ftp://a.invalid"), "is no address"),
            (("http://127.0.0.1:1/v1", "http://[::1"), "is no address"),
            (("http://127.0.0.1:1/v1", "https://api openai.com/v1"), "is no address"),
            (("http://127.0.0.1:1/v1", "https://a.invalid/v 1"), "is no address"),
            (("http://127.0.0.1:1/v1", "https://a<b>.invalid/v1"), "is no address"),
            (("backoff_s = 0.01", "backoff_s = 3601"), "backoff_s: must be at most 3,600"),
            (("most_wait_s = 0.3", "most_wait_s = 1e9\ntimeout_s = 1e300"), "timeout_s: must be at most 3,600"),
            (("[endpoint]", "[options]\nmessages = []\n[endpoint]"), "the kit sets it itself"),
            (("[endpoint]", "[options]\nday = 2026-01-01\n[endpoint]"), "must be plain JSON"),
            (("[endpoint]", "see = 3\nmemory = -1\n[endpoint]"), "see: must be a string"),
        ],
    )
    def test_what_is_wrong_with_it_is_said_by_file_and_key_and_no_secret_is_repeated(
        self, tmp_path: Path, change: tuple[str, str], said: str
    ) -> None:
        path = model_file(tmp_path, "http://127.0.0.1:1/v1")
        path.write_text(path.read_text().replace(*change))
        with pytest.raises(AuthoringError) as wrong:
            load_model_file(path)
        assert said in str(wrong.value) and "careful.toml: " in str(wrong.value)
        assert "secret" not in str(wrong.value) and KEY not in str(wrong.value)

    @pytest.mark.parametrize("name", ["random", "route", "walker"])
    def test_a_model_takes_no_name_of_another_agent(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "agents").mkdir()
        (tmp_path / "agents" / "walker.py").write_text("")
        path = model_file(tmp_path, "http://127.0.0.1:1/v1", more=f'name = "{name}"')
        with pytest.raises(UsageError, match=f'"{name}" is another agent here'):
            load_agent(f"model:{path}", tmp_path)

    def test_all_faults_come_at_once_and_a_file_of_another_kind_is_one_line(self, tmp_path: Path) -> None:
        path = model_file(tmp_path, "http://127.0.0.1:1/v1", more='see = "smell"\nmemory = 1000')
        with pytest.raises(AuthoringError) as wrong:
            load_agent(f"model:{path}")
        assert len(wrong.value.faults) == 2
        with pytest.raises(UsageError, match=r"name a FILE\.toml"):
            load_agent("model:gpt-5")

    def test_the_file_in_the_readme_is_one(self, tmp_path: Path) -> None:
        readme = (Path(__file__).parents[2] / "cases" / "season-1" / "README.md").read_text()
        agent, prices = (part.partition("```")[0] for part in readme.split("```toml\n")[1:3])
        (tmp_path / "careful.toml").write_text(agent)
        (tmp_path / "careful.md").write_text("Play.")
        file = load_model_file(tmp_path / "careful.toml")
        assert (file.name, file.model, file.endpoint.key_env) == ("careful", "gpt-5-mini", "OPENAI_API_KEY")
        (tmp_path / "prices.toml").write_text(prices)
        assert load_prices(tmp_path / "prices.toml").private["my-model"].output == 2.0
