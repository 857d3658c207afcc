#include "base/long_work.h"

#include "base/park_rules.h"
#include "base/runtime.h"

namespace swizzle {

void rest_from_work() {
  work_until_rest = kWorkBetweenRests;
  if (!may_park()) return;
  Runtime& runtime = Runtime::current();
  Overseer* const overseer = runtime.parker().overseer;
  // Whoever has none has not said that it may be kept waiting here.
  if (overseer == nullptr) return;
  overseer->look();
  runtime.yield();
  // What others did meanwhile is theirs.
  work_until_rest = kWorkBetweenRests;
}

}  // namespace swizzle
