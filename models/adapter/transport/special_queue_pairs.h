// Which queue pairs are the management ones of the ports.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/adapter/transport/qp_attributes.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// Packets name the queue pairs of subnet management (0) and of general services (1) by these numbers, commands and
/// completions by others (Linux drivers/infiniband/hw/mlx5/qp.c, create_qp: a special queue pair is known as 0 or 1 to
/// users alone). Each port has at most one of both.
class SpecialQueuePairs {
 public:
  explicit SpecialQueuePairs(std::size_t ports) : ports_(ports) {}

  /// The number is one that packets use for a special queue pair.
  [[nodiscard]] static constexpr bool isSpecial(QpNumber number) { return number.value() < kKinds; }
  /// What packets that leave a queue pair of this kind say as their source.
  [[nodiscard]] static constexpr QpNumber sourceOf(QpService service, QpNumber number) {
    return adapter::isSpecial(service) ? QpNumber(kindOf(service)) : number;
  }

  /// Makes it the one of `port`, counted from 1; false if the port has another. Precondition: its service is special.
  [[nodiscard]] bool bind(std::uint8_t port, QpService service, QpNumber number) {
    QpNumber& place = ports_[port - 1U][kindOf(service)];
    if (place != QpNumber() && place != number) return false;
    place = number;
    return true;
  }
  void release(QpNumber number) {
    for (auto& port : ports_) {
      for (QpNumber& place : port) {
        if (place == number) place = QpNumber();
      }
    }
  }
  /// Precondition: isSpecial. Number 0 or 1 itself, which no queue pair has, if the port has none.
  [[nodiscard]] QpNumber find(std::uint8_t port, QpNumber number) const {
    const QpNumber place = ports_[port - 1U][number.value()];
    return place == QpNumber() ? number : place;
  }

 private:
  static constexpr std::uint32_t kKinds = 2;
  static constexpr std::uint32_t kindOf(QpService service) { return service == QpService::kQp0 ? 0 : 1; }

  std::vector<std::array<QpNumber, kKinds>> ports_;
};

}  // namespace hca::adapter
