#include "storage/recovery/records/record_kinds.h"

#include <array>
#include <utility>

#include "storage/recovery/records/record_describe.h"
#include "storage/recovery/records/record_redo.h"

namespace swizzle {
namespace {

using Kind = RecordKind;
using Effect = PageEffect;

constexpr std::array kKinds{
    RecordKindEntry{Kind::leaf_insert,
                    "leaf_insert",
                    {Effect::change, Effect::none},
                    redo_of::leaf_insert,
                    undo_of::leaf_insert,
                    describe::row},
    RecordKindEntry{Kind::leaf_update,
                    "leaf_update",
                    {Effect::change, Effect::none},
                    redo_of::leaf_update,
                    undo_of::leaf_update,
                    describe::update},
    RecordKindEntry{Kind::leaf_remove,
                    "leaf_remove",
                    {Effect::change, Effect::none},
                    redo_of::leaf_remove,
                    undo_of::leaf_remove,
                    describe::row},
    RecordKindEntry{Kind::leaf_removals,
                    "leaf_removals",
                    {Effect::change, Effect::none},
                    redo_of::leaf_removals,
                    undo_of::leaf_removals,
                    describe::rows},
    RecordKindEntry{Kind::ghosts_removed,
                    "ghosts_removed",
                    {Effect::change, Effect::none},
                    redo_of::ghosts_removed,
                    nullptr,
                    describe::slots},
    RecordKindEntry{Kind::records_discarded,
                    "records_discarded",
                    {Effect::change, Effect::none},
                    redo_of::records_discarded,
                    nullptr,
                    describe::slots},
    RecordKindEntry{Kind::node_split,
                    "node_split",
                    {Effect::change, Effect::image},
                    redo_of::split_left,
                    nullptr,
                    describe::split},
    RecordKindEntry{Kind::foster_adopted,
                    "foster_adopted",
                    {Effect::change, Effect::change},
                    redo_of::adoption,
                    nullptr,
                    describe::adoption},
    RecordKindEntry{Kind::root_grown,
                    "root_grown",
                    {Effect::change, Effect::image},
                    redo_of::root_growth,
                    nullptr,
                    describe::images},
    RecordKindEntry{Kind::child_deadopted,
                    "child_deadopted",
                    {Effect::change, Effect::change},
                    redo_of::deadoption,
                    nullptr,
                    describe::deadoption},
    RecordKindEntry{Kind::nodes_merged,
                    "nodes_merged",
                    {Effect::image, Effect::free},
                    nullptr,
                    nullptr,
                    describe::images},
    RecordKindEntry{Kind::nodes_rebalanced,
                    "nodes_rebalanced",
                    {Effect::image, Effect::image},
                    nullptr,
                    nullptr,
                    describe::images},
    RecordKindEntry{Kind::page_image,
                    "page_image",
                    {Effect::image, Effect::none},
                    nullptr,
                    undo_of::new_root,
                    describe::images},
    RecordKindEntry{Kind::pages_freed, "pages_freed", {}, nullptr, nullptr, describe::pages},
    RecordKindEntry{Kind::child_appended,
                    "child_appended",
                    {Effect::change, Effect::image},
                    redo_of::appended_child,
                    nullptr,
                    describe::images},
    RecordKindEntry{Kind::children_freed,
                    "children_freed",
                    {Effect::change, Effect::none},
                    redo_of::freed_children,
                    nullptr,
                    describe::pages},
    RecordKindEntry{Kind::load_begun, "load_begun", {}, nullptr, undo_of::load_begun},
    RecordKindEntry{Kind::load_undone, "load_undone", {}},
    RecordKindEntry{
        Kind::transaction_committed, "transaction_committed", {}, nullptr, nullptr, describe::time},
    RecordKindEntry{
        Kind::transaction_ended, "transaction_ended", {}, nullptr, nullptr, describe::time},
    RecordKindEntry{Kind::transaction_prepared,
                    "transaction_prepared",
                    {},
                    nullptr,
                    nullptr,
                    describe::prepared},
    RecordKindEntry{Kind::prepared_kept, "prepared_kept", {}, nullptr, nullptr, describe::kept},
    RecordKindEntry{Kind::checkpoint, "checkpoint", {}},
    RecordKindEntry{
        Kind::restore_point, "restore_point", {}, nullptr, nullptr, describe::restore_point},
    RecordKindEntry{Kind::segment_filled, "segment_filled", {}},
    RecordKindEntry{Kind::change_noted, "change_noted", {}, nullptr, nullptr, describe::noted},
    RecordKindEntry{
        Kind::changes_taken_back, "changes_taken_back", {}, nullptr, nullptr, describe::taken_back},
};

constexpr std::array<const RecordKindEntry*, 256> by_number() {
  std::array<const RecordKindEntry*, 256> found{};
  for (const RecordKindEntry& entry : kKinds) found[std::to_underlying(entry.kind)] = &entry;
  return found;
}
constexpr auto kByNumber = by_number();

}  // namespace

std::span<const RecordKindEntry> record_kinds() noexcept {
  return kKinds;
}

const RecordKindEntry* find_kind(wal::RecordKind kind) noexcept {
  return kByNumber[std::to_underlying(kind)];
}

wal::RecordKinds kinds_for_people() {
  wal::RecordKinds kinds;
  for (const RecordKindEntry& entry : kKinds) {
    kinds.add(static_cast<wal::RecordKind>(entry.kind), entry.name,
              [&entry](const wal::Record& record) {
                std::string text = entry.describe != nullptr ? entry.describe(record) : "";
                const bool compensates = (record.header.flags & record_flags::kCompensation) != 0;
                return compensates ? "compensation: " + text : text;
              });
  }
  return kinds;
}

}  // namespace swizzle
