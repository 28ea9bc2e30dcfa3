#include "sim/options/output_files.h"

#include <filesystem>
#include <fstream>

namespace hca::options {

void addObserverFiles(boost::program_options::options_description& options) {
  for (const observers::ObserverFileOption& file : observers::kObserverFileOptions) {
    options.add_options()(file.option, boost::program_options::value<std::string>()->value_name("FILE"), file.help);
  }
}

std::optional<std::string> outputFile(const Arguments& arguments, const char* option) {
  if (!arguments.has(option)) return std::string();
  const std::string path = std::filesystem::absolute(arguments.text(option)).string();
  return std::ofstream(path, std::ios::trunc) ? std::optional<std::string>(path) : std::nullopt;
}

std::string readObserverFiles(const Arguments& arguments, observers::ObserverFiles& files) {
  for (const observers::ObserverFileOption& file : observers::kObserverFileOptions) {
    const std::string option = std::string("--") + file.option;
    if (arguments.text(file.option) == "-") return option + ": name a file";
    const auto path = outputFile(arguments, file.option);
    if (!path) return option + ": '" + arguments.text(file.option) + "' can't be written";
    files.*file.path = *path;
  }
  return {};
}

}  // namespace hca::options
