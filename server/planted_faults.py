"""Known defects of server/ for scripts/planted-faults, which puts them back one at a time."""

PRESET = "release"
TARGET = "swizzle_server_tests"
PROGRAM = "server/swizzle_server_tests"
OTHER_PROGRAMS = {"swizzle_subscription_process_tests": "server/swizzle_subscription_process_tests"}
TESTS = [["~[.]"]]

# (name, file in the folder, the right piece, the wrong one)
FAULTS = [
    (
        "a client that says nothing while the door opens is left without a word",
        "main/closed_door.cpp",
        "  else if (is_told() || std",
        "  else if (std",
    ),
    (
        "the clients that wait at the door are lost when it opens",
        "main/acceptor.cpp",
        "    door->socket.descriptor = Descriptor{door->arrivals.release()};\n",
        "",
    ),
    (
        "any password is the right one",
        "auth/scram_exchange.cpp",
        "  if (!equal_in_constant_time(sha256(client_key), verifier_.stored_key)) {",
        "  if (sha256(client_key).empty()) {",
    ),
    (
        "an exchange of before is played again",
        "auth/scram_exchange.cpp",
        "  if (!nonce || *nonce != nonce_) return",
        "  if (!nonce) return",
    ),
    (
        "channel binding is taken away on the way",
        "auth/scram_exchange.cpp",
        "    if (is_plus || endpoint_hash_) {",
        "    if (is_plus) {",
    ),
    (
        "who asks beside another gets the same turn",
        "auth/login_limiter.cpp",
        "  pairs_.note_attempt(pair, now);\n",
        "",
    ),
    (
        "guesses from one place count only for one role",
        "auth/login_limiter.cpp",
        "  origins_.note_failure(origins_.key_of(attempt.origin), now);\n",
        "",
    ),
    (
        "a rule for TLS lets in who has none",
        "auth/hba.cpp",
        "  if (type == Type::host_tls && visitor.transport != Transport::tls) return false;\n",
        "",
    ),
    (
        "trust for all the world",
        "auth/hba.cpp",
        "  if (rule.method == AuthMethod::trust && !is_local && !is_loopback) {",
        "  if (rule.method == AuthMethod::trust && !is_local && !is_loopback && !rule.network) {",
    ),
    (
        "a message shorter than its own length",
        "protocol/frame.cpp",
        "  if (length < 4 || length > *limit) {",
        "  if (length > *limit) {",
    ),
    (
        "after an error the next messages are run",
        "session/conversation.cpp",
        "    skipping_ = true;\n    report_failure",
        "    report_failure",
    ),
    (
        "an error waits for a Flush that is skipped",
        "session/conversation.cpp",
        "    channel_.flush();\n  }\n  channel_.flush_if_full();",
        "  }\n  channel_.flush_if_full();",
    ),
    (
        "a cancel that came late ends the next statement",
        "session/conversation.cpp",
        "  interrupts_.forget_cancel();\n  if (journal_.is_outdated()) read_settings();\n",
        "  if (journal_.is_outdated()) read_settings();\n",
    ),
    (
        "anybody cancels",
        "session/session_registry.cpp",
        "  if (!equal_in_constant_time(key, Bytes{entry.key}.first(entry.key_bytes))) return;\n",
        "  if (key.empty()) return;\n",
    ),
    (
        "the places kept for superusers are given away",
        "session/session_registry.cpp",
        "admitted_ + limits_.reserved >= limits_.max_connections",
        "admitted_ >= limits_.max_connections",
    ),
    (
        "failing under other names pushes out who has failed often",
        "auth/failure_table.cpp",
        "      return std::pair{remembered(kept, now), kept.last};\n",
        "      return kept.last;\n",
    ),
    (
        "sameuser in the column of roles admits everybody",
        "auth/hba.cpp",
        "return is_named(name, visitor.role); });",
        'return name == "sameuser" || is_named(name, visitor.role); });',
    ),
    (
        "what only begins like a verifier is stored as one",
        "auth/scram_verifier.cpp",
        "  return parse_verifier(password) ? std::string{password} : derive(password).text();",
        "  return password.starts_with(kPrefix) ? std::string{password} : derive(password).text();",
    ),
    (
        "a page of another site asks the console",
        "console/form.cpp",
        "origin.substr(scheme + 3) != host;",
        "host.empty();",
    ),
    (
        "a name that another site made to point here is loopback's",
        "console/form.cpp",
        "  return address && address->is_loopback();",
        "  return !address || address->is_loopback();",
    ),
    (
        "errors of the last hour grow without bound",
        "observability/recent_troubles.cpp",
        "  if (entries_.size() == kMost) entries_.pop_front();\n",
        "",
    ),
    (
        "a request that takes its time keeps Prometheus waiting",
        "observability/http_server.cpp",
        "  co_await asio::post(asio::bind_executor(worker().get_executor(), asio::use_awaitable));\n",
        "",
    ),
    (
        "a standby says to balancers that it serves readers",
        "observability/role_answers.cpp",
        '    {"/read-only", true, false, true},\n',
        '    {"/read-only", true, true, true},\n',
    ),
    (
        "a standby that lags too much serves reads",
        "observability/role_answers.cpp",
        "  return (is_about_writes ? place.write_lag_bytes : place.replay_lag_bytes) > *most;\n",
        "  return place.write_lag_bytes > *most;\n",
    ),
    (
        "a statement that waits for a publisher cannot be cancelled",
        "standby/replication_link.cpp",
        "  if (overseer != nullptr) overseer->look();\n",
        "",
        "swizzle_subscription_process_tests: a statement does not wait longer for a silent publisher*",
    ),
]
