#pragma once

#include <span>

#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "wal/log.h"

namespace swizzle {

/// Writes into `to` what `from` has of transactions that are prepared: their changes, as records
/// without a page, which are there to be undone alone, since the pages have them, and what was to
/// be kept of them. So `from` can go. Durable when `to` is closed. Pre: the database of `from` was
/// closed.
Result<> carry_over_prepared(const wal::Log& from, std::span<const ActiveTransaction> prepared,
                             wal::Log& to);

}  // namespace swizzle
