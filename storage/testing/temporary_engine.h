#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/io/posix_file_system.h"
#include "storage/engine.h"

namespace swizzle::testing {

/// A database in a temporary directory of its own. SWIZZLE_ROW_LOCK_LIMIT=0 makes every test change
/// rows without locks on them, unless the test sets the limit.
class TemporaryEngine {
 public:
  explicit TemporaryEngine(std::uint64_t log_segment_bytes = std::uint64_t{1} << 20U) {
    options.pool_bytes = std::uint64_t{4} << 20U;
    options.log_segment_bytes = log_segment_bytes;
    options.log_buffer_bytes = std::uint64_t{1} << 20U;
    if (const char* const limit = std::getenv("SWIZZLE_ROW_LOCK_LIMIT"))
      options.row_lock_limit = static_cast<std::uint32_t>(std::stoul(limit));
    REQUIRE(Engine::create(*files, data, options));
    open();
  }
  ~TemporaryEngine() {
    engine.reset();
    std::filesystem::remove_all(directory);
  }
  void open() {
    // Background tasks of an engine that was "killed" go on after its files are removed, and must
    // not fail.
    if (options.checkpoint_seconds == EngineOptions{}.checkpoint_seconds)
      options.checkpoint_seconds = 86'400;
    auto opened = Engine::open(*files, data, options);
    if (!opened) FAIL(opened.error().message());
    engine = std::move(*opened);
  }
  /// Reopens the engine as after a kill.
  void crash() {
    engine.reset();
    open();
  }
  /// The same with an open transaction that is never rolled back: the process's memory is lost.
  void kill(std::unique_ptr<Transaction> open_transaction) {
    // Reachable even when the process ends, so that the leak checker does not report it; with its
    // files, since its background tasks go on.
    static auto* const lost =
        new std::vector<std::tuple<std::unique_ptr<Transaction>, std::unique_ptr<Engine>,
                                   std::unique_ptr<PosixFileSystem>>>;
    lost->emplace_back(std::move(open_transaction), std::move(engine), std::move(files));
    files = std::make_unique<PosixFileSystem>();
    const std::filesystem::path copy = directory / "after";
    // The log last: a page may be on disk only when its log is.
    std::filesystem::create_directory(copy);
    for (const auto& entry : std::filesystem::directory_iterator(directory / "data"))
      if (!entry.is_directory())
        std::filesystem::copy(entry.path(), copy / entry.path().filename());
    std::filesystem::copy(directory / "data" / "log", copy / "log");
    data = copy;
    open();
  }
  void close() {
    REQUIRE(engine->close());
    engine.reset();
  }
  TreeId make_tree() {
    const auto transaction = engine->begin();
    const TreeId tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    return tree;
  }
  std::optional<std::string> get(Transaction& transaction, TreeId tree, std::string_view key,
                                 ReadMode mode = ReadMode::snapshot) {
    ValueBuffer value;
    const bool found =
        engine->tree(tree).value().get(transaction, as_bytes(key), value, mode).value();
    if (!found) return std::nullopt;
    return std::string(as_text(value.bytes()));
  }
  std::optional<std::string> get(TreeId tree, std::string_view key) {
    const auto transaction = engine->begin();
    return get(*transaction, tree, key);
  }
  std::map<std::string, std::string> content(Transaction& transaction, TreeId tree,
                                             Direction direction = Direction::forward) {
    std::map<std::string, std::string> rows;
    Cursor cursor = engine->tree(tree).value().scan(transaction, {}, direction).value();
    while (cursor.next().value())
      REQUIRE(rows.emplace(as_text(cursor.key()), as_text(cursor.value())).second);
    return rows;
  }

  std::unique_ptr<PosixFileSystem> files = std::make_unique<PosixFileSystem>();
  std::filesystem::path directory = make_directory();
  std::filesystem::path data = directory / "data";
  EngineOptions options;
  std::unique_ptr<Engine> engine;

 private:
  static std::filesystem::path make_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "swizzle-engine-XXXXXX").string();
    INVARIANT(::mkdtemp(name.data()) != nullptr);
    return name;
  }
};

}  // namespace swizzle::testing
