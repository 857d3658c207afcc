#pragma once

#include "base/result.h"
#include "storage/engine.h"
#include "tpcc/backend.h"
#include "tpcc/embedded/tables.h"

namespace swizzle::tpcc {

/// Creates the trees and fills each bottom-up, in key order, in a transaction of its own.
Result<Catalog> load_embedded(Engine& engine, const Population& population,
                              const Backend::Progress& progress);

}  // namespace swizzle::tpcc
