#include "tools/dump/field_list.h"

#include <algorithm>
#include <cstdio>

namespace hca::dump {

std::string FieldList::hexText(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void FieldList::bytes(const char* name, const std::uint8_t* data, std::size_t size) {
  std::string line;
  for (std::size_t i = 0; i < size; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x", data[i]);
    if (i != 0 && i % 4 == 0) line += ' ';
    line += byte;
  }
  text(name, line);
}

std::string FieldList::toText(const std::string& indent) const {
  std::string lines;
  for (const auto& [name, value] : fields_) {
    lines += indent;
    lines += name;
    lines += ": ";
    lines += value;
    lines += '\n';
  }
  return lines;
}

}  // namespace hca::dump
