#pragma once

#include <span>

#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "wal/log.h"

namespace swizzle {

/// Copies the prepared transactions of `from` to `to`: their changes and the rest of their kept
/// state. The changes become records without a page, for undo alone, since the pages have them.
/// Afterwards `from` can be deleted. Durable when `to` is closed. Pre: the database of `from` was
/// closed.
Result<> carry_over_prepared(const wal::Log& from, std::span<const ActiveTransaction> prepared,
                             wal::Log& to);

}  // namespace swizzle
