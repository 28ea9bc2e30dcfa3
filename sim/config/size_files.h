// The files that flows take their message sizes from.
#pragma once

#include "sim/config/config.h"
#include "sim/config/config_values.h"
#include "sim/config/problem.h"

namespace hca::config {

/// Fills the size table of each flow that names a file, relative to where it is named: a configuration file's folder,
/// or the present one. What is wrong in such a file is told with its own lines.
void readSizeFiles(Config& config, const ConfigValues& values, Problems& problems);

}  // namespace hca::config
