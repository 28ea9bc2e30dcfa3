#include "models/pcie/credit_ledger.h"

#include <algorithm>

namespace hca::pcie {

CreditLedger::Credits CreditLedger::limited(Credits need) const {
  return {std::min(need.headers, limits_.headers), std::min(need.data, limits_.data)};
}

bool CreditLedger::take(Credits need, Time when) {
  while (!returns_.empty() && returns_.front().when <= when) {
    const Return back = returns_.pop();
    available_.headers += back.credits.headers;
    available_.data += back.credits.data;
  }
  const Credits taken = limited(need);
  if (taken.headers > available_.headers || taken.data > available_.data) return false;
  available_.headers -= taken.headers;
  available_.data -= taken.data;
  return true;
}

void CreditLedger::giveBack(Credits credits, Time when) {
  lastReturn_ = later(lastReturn_, when);
  returns_.push({limited(credits), lastReturn_});
}

Time CreditLedger::availableAt(Credits need) const {
  const Credits wanted = limited(need);
  Credits there = available_;
  Time when{};
  for (std::size_t i = 0; i < returns_.size(); ++i) {
    if (wanted.headers <= there.headers && wanted.data <= there.data) break;
    there.headers += returns_[i].credits.headers;
    there.data += returns_[i].credits.data;
    when = returns_[i].when;
  }
  return wanted.headers <= there.headers && wanted.data <= there.data ? when : kForever;
}

}  // namespace hca::pcie
