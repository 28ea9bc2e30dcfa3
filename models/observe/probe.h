// Observation points: a model fires, whoever listens was attached from outside.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace hca::observe {

/// A point at which a model tells what happened. Without a listener it costs one comparison: the event is built only
/// if somebody listens. Listeners must not call back into the model.
template <class Event>
class Probe {
 public:
  using Listener = std::function<void(const Event&)>;

  void attach(Listener listener) { listeners_.push_back(std::move(listener)); }
  [[nodiscard]] bool hasListeners() const { return !listeners_.empty(); }

  /// `build` returns the event; it isn't called when nobody listens.
  template <class Build>
  void fire(Build&& build) const {
    if (listeners_.empty()) return;
    const Event event = build();
    for (const Listener& listener : listeners_) listener(event);
  }

 private:
  std::vector<Listener> listeners_;
};

}  // namespace hca::observe
