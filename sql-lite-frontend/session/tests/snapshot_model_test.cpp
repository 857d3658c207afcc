#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

struct ModelRow {
  std::optional<int> u;
  int g = 0;
  bool operator==(const ModelRow&) const = default;
};
using ModelRows = std::map<int, ModelRow>;

std::string written(std::optional<int> value) {
  return value ? std::to_string(*value) : "NULL";
}

/// Condition of a WHERE, for the model and in SQL.
struct ModelCondition {
  enum class Of : std::uint8_t { all, id, u, g } of;
  int value;
  [[nodiscard]] bool holds(int id, const ModelRow& row) const {
    switch (of) {
      case Of::id:
        return id == value;
      case Of::u:
        return row.u == value;
      case Of::g:
        return row.g == value;
      case Of::all:
        break;
    }
    return true;
  }
  [[nodiscard]] std::string text() const {
    constexpr std::array kColumns = {"", "id", "u", "g"};
    if (of == Of::all) return {};
    return fmt::format(" WHERE {} = {}", kColumns[static_cast<std::size_t>(of)], value);
  }
};

/// A database with one table, and its expected content.
class SnapshotModel {
 public:
  explicit SnapshotModel(std::uint64_t seed) : random_(seed) {
    db_.run("CREATE TABLE t(id int PRIMARY KEY, u int UNIQUE, g int); CREATE INDEX ON t(g)");
    for (Client& client : clients_) {
      client.session = db_.connect();
      db_.run(*client.session, "SET lock_timeout = 1");
    }
  }

  void step() {
    Client& client = clients_[below(clients_.size())];
    if (!client.is_open) return begin(client);
    switch (below(12)) {
      case 0:
        return commit(client);
      case 1:
        return insert(client);
      case 2:
        return insert_or_update(client);
      case 3:
        return remove(client);
      case 4:
        return update(client);
      case 5:
        return change_unique(client);
      case 6:
        return move(client);
      case 7:
        return lock(client);
      default:
        return read(client);
    }
  }
  [[nodiscard]] int commits() const { return commits_; }

 private:
  static constexpr int kKeys = 5;
  struct Client {
    std::unique_ptr<Session> session;
    bool is_open = false;
    ModelRows shown;  ///< in the snapshot
    ModelRows now;    ///< and with its own changes
    int began_at = 0;
  };

  std::size_t below(std::size_t end) { return random_() % end; }
  int key() { return static_cast<int>(below(kKeys)); }
  std::optional<int> unique_key() {
    if (below(5) == 0) return std::nullopt;
    return key();
  }
  ModelCondition condition() { return {static_cast<ModelCondition::Of>(below(4)), key()}; }
  ModelCondition condition_of_one() {
    return {below(2) == 0 ? ModelCondition::Of::id : ModelCondition::Of::u, key()};
  }
  static ModelRows chosen(const ModelRows& rows, const ModelCondition& which) {
    ModelRows found = rows;
    std::erase_if(found, [&](const auto& row) { return !which.holds(row.first, row.second); });
    return found;
  }
  static bool has_unique(const ModelRows& rows, std::optional<int> u) {
    return u && std::ranges::any_of(rows, [&](const auto& row) { return row.second.u == u; });
  }

  /// Returns the answer; nothing if the transaction had to be rolled back, which only conflicts
  /// with others or a duplicate in the model may cause.
  std::optional<std::string> answer(Client& client, const std::string& sql, bool is_duplicate) {
    std::string answer = db_.run(*client.session, sql);
    INFO(sql << ": " << answer);
    const bool is_late = answer.starts_with("40001");
    const bool is_locked = answer.starts_with("55P03") || answer.starts_with("40P01");
    const bool is_taken = answer.starts_with("23505");
    if (!is_late && !is_locked && !is_taken) {
      CHECK_FALSE(is_duplicate);
      return answer;
    }
    if (!is_duplicate || !is_taken) {
      const bool is_beside = std::ranges::any_of(
          clients_, [&](const Client& other) { return &other != &client && other.is_open; });
      CHECK((is_beside || commits_ > client.began_at));
    }
    CHECK(db_.run(*client.session, "ROLLBACK") == "ROLLBACK");
    client.is_open = false;
    return std::nullopt;
  }

  void begin(Client& client) {
    for (const char* path : {"enable_seqscan", "enable_indexscan", "enable_indexonlyscan"}) {
      db_.run(*client.session, fmt::format("SET {} = {}", path, below(3) == 0 ? "on" : "off"));
    }
    db_.run(*client.session, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM t LIMIT 1");
    client.is_open = true;
    client.began_at = commits_;
    client.shown = client.now = committed_;
  }

  void commit(Client& client) {
    client.is_open = false;
    if (below(4) == 0) {
      CHECK(db_.run(*client.session, "ROLLBACK") == "ROLLBACK");
      return;
    }
    CHECK(db_.run(*client.session, "COMMIT") == "COMMIT");
    ++commits_;
    std::set<int> keys;
    for (const auto& [id, row] : client.shown) keys.insert(id);
    for (const auto& [id, row] : client.now) keys.insert(id);
    for (const int id : keys) {
      const auto before = client.shown.find(id);
      const auto after = client.now.find(id);
      if (after == client.now.end()) {
        committed_.erase(id);
      } else if (before == client.shown.end() || before->second != after->second) {
        committed_[id] = after->second;
      }
    }
    compare(db_.session(), committed_, {ModelCondition::Of::all, 0});
  }

  void compare(Session& session, const ModelRows& rows, const ModelCondition& which) {
    std::vector<std::string> expected;
    for (const auto& [id, row] : chosen(rows, which)) {
      expected.push_back(fmt::format("{}|{}|{}", id, written(row.u), row.g));
    }
    const std::string sql = "SELECT id, u, g FROM t" + which.text();
    const std::string answer = db_.run(session, sql);
    INFO(sql << ": " << answer);
    std::vector<std::string> found = db_.sink().rows;
    std::ranges::sort(found);
    CHECK(found == expected);
  }

  void read(Client& client) {
    const ModelCondition which = condition();
    compare(*client.session, client.now, which);
    const auto rows = chosen(client.now, which);
    CHECK(db_.run(*client.session, "SELECT count(*) FROM t" + which.text()) ==
          fmt::format("{} SELECT 1", rows.size()));
    // By index only, in the index's order.
    std::multiset<int> values;
    for (const auto& [id, row] : rows) values.insert(row.g);
    std::string expected;
    for (const int value : values) expected += std::to_string(value) + " ";
    CHECK(db_.run(*client.session, "SELECT g FROM t" + which.text() + " ORDER BY g") ==
          expected + fmt::format("SELECT {}", values.size()));
    // An index scan within another.
    std::size_t pairs = 0;
    for (const auto& [id, row] : client.now) {
      if (row.u) pairs += chosen(client.now, {ModelCondition::Of::g, *row.u}).size();
    }
    CHECK(db_.run(*client.session, "SELECT count(b.id + a.id) FROM t a JOIN t b ON b.u = a.g") ==
          fmt::format("{} SELECT 1", pairs));
  }

  void insert(Client& client) {
    const int id = key();
    const ModelRow row{unique_key(), key()};
    const bool is_duplicate = client.now.contains(id) || has_unique(client.now, row.u);
    const auto text =
        answer(client, fmt::format("INSERT INTO t VALUES ({}, {}, {})", id, written(row.u), row.g),
               is_duplicate);
    if (!text) return;
    CHECK(*text == "INSERT 0 1");
    client.now[id] = row;
  }

  void insert_or_update(Client& client) {
    const int id = key();
    const ModelRow row{unique_key(), key()};
    const auto there = client.now.find(id);
    const bool is_duplicate = there == client.now.end() && has_unique(client.now, row.u);
    const auto text = answer(client,
                             fmt::format("INSERT INTO t VALUES ({}, {}, {}) "
                                         "ON CONFLICT (id) DO UPDATE SET g = t.g + 1",
                                         id, written(row.u), row.g),
                             is_duplicate);
    if (!text) return;
    CHECK(*text == "INSERT 0 1");
    if (there != client.now.end()) {
      ++there->second.g;
    } else {
      client.now[id] = row;
    }
  }

  void remove(Client& client) {
    const ModelCondition which = condition();
    const auto text = answer(client, "DELETE FROM t" + which.text(), false);
    if (!text) return;
    const auto gone = chosen(client.now, which);
    CHECK(*text == fmt::format("DELETE {}", gone.size()));
    for (const auto& [id, row] : gone) client.now.erase(id);
  }

  void update(Client& client) {
    const ModelCondition which = condition();
    const auto text = answer(client, "UPDATE t SET g = (g + 1) % 5" + which.text(), false);
    if (!text) return;
    const auto changed = chosen(client.now, which);
    CHECK(*text == fmt::format("UPDATE {}", changed.size()));
    for (const auto& [id, row] : changed) client.now[id].g = (row.g + 1) % kKeys;
  }

  void change_unique(Client& client) {
    const ModelCondition which = condition_of_one();
    const std::optional<int> u = unique_key();
    const auto changed = chosen(client.now, which);
    const bool is_duplicate =
        !changed.empty() && changed.begin()->second.u != u && has_unique(client.now, u);
    const auto text = answer(client, fmt::format("UPDATE t SET u = {}{}", written(u), which.text()),
                             is_duplicate);
    if (!text) return;
    CHECK(*text == fmt::format("UPDATE {}", changed.size()));
    for (const auto& [id, row] : changed) client.now[id].u = u;
  }

  void move(Client& client) {
    const ModelCondition which = condition_of_one();
    const int to = key();
    const auto changed = chosen(client.now, which);
    const bool is_duplicate =
        !changed.empty() && changed.begin()->first != to && client.now.contains(to);
    const auto text =
        answer(client, fmt::format("UPDATE t SET id = {}{}", to, which.text()), is_duplicate);
    if (!text) return;
    CHECK(*text == fmt::format("UPDATE {}", changed.size()));
    for (const auto& [id, row] : changed) {
      client.now.erase(id);
      client.now[to] = row;
    }
  }

  void lock(Client& client) {
    const ModelCondition which = condition();
    const auto text = answer(client, "SELECT FROM t" + which.text() + " FOR UPDATE", false);
    if (!text) return;
    CHECK(text->ends_with(fmt::format("SELECT {}", chosen(client.now, which).size())));
  }

  std::mt19937_64 random_;
  TestDatabase db_;
  std::array<Client, 3> clients_;
  ModelRows committed_;
  int commits_ = 0;
};

}  // namespace

// A transaction sees its snapshot and its own changes, by any access path, and cannot write a key
// that others have changed since the snapshot.
TEST_CASE("At REPEATABLE READ keys that go and come again show no row that is not there",
          "[sql][session][snapshots]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SnapshotModel model{seed};
    for (int i = 0; i < 1500; ++i) {
      INFO("seed " << seed << ", step " << i);
      model.step();
    }
    CHECK(model.commits() > 20);
  }
}
