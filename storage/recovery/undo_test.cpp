#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "storage/engine.h"

using namespace swizzle;

namespace {

std::string value_of(Engine& engine, TreeId tree, std::string_view key) {
  auto transaction = engine.begin();
  ValueBuffer value;
  const bool found = engine.tree(tree)->get(*transaction, as_bytes(key), value).value();
  transaction->rollback();
  return found ? std::string{as_text(value.bytes())} : "(absent)";
}

}  // namespace

// The ghost of the removed record gets the new value, so the old value must come from the undo
// record, or from the log.
TEST_CASE("a key that is removed and inserted again gets its old value back", "[undo]") {
  SimulatedDisk disk;
  REQUIRE(disk.create_directory("/database"));
  EngineOptions options;
  options.pool_bytes = std::uint64_t{4} << 20U;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  REQUIRE(Engine::create(disk, "/database", options));
  auto engine = Engine::open(disk, "/database", options).value();
  auto first = engine->begin();
  const TreeId tree = engine->create_tree(*first).value();
  REQUIRE(engine->tree(tree)->insert(*first, as_bytes("key"), as_bytes("old")).value());
  REQUIRE(first->commit());

  auto second = engine->begin();
  REQUIRE(engine->tree(tree)->remove(*second, as_bytes("key")).value());
  REQUIRE(engine->tree(tree)->insert(*second, as_bytes("key"), as_bytes("new")).value());
  second->rollback();
  const std::string found = value_of(*engine, tree, "key");
  REQUIRE(engine->close());
  REQUIRE(found == "old");
}
