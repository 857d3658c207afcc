#pragma once

#include <span>
