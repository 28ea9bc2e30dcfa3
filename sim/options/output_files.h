// Files that a command line names for output.
#pragma once

#include <optional>
#include <string>

#include "sim/observers/observer_files.h"
#include "sim/options/command.h"

namespace hca::options {

/// Adds the options of `observers::kObserverFileOptions`.
void addObserverFiles(boost::program_options::options_description& options);

/// The absolute path of an option's file, since programs may change their folder, and the file is empty now; an empty
/// one if the option isn't given; nothing if the file can't be written.
[[nodiscard]] std::optional<std::string> outputFile(const Arguments& arguments, const char* option);

/// Sets what addObserverFiles' options ask for. Empty, or what is wrong.
[[nodiscard]] std::string readObserverFiles(const Arguments& arguments, observers::ObserverFiles& files);

}  // namespace hca::options
