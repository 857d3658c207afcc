#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/replication/big_endian_text.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

/// A publisher that answers and sends what a test says, and a database that subscribes to it.
namespace swizzle::sql::fake {

/// Answers of a publisher: rows by the beginning of the question, and a stream.
struct Script {
  std::map<std::string, std::vector<PublisherLink::Row>> answers;
  std::deque<std::string> stream;             ///< messages after START_REPLICATION
  std::map<std::string, std::string> copies;  ///< text of COPY, by its beginning
  std::vector<std::string> asked;
  std::vector<std::string> log;
};

class FakeLink final : public PublisherLink {
 public:
  FakeLink(Script& script, PublisherDoor& door) : script_(script), door_(door) {}

  Result<std::vector<Row>> ask(const std::string& statement) override {
    script_.asked.push_back(statement);
    for (const auto& [beginning, rows] : script_.answers)
      if (statement.starts_with(beginning)) return rows;
    return std::vector<Row>{};
  }
  Result<> start(const std::string& statement) override {
    script_.asked.push_back(statement);
    is_copy_ = statement.starts_with("COPY");
    if (!is_copy_) return {};
    for (const auto& [beginning, text] : script_.copies)
      if (statement.starts_with(beginning)) copy_ = text;
    return {};
  }
  Result<Received> receive(Duration /*longest*/) override {
    if (is_copy_) {
      now_ = std::exchange(copy_, {});
      if (now_.empty()) return Received{Arrival::end, {}};
      return Received{Arrival::message, as_bytes(now_)};
    }
    if (script_.stream.empty()) {
      // The test has said all.
      door_.stop();
      return Received{};
    }
    now_ = std::move(script_.stream.front());
    script_.stream.pop_front();
    if (now_.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds{60});
      return Received{};
    }
    return Received{Arrival::message, as_bytes(now_)};
  }
  Result<> send(Bytes /*message*/) override { return {}; }
  [[nodiscard]] int version() const override { return 150'000; }

 private:
  Script& script_;
  PublisherDoor& door_;
  bool is_copy_ = false;
  std::string copy_;
  std::string now_;
};

class FakeDoor final : public PublisherDoor {
 public:
  explicit FakeDoor(Script& script) : script_(script) {}
  Result<std::unique_ptr<PublisherLink>> connect(const PublisherTarget& /*target*/) override {
    return std::unique_ptr<PublisherLink>{std::make_unique<FakeLink>(script_, *this)};
  }
  Result<> check(const std::string& /*conninfo*/, bool /*must_have_password*/) override {
    return {};
  }
  void stop() noexcept override { is_stopping_ = true; }
  [[nodiscard]] bool is_stopping() const noexcept override { return is_stopping_; }
  void log(const Diagnostic& diagnostic) override {
    std::string line = diagnostic.message;
    for (const std::string& more : {diagnostic.detail, diagnostic.where})
      if (!more.empty()) line += " | " + more;
    script_.log.push_back(std::move(line));
  }

 private:
  Script& script_;
  bool is_stopping_ = false;
};

/// Messages of pgoutput, each in an envelope of the stream.
class Changes {
 public:
  explicit Changes(Script& script) : script_(script) {}

  void relation(std::uint32_t id, const std::string& name, char identity,
                const std::vector<std::pair<std::string, bool>>& columns) {
    std::string out{"R"};
    put_number(out, id);
    put_string(out, "public");
    put_string(out, name);
    out += identity;
    put_number(out, static_cast<std::int16_t>(columns.size()));
    for (const auto& [column, is_key] : columns) {
      out += is_key ? '\1' : '\0';
      put_string(out, column);
      put_number(out, std::uint32_t{25});
      put_number(out, std::int32_t{-1});
    }
    send(out);
  }
  void begin(std::uint64_t commit) {
    std::string out{"B"};
    put_number(out, commit);
    put_number(out, std::int64_t{0});
    put_number(out, std::uint32_t{77});
    commit_ = commit;
    send(out);
  }
  void commit() {
    std::string out{"C"};
    put_commit(out);
    send(out);
  }
  void keepalive(std::uint64_t position) {
    std::string out{"k"};
    put_number(out, position);
    put_number(out, std::int64_t{0});
    script_.stream.push_back(out + '\0');
  }
  // A transaction in parts, before it commits. Its messages between two calls have the
  // subtransaction's number.
  enum class Part : std::uint8_t { later, first };
  void start_stream(std::uint32_t transaction, Part part, std::uint32_t subtransaction = 0) {
    std::string out{"S"};
    put_number(out, transaction);
    out += part == Part::first ? '\1' : '\0';
    send(out);
    subtransaction_ = subtransaction == 0 ? transaction : subtransaction;
  }
  void stop_stream() {
    subtransaction_ = 0;
    send("E");
  }
  void abort_stream(std::uint32_t transaction, std::uint32_t subtransaction) {
    std::string out{"A"};
    put_number(out, transaction);
    put_number(out, subtransaction);
    send(out);
  }
  void commit_stream(std::uint32_t transaction, std::uint64_t commit) {
    commit_ = commit;
    std::string out{"c"};
    put_number(out, transaction);
    put_commit(out);
    send(out);
  }
  // A transaction that is prepared. `kind`: of the message.
  void begin_prepare(std::uint32_t transaction, std::uint64_t at) {
    commit_ = at;
    std::string out{"b"};
    put_prepare(out, transaction);
    send(out);
  }
  void prepare(char kind, std::uint32_t transaction, std::uint64_t at) {
    commit_ = at;
    std::string out{kind};
    out += '\0';
    put_prepare(out, transaction);
    send(out);
  }
  void rollback_prepared(std::uint32_t transaction, std::uint64_t at) {
    std::string out{"r"};
    out += '\0';
    put_number(out, commit_);
    put_number(out, at + 8);
    put_number(out, std::int64_t{0});
    put_number(out, std::int64_t{0});
    put_number(out, transaction);
    put_string(out, "gid");
    send(out);
  }
  /// Says nothing for a while.
  void pause() { script_.stream.emplace_back(); }
  using Row = std::vector<std::optional<std::string>>;
  void insert(std::uint32_t id, const Row& row) { send(head('I', id) + "N" + tuple(row)); }
  void update(std::uint32_t id, const Row& row) { send(head('U', id) + "N" + tuple(row)); }
  void update(std::uint32_t id, char kind, const Row& before, const Row& row) {
    send(head('U', id) + kind + tuple(before) + "N" + tuple(row));
  }
  void remove(std::uint32_t id, char kind, const Row& before) {
    send(head('D', id) + kind + tuple(before));
  }
  /// Ends a stream without a message.
  void reset() { subtransaction_ = 0; }
  void send(const std::string& message) {
    std::string out{"w"};
    put_number(out, std::uint64_t{1});
    put_number(out, commit_);
    put_number(out, std::int64_t{0});
    out += message[0];
    if (subtransaction_ != 0) put_number(out, subtransaction_);
    script_.stream.push_back(out + message.substr(1));
  }
  /// Values that begin so are sent in their binary form, without it.
  static constexpr std::string_view kBinary = "(binary)";

 private:
  static std::string head(char kind, std::uint32_t id) {
    std::string out{kind};
    put_number(out, id);
    return out;
  }
  void put_commit(std::string& out) const {
    out += '\0';
    put_number(out, commit_);
    put_number(out, commit_ + 8);
    put_number(out, std::int64_t{0});
  }
  void put_prepare(std::string& out, std::uint32_t transaction) const {
    put_number(out, commit_);
    put_number(out, commit_ + 8);
    put_number(out, std::int64_t{0});
    put_number(out, transaction);
    put_string(out, "gid");
  }
  static std::string tuple(const Row& row) {
    std::string out;
    put_number(out, static_cast<std::int16_t>(row.size()));
    for (const auto& value : row) {
      if (!value) {
        out += 'n';
      } else if (*value == "(unchanged)") {
        out += 'u';
      } else {
        const bool is_binary = value->starts_with(kBinary);
        const std::string bytes = is_binary ? value->substr(kBinary.size()) : *value;
        out += is_binary ? 'b' : 't';
        put_number(out, static_cast<std::uint32_t>(bytes.size()));
        out += bytes;
      }
    }
    return out;
  }

  Script& script_;
  std::uint64_t commit_ = 1;
  std::uint32_t subtransaction_ = 0;  ///< of a stream; 0: outside of one
};

/// A database with a subscription to a fake publisher, which has one table.
struct Subscriber {
  Subscriber() {
    db.database().shared().publishers = &door;
    db.run("CREATE TABLE t (id int PRIMARY KEY, name text, extra text DEFAULT 'default')");
    script.answers["SELECT DISTINCT t.schemaname"] = {{"public", "t", std::nullopt}};
    script.answers["SELECT t.pubname"] = {{"p"}};
  }
  void subscribe(const std::string& options) {
    REQUIRE(db.run("CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p WITH (" + options + ")") ==
            "CREATE SUBSCRIPTION");
  }
  ApplyJob job() {
    const std::vector<ApplyJob> jobs = find_apply_jobs(db.database());
    REQUIRE(jobs.size() == 1);
    ApplyJob job = jobs[0];
    job.pid = 2'000'000'000;
    return job;
  }
  /// Runs a worker until the stream is at its end, or it fails.
  ApplyEnd follow() {
    FakeDoor own{script};
    return run_apply_worker(db.database(), own, job());
  }
  /// Lets the publisher have rows for the first copy of `t`, as of 0/150.
  static void offer_copy(Script& to) {
    to.answers["CREATE_REPLICATION_SLOT"] = {{"x", "0/150", std::nullopt, "pgoutput"}};
    to.answers["SELECT DISTINCT a.column_name"] = {{"id", std::nullopt}, {"name", std::nullopt}};
    to.answers["SELECT 1 FROM pg_catalog.pg_replication_slots"] = {{"1"}};
    to.answers["SELECT a.attname"] = {{"id"}, {"name"}};
    to.answers["SELECT c.relkind"] = {{"r"}};
    to.copies["COPY public.t (id, name) TO STDOUT"] = "1\tone\n2\t\\N\n";
  }

  Script script;
  FakeDoor door{script};
  TestDatabase db;
  Changes changes{script};
};

inline constexpr std::uint32_t kRelation = 4711;

}  // namespace swizzle::sql::fake
