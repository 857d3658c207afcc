#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/btree/node.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/recovery/records/record_undo.h"
#include "wal/record_kinds.h"

namespace swizzle {

/// Definition of one kind of log record. A new kind needs a line in the table in record_kinds.cpp
/// and a value in RecordKind.
struct RecordKindEntry {
  RecordKind kind;
  std::string_view name;
  PageEffects effects;
  /// Repeats PageEffect::change on `node`, which holds `page`. Null if no effect is a change.
  Result<> (*redo)(const wal::Record& record, PageId page, Node& node) = nullptr;
  /// Returns the rows in the order in which they are undone. Null if the record is never undone and
  /// leaves the contents of the tree unchanged.
  Result<std::vector<UndoneRow>> (*undo)(Bytes payload) = nullptr;
  /// Describes the payload in words. Null if it adds nothing to the header.
  std::string (*describe)(const wal::Record& record) = nullptr;
};

std::span<const RecordKindEntry> record_kinds() noexcept;
/// Returns null for kinds that storage does not write.
const RecordKindEntry* find_kind(wal::RecordKind kind) noexcept;

/// Returns the table for programs that print a log.
wal::RecordKinds kinds_for_people();

}  // namespace swizzle
