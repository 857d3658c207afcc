#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "storage/engine.h"

/// Helpers for tests of bulk loads.
namespace swizzle::testing {

inline constexpr auto kBlankTree = Engine::Loadable::blank_tree;

using Content = std::map<std::string, std::string>;

inline std::string key_of(std::uint64_t number) {
  std::string text = std::to_string(number);
  return "key/" + std::string(8 - text.size(), '0') + text;
}

inline Content content_of(std::uint64_t count) {
  Content content;
  for (std::uint64_t i = 0; i < count; ++i) content.emplace(key_of(i), std::string(80, 'v'));
  return content;
}

/// Loads all content; large values go to the overflow tree.
inline void load(Engine& engine, Transaction& transaction, TreeId tree, const Content& content) {
  const auto load = engine.start_load(transaction, tree, Engine::Loadable::blank_tree).value();
  REQUIRE(load != nullptr);
  for (const auto& [key, value] : content)
    REQUIRE(load->add(as_bytes(key), as_bytes(value)).value());
  REQUIRE(load->finish().value() == content.size());
}

}  // namespace swizzle::testing
