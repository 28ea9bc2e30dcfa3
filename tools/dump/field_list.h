// The fields of one structure, as text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hca::dump {

/// Names and values, in the order of the structure.
class FieldList {
 public:
  void text(const std::string& name, std::string value) { fields_.emplace_back(name, std::move(value)); }
  void decimal(const char* name, std::uint64_t value) { text(name, std::to_string(value)); }
  void hex(const char* name, std::uint64_t value) { text(name, hexText(value)); }
  void flag(const char* name, bool value) { text(name, value ? "yes" : "no"); }
  /// "0x12 (name of it)"
  void named(const char* name, std::uint64_t value, const char* meaning) {
    text(name, hexText(value) + " (" + meaning + ")");
  }
  void bytes(const char* name, const std::uint8_t* data, std::size_t size);

  /// One line a field: `indent`, name, colon, value.
  [[nodiscard]] std::string toText(const std::string& indent) const;

  [[nodiscard]] static std::string hexText(std::uint64_t value);

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace hca::dump
