#include "tools/dump/hex_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hca::dump {
namespace {

constexpr std::string_view kBlanks = " \t\r,";

enum class Form { kPlain, kColon, kCanonical, kAddressed };

bool isHexDigits(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<std::uint64_t> number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Where the address of a line with a colon ends; the kernel puts a time stamp and names in front of it.
std::size_t colonOf(std::string_view line) {
  for (std::size_t at = line.find(": "); at != std::string_view::npos; at = line.find(": ", at + 1)) {
    const std::size_t blank = line.find_last_of(kBlanks, at);
    const std::size_t start = blank == std::string_view::npos ? 0 : blank + 1;
    if (at - start >= 4 && isHexDigits(line.substr(start, at - start))) return at;
  }
  return std::string_view::npos;
}

Form formOf(std::string_view line) {
  if (colonOf(line) != std::string_view::npos) return Form::kColon;
  const std::vector<std::string_view> words = wordsOf(line);
  if (line.find('|') != std::string_view::npos && words.size() > 1) return Form::kCanonical;
  const std::size_t digits = words.empty() ? 0 : words[0].size();
  // Six digits are also three bytes of a plain dump, unless what follows has another length.
  const bool address =
      words.size() > 1 && isHexDigits(words[0]) && (digits == 7 || (digits == 6 && words[1].size() != digits));
  return address ? Form::kAddressed : Form::kPlain;
}

bool isText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte < 0x7F) || byte == '\t' || byte == '\r' || byte == '\n';
  });
}

class DumpReader {
 public:
  HexResult read(std::string_view text) {
    for (std::size_t at = 0; at < text.size() && result_.error.empty();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      take(text.substr(at, end - at));
      at = end + 1;
    }
    if (result_.error.empty() && repeat_) fail("the dump ends behind a '*': the line with the last address is missing");
    if (!result_.error.empty()) result_.bytes.clear();
    return std::move(result_);
  }

 private:
  void fail(const std::string& what) { result_.error = "line " + std::to_string(line_) + ": " + what; }

  void take(std::string_view line) {
    const std::vector<std::string_view> words = wordsOf(line);
    if (words.empty()) return;
    if (!form_) form_ = formOf(line);
    if (words[0] == "*" && words.size() == 1) {
      if (lastLine_.empty()) return fail("'*' with no line before it");
      repeat_ = true;
      return;
    }
    switch (*form_) {
      case Form::kPlain:
        return plain(words);
      case Form::kColon:
        return colon(line);
      case Form::kCanonical:
        return canonical(line);
      case Form::kAddressed:
        return addressed(words);
    }
  }

  void plain(const std::vector<std::string_view>& words) {
    for (std::string_view word : words) {
      if (word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X") word.remove_prefix(2);
      if (!digits(word)) return;
    }
  }

  // The text column begins behind two blanks.
  void colon(std::string_view line) {
    const std::size_t colon = colonOf(line);
    if (colon == std::string_view::npos) return fail("no 'address: bytes' as in the lines before");
    const std::size_t blank = line.find_last_of(kBlanks, colon);
    const std::size_t start = blank == std::string_view::npos ? 0 : blank + 1;
    if (!address(line.substr(start, colon - start), 16)) return;
    std::string_view rest = line.substr(colon + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest = rest.substr(0, rest.find("  "));
    bytesOfLine(wordsOf(rest), false);
  }

  void canonical(std::string_view line) {
    const std::vector<std::string_view> words = wordsOf(line.substr(0, line.find('|')));
    if (words.empty() || !address(words[0], 16)) return;
    bytesOfLine({words.begin() + 1, words.end()}, false);
  }

  void addressed(const std::vector<std::string_view>& words) {
    if (!base_ && first_) base_ = baseOf(words[0]);
    if (words.size() > 1) wide_ = words[1].size() == 4;
    if (!address(words[0], base_.value_or(8))) return;
    bytesOfLine({words.begin() + 1, words.end()}, true);
  }
  // od counts in octal, hexdump in hexadecimal: whichever continues the lines before. Where a repeat hides that, words
  // of four digits are taken for hexdump's.
  [[nodiscard]] int baseOf(std::string_view word) const {
    const auto hex = number(word, 16);
    const auto octal = number(word, 8);
    if (!octal || !hex) return 16;
    if (repeat_) return wide_ ? 16 : 8;
    return *hex - *first_ == result_.bytes.size() ? 16 : 8;
  }

  /// False if the line does not follow on the one before it.
  bool address(std::string_view digits, int base) {
    const auto value = number(digits, base);
    if (!value) {
      fail("'" + std::string(digits) + "' is no address");
      return false;
    }
    if (!first_) first_ = *value;
    if (repeat_) {
      if (*value < *first_ || !fill(*value - *first_)) {
        fail("the address behind a '*' is no whole number of lines further");
        return false;
      }
      repeat_ = false;
    }
    if (*value - *first_ == result_.bytes.size()) return true;
    fail("address " + std::string(digits) + " does not follow on the line before: bytes are missing or double");
    return false;
  }

  bool fill(std::uint64_t until) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    while (until <= kMost && result_.bytes.size() < until) {
      result_.bytes.insert(result_.bytes.end(), lastLine_.begin(), lastLine_.end());
    }
    return result_.bytes.size() == until;
  }

  void bytesOfLine(const std::vector<std::string_view>& words, bool hostWords) {
    const std::size_t before = result_.bytes.size();
    for (const std::string_view word : words) {
      if (hostWords && word.size() > 2 ? !hostWord(word) : !digits(word)) return;
    }
    lastLine_.assign(result_.bytes.begin() + static_cast<std::ptrdiff_t>(before), result_.bytes.end());
  }

  bool hostWord(std::string_view word) {
    constexpr std::size_t kOctalDigits = 6;
    const bool octal = word.size() == kOctalDigits;
    const std::size_t size = octal ? 2 : word.size() / 2;
    const auto value = number(word, octal ? 8 : 16);
    const bool known = octal || word.size() == 4 || word.size() == 8 || word.size() == 16;
    if (!known || !value) {
      fail("'" + std::string(word) + "' is no byte, nor a word of 2, 4 or 8 bytes");
      return false;
    }
    for (std::size_t i = 0; i < size; ++i) result_.bytes.push_back(static_cast<std::uint8_t>(*value >> (8 * i)));
    return true;
  }

  bool digits(std::string_view word) {
    if (!isHexDigits(word) || word.size() % 2 != 0) {
      fail("'" + std::string(word) + "' is no hexadecimal byte" + (isHexDigits(word) ? ": odd number of digits" : ""));
      return false;
    }
    for (std::size_t i = 0; i < word.size(); i += 2) {
      result_.bytes.push_back(static_cast<std::uint8_t>(*number(word.substr(i, 2), 16)));
    }
    return true;
  }

  HexResult result_;
  std::size_t line_ = 0;
  std::optional<Form> form_;
  std::optional<std::uint64_t> first_;
  std::optional<int> base_;
  bool wide_ = false;
  std::vector<std::uint8_t> lastLine_;
  bool repeat_ = false;
};

}  // namespace

HexResult readDump(std::string_view text) {
  if (isText(text)) return DumpReader().read(text);
  HexResult result;
  result.bytes.assign(text.begin(), text.end());
  return result;
}

}  // namespace hca::dump
