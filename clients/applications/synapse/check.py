"""Matrix's homeserver: its schema, users, rooms, sync, a full text search, keys of devices, what an administrator purges."""
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from steps import step

port = int(os.environ["PORTS"])
here = pathlib.Path.cwd()
secret = "checking"
(here / "log.yaml").write_text("""
version: 1
handlers: {console: {class: logging.StreamHandler}}
root: {level: WARNING, handlers: [console]}
""")
# JSON is YAML.
(here / "homeserver.yaml").write_text(json.dumps({
    "server_name": "check.test", "pid_file": str(here / "pid"), "report_stats": False, "log_config": str(here / "log.yaml"),
    "media_store_path": str(here / "media"), "signing_key_path": str(here / "signing.key"), "trusted_key_servers": [],
    "registration_shared_secret": secret, "room_list_publication_rules": [{"action": "allow"}], "suppress_key_server_warning": True,
    "macaroon_secret_key": "checking too", "user_directory": {"enabled": True, "search_all_users": True},
    "listeners": [{"port": port, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}],
    "database": {"name": "psycopg2", "allow_unsafe_locale": True, "args": {
        "user": os.environ["PGUSER"], "password": os.environ["PGPASSWORD"], "host": os.environ["PGHOST"],
        "port": int(os.environ["PGPORT"]), "dbname": os.environ["PGDATABASE"], "cp_min": 2, "cp_max": 5}},
    **{f"rc_{what}": {"per_second": 10000, "burst_count": 10000} for what in ("message", "registration", "admin_redaction")},
    "rc_login": {what: {"per_second": 10000, "burst_count": 10000} for what in ("address", "account", "failed_attempts")},
    "rc_joins": {what: {"per_second": 10000, "burst_count": 10000} for what in ("local", "remote")},
    "rc_invites": {what: {"per_second": 10000, "burst_count": 10000} for what in ("per_room", "per_user", "per_issuer")},
    "rc_room_creation": {"per_second": 10000, "burst_count": 10000}}))


def ask(method, path, body=None, token=None, **query):
    words = urllib.parse.urlencode(query)
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}{'?' + words if words else ''}", method=method,
                                     data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {}))
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{method} {path}: {error.code} {error.read()[:300]}") from None


def quoted(name):
    return urllib.parse.quote(name, safe="")


def expect(got, wanted):
    assert got == wanted, f"{got!r} instead of {wanted!r}"


def until(condition):
    for _ in range(900):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("not within 90 s")


V3 = "/_matrix/client/v3"
ADMIN = "/_synapse/admin"


def register(name, is_admin):
    nonce = ask("GET", ADMIN + "/v1/register")["nonce"]
    said = "\0".join((nonce, name, "secret", "admin" if is_admin else "notadmin"))
    ask("POST", ADMIN + "/v1/register", {"nonce": nonce, "username": name, "password": "secret", "admin": is_admin,
                                         "mac": hmac.new(secret.encode(), said.encode(), hashlib.sha1).hexdigest()})


def login(name, password="secret"):
    return ask("POST", V3 + "/login", {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": name},
                                       "password": password, "device_id": name.upper()})["access_token"]


number = 0


def send(token, room, text):
    global number
    number += 1
    return ask("PUT", f"{V3}/rooms/{quoted(room)}/send/m.room.message/t{number}", {"msgtype": "m.text", "body": text}, token)["event_id"]


words = [pathlib.Path(os.environ["PROGRAMS"]) / "python", "-m", "synapse.app.homeserver", "-c", here / "homeserver.yaml"]
subprocess.run([*words, "--generate-keys"], check=True)
server = subprocess.Popen(words)
try:
    with step("schema and start"):
        for _ in range(1200):
            assert server.poll() is None, "the server has ended"
            try:
                ask("GET", "/_matrix/client/versions")
                break
            except OSError:
                time.sleep(0.1)
    with step("users"):
        register("root", True)
        for name in ("ada", "bo", "cy"):
            register(name, False)
        root, ada, bo, cy = (login(name) for name in ("root", "ada", "bo", "cy"))
        try:
            login("ada", "guessed")
            raise AssertionError("a wrong password")
        except RuntimeError as error:
            assert "403" in str(error), error
        ask("PUT", f"{V3}/profile/@ada:check.test/displayname", {"displayname": "Ada Lovelace"}, ada)
        expect(ask("GET", V3 + "/account/whoami", token=ada)["user_id"], "@ada:check.test")
    with step("a room"):
        room = ask("POST", V3 + "/createRoom", {"name": "Engines", "topic": "Of engines", "preset": "public_chat", "visibility": "public",
                                                "room_alias_name": "engines", "invite": ["@bo:check.test"]}, ada)["room_id"]
        expect(list(ask("GET", V3 + "/sync", token=bo)["rooms"]["invite"]), [room])
        ask("POST", f"{V3}/join/{quoted(room)}", {}, bo)
        ask("POST", f"{V3}/join/{quoted('#engines:check.test')}", {}, cy)
        expect(sorted(ask("GET", f"{V3}/rooms/{quoted(room)}/joined_members", token=ada)["joined"]),
               ["@ada:check.test", "@bo:check.test", "@cy:check.test"])
        listed = lambda: ask("POST", V3 + "/publicRooms", {"filter": {"generic_search_term": "engine"}}, ada)["chunk"]
        until(lambda: [(one["name"], one["num_joined_members"]) for one in listed()] == [("Engines", 3)])
    with step("messages and sync"):
        since = ask("GET", V3 + "/sync", token=bo)["next_batch"]
        events = [send(ada, room, f"The engine weaves pattern {i}") for i in range(60)]
        ask("PUT", f"{V3}/rooms/{quoted(room)}/typing/@ada:check.test", {"typing": True, "timeout": 1000}, ada)
        synced = ask("GET", V3 + "/sync", token=bo, since=since, timeout=1000)
        joined = synced["rooms"]["join"][room]
        expect(joined["unread_notifications"]["notification_count"], 60)
        assert joined["timeline"]["limited"]
        seen, start = [], synced["next_batch"]
        while True:
            page = ask("GET", f"{V3}/rooms/{quoted(room)}/messages", token=bo, dir="b", limit=25, **{"from": start})
            seen += [event["event_id"] for event in page["chunk"] if event["type"] == "m.room.message"]
            if "end" not in page:
                break
            start = page["end"]
        expect(seen, events[::-1])
        ask("POST", f"{V3}/rooms/{quoted(room)}/receipt/m.read/{quoted(events[-1])}", {}, bo)
        until(lambda: ask("GET", V3 + "/sync", token=bo, since=since)["rooms"]["join"][room]["unread_notifications"]
              ["notification_count"] == 0)
    with step("redactions, relations, state"):
        ask("PUT", f"{V3}/rooms/{quoted(room)}/redact/{quoted(events[3])}/r1", {"reason": "meant"}, ada)
        expect(ask("GET", f"{V3}/rooms/{quoted(room)}/event/{quoted(events[3])}", token=bo)["content"], {})
        for token, key in ((ada, "+"), (bo, "+"), (cy, "-")):
            number += 1
            ask("PUT", f"{V3}/rooms/{quoted(room)}/send/m.reaction/t{number}",
                {"m.relates_to": {"rel_type": "m.annotation", "event_id": events[5], "key": key}}, token)
        ask("PUT", f"{V3}/rooms/{quoted(room)}/send/m.room.message/thread",
            {"msgtype": "m.text", "body": "In a thread", "m.relates_to": {"rel_type": "m.thread", "event_id": events[6]}}, bo)
        expect(len(ask("GET", f"/_matrix/client/v1/rooms/{quoted(room)}/relations/{quoted(events[5])}", token=ada)["chunk"]), 3)
        expect([one["event_id"] for one in ask("GET", f"/_matrix/client/v1/rooms/{quoted(room)}/threads", token=ada)["chunk"]], [events[6]])
        ask("PUT", f"{V3}/rooms/{quoted(room)}/state/m.room.topic", {"topic": "Of looms"}, ada)
        expect(ask("GET", f"{V3}/rooms/{quoted(room)}/state/m.room.topic", token=cy)["topic"], "Of looms")
        ask("POST", f"{V3}/rooms/{quoted(room)}/kick", {"user_id": "@cy:check.test"}, ada)
        expect(len(ask("GET", f"{V3}/rooms/{quoted(room)}/joined_members", token=ada)["joined"]), 2)
    with step("search"):
        def search(term):
            return ask("POST", V3 + "/search", {"search_categories": {"room_events": {"search_term": term, "order_by": "rank"}}},
                       ada)["search_categories"]["room_events"]["count"]
        expect(search("weaving"), 60)
        expect(search("patterns 17"), 1)
        expect(search("loom"), 1)
        until(lambda: [one["display_name"] for one in ask("POST", V3 + "/user_directory/search", {"search_term": "lovel"}, bo)["results"]]
              == ["Ada Lovelace"])
    with step("keys of devices"):
        ask("POST", V3 + "/keys/upload", {
            "device_keys": {"user_id": "@ada:check.test", "device_id": "ADA", "algorithms": ["m.olm.v1.curve25519-aes-sha2"],
                            "keys": {"curve25519:ADA": "a", "ed25519:ADA": "b"}, "signatures": {}},
            "one_time_keys": {f"signed_curve25519:K{i}": {"key": f"k{i}", "signatures": {}} for i in range(10)}}, ada)
        claimed = {next(iter(ask("POST", V3 + "/keys/claim", {"one_time_keys": {"@ada:check.test": {"ADA": "signed_curve25519"}}}, bo)
                             ["one_time_keys"]["@ada:check.test"]["ADA"])) for _ in range(4)}
        expect(len(claimed), 4)
        expect(ask("POST", V3 + "/keys/upload", {}, ada)["one_time_key_counts"]["signed_curve25519"], 6)
        ask("PUT", V3 + "/sendToDevice/m.room.encrypted/d1", {"messages": {"@ada:check.test": {"*": {"secret": "text"}}}}, bo)
        expect([one["content"] for one in ask("GET", V3 + "/sync", token=ada)["to_device"]["events"]], [{"secret": "text"}])
        ask("PUT", f"{V3}/user/@ada:check.test/account_data/m.direct", {"@bo:check.test": [room]}, ada)
        expect(ask("GET", f"{V3}/user/@ada:check.test/account_data/m.direct", token=ada), {"@bo:check.test": [room]})
    with step("an administrator"):
        expect(sorted(one["name"] for one in ask("GET", ADMIN + "/v2/users", token=root, order_by="name")["users"]),
               [f"@{name}:check.test" for name in ("ada", "bo", "cy", "root")])
        purge = ask("POST", f"{ADMIN}/v1/purge_history/{quoted(room)}", {"delete_local_events": True, "purge_up_to_event_id": events[40]}, root)
        until(lambda: ask("GET", f"{ADMIN}/v1/purge_history_status/{purge['purge_id']}", token=root)["status"] == "complete")
        until(lambda: search("weaving") == 20)
        ask("POST", ADMIN + "/v1/deactivate/@cy:check.test", {"erase": True}, root)
        gone = ask("DELETE", f"{ADMIN}/v2/rooms/{quoted(room)}", {"purge": True}, root)["delete_id"]
        until(lambda: ask("GET", f"{ADMIN}/v2/rooms/delete_status/{gone}", token=root)["status"] == "complete")
        expect(ask("GET", ADMIN + "/v1/rooms", token=root)["total_rooms"], 0)
    with step("background updates end"):
        def updates():
            said = ask("GET", ADMIN + "/v1/background_updates/status", token=root)["current_updates"]
            print(said)
            return said == {}
        until(updates)
finally:
    server.terminate()
    server.wait(30)
