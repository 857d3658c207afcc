#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

using namespace swizzle;
using namespace swizzle::testing;

// Resources that open transactions hold, and their display.

namespace {

/// Collects the log messages during its lifetime.
class CapturedLog {
 public:
  CapturedLog()
      : before_(spdlog::default_logger()),
        sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("captured", sink_));
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  [[nodiscard]] std::size_t count(std::string_view wanted) const {
    const std::string text = text_.str();
    std::size_t found = 0;
    for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1))
      ++found;
    return found;
  }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream text_;
  std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_;
};

void put(TemporaryEngine& in, Transaction& transaction, TreeId tree, const std::string& key,
         std::size_t bytes) {
  const std::string value(bytes, 'v');
  REQUIRE(
      in.engine->tree(tree).value().insert(transaction, as_bytes(key), as_bytes(value)).value());
}

}  // namespace

TEST_CASE("Who has written is shown with the log that is kept for him", "[storage]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  CHECK(in.engine->writers().empty());
  const auto reader = in.engine->begin();
  CHECK_FALSE(in.get(*reader, tree, "a"));
  const auto writer = in.engine->begin();
  writer->work_for(7, nullptr);
  CHECK(in.engine->writers().empty());
  put(in, *writer, tree, "a", 10);
  const auto first = in.engine->writers();
  REQUIRE(first.size() == 1);
  CHECK(first.front().label == 7);
  CHECK(first.front().id == writer->id());
  CHECK(first.front().state == WritingTransaction::State::running);
  // The log of other transactions is kept for it as well.
  const auto other = in.engine->begin();
  for (int i = 0; i < 10; ++i) put(in, *other, tree, "b" + std::to_string(i), 1000);
  REQUIRE(other->commit());
  const auto later = in.engine->writers();
  REQUIRE(later.size() == 1);
  CHECK(later.front().log_bytes > first.front().log_bytes + 10'000);
  writer->rollback();
  CHECK(in.engine->writers().empty());
}

TEST_CASE("A transaction that says not whom it works for works for nobody before it", "[storage]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  {
    const auto of_a_session = in.engine->begin();
    of_a_session->work_for(7, nullptr);
    put(in, *of_a_session, tree, "a", 10);
    REQUIRE(of_a_session->commit());
  }
  // It gets the released place.
  const auto own = in.engine->begin();
  put(in, *own, tree, "b", 10);
  REQUIRE(in.engine->writers().size() == 1);
  CHECK(in.engine->writers().front().label == 0);
}

TEST_CASE("A snapshot says which transactions wrote after it", "[storage]") {
  TemporaryEngine in;
  const TreeId tree = in.make_tree();
  const auto reader = in.engine->begin(Isolation::repeatable_read);
  CHECK_FALSE(in.get(*reader, tree, "a"));
  const auto writer = in.engine->begin();
  put(in, *writer, tree, "a", 10);
  REQUIRE(in.engine->snapshots().size() == 1);
  CHECK(in.engine->snapshots().front().next_id == writer->id());
}

TEST_CASE("A transaction that keeps much log is warned of, once", "[storage][recovery]") {
  TemporaryEngine in;
  in.options.checkpoint_log_bytes = std::uint64_t{64} << 10U;
  in.close();
  in.open();
  const TreeId tree = in.make_tree();
  const auto forgotten = in.engine->begin();
  put(in, *forgotten, tree, "a", 10);
  const CapturedLog log;
  const auto fill = [&](const std::string& prefix) {
    const auto other = in.engine->begin();
    for (int i = 0; i < 150; ++i) put(in, *other, tree, prefix + std::to_string(i), 1000);
    REQUIRE(other->commit());
    REQUIRE(in.engine->checkpoint());
  };
  const std::string warning = "transaction " + std::to_string(raw(forgotten->id())) + " is open";
  fill("b");
  CHECK(log.count(warning) == 0);
  fill("c");
  CHECK(log.count(warning) == 1);
  fill("d");
  CHECK(log.count(warning) == 1);
  forgotten->rollback();
}
