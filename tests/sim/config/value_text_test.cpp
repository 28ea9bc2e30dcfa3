#include "sim/config/value_text.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/config/run_config.h"

namespace hca::config {
namespace {

template <class Value>
std::string errorOf(const char* text) {
  return parseValue<Value>(text).error;
}

TEST(ValueText, ParsesQuantitiesExactly) {
  EXPECT_EQ(parseValue<Time>("1.5us").value, Time(1'500'000));
  EXPECT_EQ(parseValue<Time>("0.001ns").value, Time(1));
  EXPECT_EQ(parseValue<Time>("7 ms").value, milliseconds(7));
  EXPECT_EQ(parseValue<Time>("0ps").value, Time(0));
  EXPECT_EQ(parseValue<Time>("2s").value, Time(2'000'000'000'000));
  EXPECT_EQ(parseValue<Time>("unlimited").value, kForever);
  EXPECT_EQ(parseValue<Bytes>("256B").value, Bytes(256));
  EXPECT_EQ(parseValue<Bytes>("4KiB").value, Bytes(4096));
  EXPECT_EQ(parseValue<Bytes>("1MB").value, Bytes(1'000'000));
  EXPECT_EQ(parseValue<Bytes>("0.5KiB").value, Bytes(512));
  EXPECT_EQ(parseValue<BitsPerSecond>("100Gbps").value, BitsPerSecond(100'000'000'000));
  EXPECT_EQ(parseValue<BitsPerSecond>("27.3Gbps").value, BitsPerSecond(27'300'000'000));
  EXPECT_EQ(parseValue<Hertz>("1GHz").value, Hertz(1'000'000'000));
  EXPECT_EQ(parseValue<Hertz>("156.25MHz").value, Hertz(156'250'000));
  EXPECT_EQ(parseValue<Cycles>("12").value, Cycles(12));
  EXPECT_EQ(parseValue<Entries>("128").value, Entries(128));
}

TEST(ValueText, ParsesCountsWordsAndRatios) {
  EXPECT_EQ(parseValue<std::uint32_t>("4294967295").value, 4294967295U);
  EXPECT_EQ(parseValue<std::uint64_t>("18446744073709551615").value, UINT64_MAX);
  EXPECT_EQ(parseValue<std::int64_t>("010").value, 10);
  EXPECT_DOUBLE_EQ(parseValue<double>("0.25").value, 0.25);
  EXPECT_TRUE(parseValue<bool>("yes").value);
  EXPECT_FALSE(parseValue<bool>("off").value);
  EXPECT_EQ(parseValue<PayloadMode>("timing").value, PayloadMode::kTiming);
  EXPECT_EQ(parseValue<std::string>("a b").value, "a b");
}

TEST(ValueText, RefusesWrongUnits) {
  EXPECT_EQ(errorOf<Time>("12"), "'12' needs a unit: ps, ns, us, ms or s");
  EXPECT_EQ(errorOf<Time>("12usec"), "'12usec': 'usec' is no unit of a time: ps, ns, us, ms or s");
  EXPECT_EQ(parseValue<Time>("12usec").nearest, "us");
  EXPECT_EQ(errorOf<Bytes>("4kib"), "'4kib': 'kib' is no unit of a size: B, kB, KiB, MB, MiB, GB, GiB, TB or TiB");
  EXPECT_EQ(parseValue<Bytes>("4kib").nearest, "KiB");
  EXPECT_EQ(errorOf<BitsPerSecond>("100GB"), "'100GB': 'GB' is no unit of a rate: bps, kbps, Mbps, Gbps or Tbps");
  EXPECT_EQ(errorOf<Cycles>("12ns"), "'12ns' is not a whole number without a unit (a number of clock cycles)");
  EXPECT_EQ(errorOf<std::uint32_t>("12B"), "'12B' is not a whole number without a unit");
  EXPECT_EQ(errorOf<std::uint32_t>("1.5"), "'1.5' is not a whole number without a unit");
}

TEST(ValueText, RefusesWhatIsNoPlainNumber) {
  EXPECT_EQ(errorOf<Time>("-1us"), "'-1us' is negative");
  EXPECT_EQ(errorOf<std::uint32_t>("-1"), "'-1' is negative");
  EXPECT_EQ(errorOf<std::uint32_t>("0x40"), "'0x40' is hexadecimal: write a decimal number");
  EXPECT_EQ(errorOf<Bytes>("0X40B"), "'0X40B' is hexadecimal: write a decimal number");
  EXPECT_EQ(errorOf<std::uint32_t>("+1"), "'+1': write the number without a sign");
  EXPECT_EQ(errorOf<Time>("us"), "'us' is not a number");
  EXPECT_EQ(errorOf<Time>(""), "has no value");
  EXPECT_EQ(errorOf<std::uint32_t>(""), "has no value");
  EXPECT_EQ(errorOf<Time>("1.5us later"), "'1.5us later': 'us later' is no unit of a time: ps, ns, us, ms or s");
  EXPECT_EQ(errorOf<Time>("1.2.3us"), "'1.2.3us': '.3us' is no unit of a time: ps, ns, us, ms or s");
  EXPECT_EQ(errorOf<Time>("1,5us"), "'1,5us': ',5us' is no unit of a time: ps, ns, us, ms or s");
  EXPECT_EQ(errorOf<Time>("1e3us"), "'1e3us': 'e3us' is no unit of a time: ps, ns, us, ms or s");
  EXPECT_EQ(errorOf<double>("nan"), "'nan' is not a number");
  EXPECT_EQ(errorOf<double>("0.5x"), "'0.5x' is not a number without a unit");
  EXPECT_EQ(errorOf<bool>("maybe"), "'maybe' is neither yes nor no");
  EXPECT_EQ(errorOf<PayloadMode>("timig"), "'timig' is none of moved or timing");
  EXPECT_EQ(parseValue<PayloadMode>("timig").nearest, "timing");
  EXPECT_NE(errorOf<std::string>("a\"b"), "");
  EXPECT_NE(errorOf<std::string>("a\nb"), "");
}

TEST(ValueText, RefusesOverflowAndLostPrecision) {
  EXPECT_EQ(parseValue<Time>("9223372.036854775807s").value, kForever);
  EXPECT_EQ(errorOf<Time>("9223372.036854775808s"), "'9223372.036854775808s' is too large");
  EXPECT_EQ(errorOf<Time>("9223373s"), "'9223373s' is too large");
  EXPECT_EQ(errorOf<Time>("99999999999999999999999999999999999999999999s"),
            "'99999999999999999999999999999999999999999999s' is too large");
  EXPECT_EQ(errorOf<Time>("0.5ps"), "'0.5ps' is finer than 1 ps");
  EXPECT_EQ(errorOf<Bytes>("0.3KiB"), "'0.3KiB' is finer than 1 B");
  EXPECT_EQ(errorOf<std::uint64_t>("18446744073709551616"), "'18446744073709551616' is too large");
  EXPECT_EQ(errorOf<std::uint32_t>("4294967296"), "is too large");
  EXPECT_EQ(parseValue<std::uint8_t>("255").value, 255);
  EXPECT_EQ(errorOf<std::uint8_t>("256"), "is too large");
  EXPECT_EQ(errorOf<Cycles>("9223372036854775808"), "is too large");
  EXPECT_EQ(errorOf<double>("1e999"), "'1e999' is too large");
}

TEST(ValueText, FormatsForReaders) {
  EXPECT_EQ(formatValue(Time(1'500'000)), "1.5us");
  EXPECT_EQ(formatValue(Time(0)), "0ps");
  EXPECT_EQ(formatValue(Time(999)), "999ps");
  EXPECT_EQ(formatValue(Time(1'234'567)), "1234.567ns");
  EXPECT_EQ(formatValue(kForever), "unlimited");
  EXPECT_EQ(formatValue(Bytes(4096)), "4KiB");
  EXPECT_EQ(formatValue(Bytes(1'000'000)), "1MB");
  EXPECT_EQ(formatValue(Bytes(4097)), "4097B");
  EXPECT_EQ(formatValue(BitsPerSecond(27'300'000'000)), "27.3Gbps");
  EXPECT_EQ(formatValue(Hertz(156'250'000)), "156.25MHz");
  EXPECT_EQ(formatValue(Cycles(12)), "12");
  EXPECT_EQ(formatValue(true), "yes");
  EXPECT_EQ(formatValue(PayloadMode::kTiming), "timing");
  EXPECT_EQ(formatValue(0.1), "0.1");
}

template <class Value>
void expectRoundTrip(std::int64_t amount) {
  const Value value(amount);
  const std::string text = formatValue(value);
  const Parsed<Value> parsed = parseValue<Value>(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error;
  EXPECT_EQ(parsed.value, value) << text;
}

TEST(ValueText, EveryFormattedValueReadsBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto amount = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    expectRoundTrip<Time>(amount);
    expectRoundTrip<Bytes>(amount);
    expectRoundTrip<BitsPerSecond>(amount);
    expectRoundTrip<Hertz>(amount);
    expectRoundTrip<Cycles>(amount);
    const double ratio = static_cast<double>(amount) / 3e9;
    EXPECT_EQ(parseValue<double>(formatValue(ratio)).value, ratio);
  }
}

}  // namespace
}  // namespace hca::config
