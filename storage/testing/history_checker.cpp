#include "storage/testing/history_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace swizzle::testing {
namespace {

using Key = History::Key;
using Number = History::Number;
using Step = History::Step;
using Outcome = History::Transaction::Outcome;

/// Dependency of one transaction on another.
enum Dependency : std::uint8_t {
  kWrite = 1,     // it wrote the next version
  kRead = 2,      // it read the version
  kAnti = 4,      // it wrote the version after the one that was read
  kAntiGone = 8,  // the same, and the read found nothing
};

struct Edge {
  std::size_t to;
  Dependency kind;
};

class Checker {
 public:
  explicit Checker(const History& history) : history_(history) {}

  std::vector<Finding> run() {
    collect_appends();
    find_orders();
    decide_outcomes();
    for (std::size_t t = 0; t < count(); ++t)
      if (is_committed(t)) check_reads(t);
    check_lost();
    draw_writes();
    find_cycles();
    return std::move(findings_);
  }

 private:
  struct Append {
    std::size_t transaction;
    Key key;
    bool is_last;  // of its transaction to the key
  };

  [[nodiscard]] std::size_t count() const { return history_.transactions.size(); }
  [[nodiscard]] bool is_committed(std::size_t t) const {
    return outcomes_[t] == Outcome::committed;
  }

  void found(Anomaly anomaly, std::string what) {
    if (++told_[anomaly] <= 3) findings_.push_back({anomaly, std::move(what)});
  }

  void collect_appends() {
    outcomes_.reserve(count());
    for (std::size_t t = 0; t < count(); ++t) {
      outcomes_.push_back(history_.transactions[t].outcome);
      std::map<Key, Number> last;
      for (const Step& step : history_.transactions[t].steps) {
        if (step.kind != Step::Kind::append) continue;
        if (const auto before = last.find(step.key); before != last.end())
          appends_.at(before->second).is_last = false;
        last[step.key] = step.number;
        if (!appends_.try_emplace(step.number, Append{t, step.key, true}).second)
          found(Anomaly::wrong_read, fmt::format("{} is appended twice", step.number));
      }
    }
  }

  template <class Visit>
  void for_each_list(Visit visit) {
    for (std::size_t t = 0; t < count(); ++t)
      for (const Step& step : history_.transactions[t].steps)
        for (const History::List& list : step.lists) visit(t, list);
  }

  // The longest list of a key that a committed transaction read is the order of its versions.
  void find_orders() {
    for_each_list([&](std::size_t t, const History::List& list) {
      if (outcomes_[t] == Outcome::committed && list.numbers.size() > orders_[list.key].size())
        orders_[list.key] = list.numbers;
    });
  }

  void decide_outcomes() {
    std::set<Number> seen;
    for (const auto& [key, order] : orders_) seen.insert(order.begin(), order.end());
    for (const auto& [number, append] : appends_) {
      Outcome& outcome = outcomes_[append.transaction];
      if (outcome == Outcome::unknown && seen.contains(number)) outcome = Outcome::committed;
    }
    for (Outcome& outcome : outcomes_)
      if (outcome == Outcome::unknown) outcome = Outcome::aborted;
  }

  void check_reads(std::size_t t) {
    std::map<Key, std::vector<Number>> own;
    for (const Step& step : history_.transactions[t].steps) {
      if (step.kind == Step::Kind::append) {
        own[step.key].push_back(step.number);
        continue;
      }
      std::set<Key> there;
      for (const History::List& list : step.lists) {
        there.insert(list.key);
        check_list(t, list, own[list.key]);
      }
      for (const auto& [key, order] : orders_) {
        const bool asked =
            step.kind == Step::Kind::read ? key == step.key : key >= step.key && key < step.end;
        if (!asked || there.contains(key)) continue;
        if (!own[key].empty())
          found(Anomaly::wrong_read, fmt::format("transaction {} does not see its key {}", t, key));
        if (!order.empty()) add(t, writer(order.front()), kAntiGone);
      }
    }
  }

  void check_list(std::size_t t, const History::List& list, const std::vector<Number>& own) {
    const std::vector<Number>& numbers = list.numbers;
    const std::vector<Number>& order = orders_[list.key];
    const auto say = [&](Anomaly anomaly, std::string_view why) {
      found(anomaly, fmt::format("transaction {} reads key {} as [{}]: {}", t, list.key,
                                 fmt::join(numbers, ","), why));
    };
    if (numbers.size() > order.size() || !std::equal(numbers.begin(), numbers.end(), order.begin()))
      say(Anomaly::wrong_read, fmt::format("not a beginning of [{}]", fmt::join(order, ",")));
    if (own.size() > numbers.size() || !std::equal(own.rbegin(), own.rend(), numbers.rbegin()))
      say(Anomaly::wrong_read, "its own appends are not at the end");
    for (const Number number : numbers) {
      const auto append = appends_.find(number);
      if (append == appends_.end() || append->second.key != list.key)
        return say(Anomaly::wrong_read, "nobody appended that");
      if (outcomes_[append->second.transaction] == Outcome::aborted)
        say(Anomaly::g1a, fmt::format("{} was rolled back", number));
    }
    // The versions that others see.
    const std::size_t foreign = numbers.size() - std::min(own.size(), numbers.size());
    if (foreign > 0) {
      const Append& last = appends_.at(numbers[foreign - 1]);
      if (!last.is_last && last.transaction != t) say(Anomaly::g1b, "its writer appended more");
      add(last.transaction, t, kRead);
    }
    if (own.empty() && numbers.size() < order.size())
      add(t, writer(order[numbers.size()]), numbers.empty() ? kAntiGone : kAnti);
  }

  [[nodiscard]] std::size_t writer(Number number) const {
    const auto append = appends_.find(number);
    return append == appends_.end() ? count() : append->second.transaction;
  }

  void check_lost() {
    std::set<Number> last;
    if (count() == 0) return;
    for (const Step& step : history_.transactions.back().steps)
      for (const History::List& list : step.lists)
        last.insert(list.numbers.begin(), list.numbers.end());
    for (const auto& [number, append] : appends_)
      if (is_committed(append.transaction) && !last.contains(number))
        found(Anomaly::lost, fmt::format("{}, which transaction {} appended to key {}", number,
                                         append.transaction, append.key));
  }

  void draw_writes() {
    for (const auto& [key, order] : orders_)
      for (std::size_t i = 1; i < order.size(); ++i)
        add(writer(order[i - 1]), writer(order[i]), kWrite);
  }

  void add(std::size_t from, std::size_t to, Dependency kind) {
    edges_.resize(count());
    if (from == to || from >= count() || to >= count()) return;
    if (is_committed(from) && is_committed(to)) edges_[from].push_back({to, kind});
  }

  /// Returns a shortest path along edges of `kinds`, both ends included; empty if there is none.
  std::vector<std::size_t> way(std::size_t from, std::size_t to, unsigned kinds) const {
    std::vector<std::size_t> before(count(), count());
    std::vector<std::size_t> queue{from};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      if (queue[i] == to && i > 0) break;
      for (const Edge& edge : edges_[queue[i]]) {
        if ((edge.kind & kinds) == 0 || before[edge.to] != count()) continue;
        before[edge.to] = queue[i];
        queue.push_back(edge.to);
      }
    }
    if (before[to] == count()) return {};
    std::vector<std::size_t> steps{to};
    while (steps.back() != from || steps.size() == 1) steps.push_back(before[steps.back()]);
    std::ranges::reverse(steps);
    return steps;
  }

  /// Returns the transactions that may lie on cycles of `kinds`: removes nodes without incoming
  /// edges, then those without outgoing ones, until none is left.
  [[nodiscard]] std::vector<bool> on_cycles(unsigned kinds) const {
    std::vector<std::vector<std::size_t>> to(count());
    std::vector<std::vector<std::size_t>> from(count());
    for (std::size_t t = 0; t < count(); ++t)
      for (const Edge& edge : edges_[t]) {
        if ((edge.kind & kinds) == 0) continue;
        to[t].push_back(edge.to);
        from[edge.to].push_back(t);
      }
    std::vector<bool> left(count(), true);
    peel(left, to, from);
    peel(left, from, to);
    return left;
  }

  /// Repeatedly removes the nodes that have no edge in `in` from the rest.
  static void peel(std::vector<bool>& left, const std::vector<std::vector<std::size_t>>& out,
                   const std::vector<std::vector<std::size_t>>& in) {
    std::vector<std::size_t> degree(left.size());
    std::vector<std::size_t> queue;
    for (std::size_t t = 0; t < left.size(); ++t) {
      degree[t] = static_cast<std::size_t>(
          std::ranges::count_if(in[t], [&](std::size_t other) { return left[other]; }));
      if (left[t] && degree[t] == 0) queue.push_back(t);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      left[queue[i]] = false;
      for (const std::size_t other : out[queue[i]])
        if (left[other] && --degree[other] == 0) queue.push_back(other);
    }
  }

  /// Cycles that begin with an edge of `first` and go on along `rest`.
  void find(Anomaly anomaly, unsigned first, unsigned rest) {
    const std::vector<bool> candidate = on_cycles(first | rest);
    for (std::size_t t = 0; t < count(); ++t) {
      if (!candidate[t]) continue;
      for (const Edge& edge : edges_[t]) {
        if ((edge.kind & first) == 0 || !candidate[edge.to]) continue;
        const auto back = way(edge.to, t, rest);
        if (back.empty()) continue;
        found(anomaly, fmt::format("transactions {} -> {}", t, fmt::join(back, " -> ")));
        return;
      }
    }
  }

  void find_cycles() {
    edges_.resize(count());
    find(Anomaly::g0, kWrite, kWrite);
    find(Anomaly::g1c, kRead, kWrite | kRead);
    find(Anomaly::g_single, kAnti | kAntiGone, kWrite | kRead);
    find(Anomaly::g2_item, kAnti, kWrite | kRead | kAnti);
    find(Anomaly::g2, kAntiGone, kWrite | kRead | kAnti | kAntiGone);
  }

  const History& history_;
  std::vector<Outcome> outcomes_;
  std::map<Number, Append> appends_;
  std::map<Key, std::vector<Number>> orders_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<Finding> findings_;
  std::map<Anomaly, int> told_;
};

}  // namespace

std::string_view name(Anomaly anomaly) noexcept {
  switch (anomaly) {
    case Anomaly::wrong_read:
      return "wrong read";
    case Anomaly::lost:
      return "lost append";
    case Anomaly::g0:
      return "G0";
    case Anomaly::g1a:
      return "G1a";
    case Anomaly::g1b:
      return "G1b";
    case Anomaly::g1c:
      return "G1c";
    case Anomaly::g_single:
      return "G-single";
    case Anomaly::g2_item:
      return "G2-item";
    case Anomaly::g2:
      break;
  }
  return "G2";
}

std::vector<Finding> check(const History& history) {
  return Checker{history}.run();
}

}  // namespace swizzle::testing
