#include "models/network/link.h"

namespace hca::network {

Link::Link(kernel::Calendar& calendar, observe::Probes& probes, const NetworkConfig& config)
    : rate_(config.rate),
      directions_{LinkDirection(calendar, probes, config, state_), LinkDirection(calendar, probes, config, state_)} {}

void Link::attach(std::size_t end, const LinkEnd& port) {
  ends_[end] = port;
  directions_[0].attach(ends_[0], ends_[1]);
  directions_[1].attach(ends_[1], ends_[0]);
}

void Link::changeLid(std::size_t end, Lid lid) {
  ends_[end].identity.lid = lid;
  attach(end, LinkEnd(ends_[end]));
}

void Link::setUp(bool isUp) {
  if (isUp == state_.isUp) return;
  state_.isUp = isUp;
  ++state_.changes;
  for (const LinkEnd& end : ends_) {
    if (end.listener != nullptr) end.listener->onLinkState(isUp);
  }
}

}  // namespace hca::network
