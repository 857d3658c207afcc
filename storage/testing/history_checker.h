#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swizzle::testing {

/// Log of the sessions' operations on lists of numbers. Every list belongs to a key, and every
/// number is appended once in the whole history. So a list that was read tells which appends it
/// came after, and in which order. The dependencies between transactions follow from that without
/// any knowledge of the database.
struct History {
  using Key = std::int64_t;
  using Number = std::int64_t;
  struct List {
    Key key = 0;
    std::vector<Number> numbers;
  };
  struct Step {
    enum class Kind : std::uint8_t {
      append,  ///< `number` to `key`
      read,    ///< of `key`: lists has it, or is empty if there was no key
      range,   ///< of the keys [key, end): lists has those that were there
    } kind = Kind::read;
    Key key = 0;
    Key end = 0;
    Number number = 0;
    std::vector<List> lists;
  };
  struct Transaction {
    enum class Outcome : std::uint8_t {
      committed,
      aborted,
      unknown,  ///< no answer arrived; the history decides
    } outcome = Outcome::unknown;
    std::vector<Step> steps;
  };
  std::vector<Transaction> transactions;
};

/// Adya's phenomena, weakest first, and errors that no level allows.
enum class Anomaly : std::uint8_t {
  wrong_read,  ///< of one's own writes, of numbers never appended, of orders that contradict
  lost,        ///< a committed append that the last reader does not see
  g0,          ///< a cycle of writes
  g1a,         ///< a read of a change that was rolled back
  g1b,         ///< a read of a change that its writer changed again later
  g1c,         ///< a cycle of writes and reads
  g_single,    ///< a cycle with one anti-dependency: a snapshot forbids it
  g2_item,     ///< a cycle with several, of keys that were there
  g2,          ///< the same with keys that were not there: ranges and absent keys
};
std::string_view name(Anomaly anomaly) noexcept;

struct Finding {
  Anomaly anomaly;
  std::string what;
};

/// Pre: the history's last transaction, after all others, read every key. One finding per anomaly
/// and reason at most is enough to make a history bad; all that are found cheaply are returned.
std::vector<Finding> check(const History& history);

/// One transaction a line: "c" (committed), "a" or "?", then steps: "+key:number" for an append,
/// "key=1,2,3" for a read ("key=" was empty, "key!" was not there) and "low..end{key=…;key=…}" for
/// a range.
std::string to_text(const History& history);
/// Throws std::runtime_error with the line's number when it is not of that form.
History from_text(std::string_view text);

}  // namespace swizzle::testing
