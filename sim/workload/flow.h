// A stream of messages between two threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "sim/report/latency_histogram.h"
#include "sim/report/result.h"
#include "sim/workload/flow_config.h"
#include "sim/workload/flow_endpoint.h"

namespace hca::sim {

/// The two sides, their set-up out of band, and what was measured. Kinds differ in what happens afterwards.
class Flow {
 public:
  /// `movesPayload`: payload is really moved, so that its content can be checked.
  Flow(std::string name, const FlowConfig& config, bool movesPayload);
  virtual ~Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Creates both sides' objects, connects them in no simulated time of its own, and begins. `finished` runs once, also
  /// after a failure.
  void start(std::function<void()> finished);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const FlowConfig& config() const { return config_; }
  [[nodiscard]] bool finished() const { return finished_; }
  /// Share of the measured messages that are done, 0..1.
  [[nodiscard]] double done() const;
  /// Why the flow could not go on; empty if it could.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const report::LatencyHistogram& latency() const { return latency_; }
  /// The span in which the measured messages were posted and completed.
  [[nodiscard]] Time measuredFrom() const { return begin_; }
  [[nodiscard]] Time measuredUntil() const { return end_; }
  /// Messages that arrived with wrong content.
  [[nodiscard]] std::uint64_t corrupted() const { return corrupted_; }
  /// Called when the measurement begins: requests posted from then on count.
  void setMeasurementListener(std::function<void(Time)> listener) { onMeasurement_ = std::move(listener); }
  /// The side that posts first.
  [[nodiscard]] const FlowEndpoint& clientSide() const { return *client_; }
  [[nodiscard]] const FlowEndpoint& serverSide() const { return *server_; }
  /// What was measured so far. Content that can be looked at only in the end is checked here: call it after the run.
  [[nodiscard]] report::FlowResult result();

 protected:
  /// Both sides are connected; the client's thread and the server's are idle.
  virtual void begin() = 0;
  /// Payload of the messages measured.
  [[nodiscard]] virtual std::uint64_t measuredBytes() const { return measured_ * size(); }
  /// Checks content that the flow didn't check on the way.
  virtual void checkRemainder() {}

  void makeEnds(driver::VerbsClient& client, driver::VerbsClient& server, const FlowEndpoint::Shape& clientShape,
                const FlowEndpoint::Shape& serverShape);
  [[nodiscard]] FlowEndpoint& clientEnd() const { return *client_; }
  [[nodiscard]] FlowEndpoint& serverEnd() const { return *server_; }
  /// The measurement begins at `when`.
  void measureFrom(Time when);
  void finish();
  void fail(std::string problem);

  [[nodiscard]] bool movesPayload() const { return movesPayload_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(config_.size.count()); }
  [[nodiscard]] bool usesReceives() const { return usesReceive(config_.verb); }
  [[nodiscard]] bool usesWrites() const { return isWrite(config_.verb); }
  [[nodiscard]] bool usesResponses() const { return hasResponse(config_.verb); }
  /// A request with everything set that doesn't change from message to message.
  [[nodiscard]] driver::SendWorkRequest requestTemplate(const FlowEndpoint& from, const FlowEndpoint& to) const;
  [[nodiscard]] driver::ReceiveWorkRequest receiveTemplate(const FlowEndpoint& at) const;
  /// Content of the message that was received into a place.
  [[nodiscard]] const std::uint8_t* received(const FlowEndpoint& at, std::uint32_t qp, std::uint64_t slot) const {
    return at.bytes(at.receiveAddress(qp, slot)) + at.headerSize();
  }
  /// Counts a completion with an error; true if it was one.
  bool countError(const driver::WorkCompletion& completion);

  report::LatencyHistogram latency_;
  report::LatencyKind latencyKind_ = report::LatencyKind::kPostToCompletion;
  std::uint64_t measured_ = 0;  // messages
  Time begin_{}, end_{};        // of the measurement
  std::uint64_t errors_ = 0;
  std::uint64_t corrupted_ = 0;

 private:
  void connectBoth();

  std::string name_;
  FlowConfig config_;
  bool movesPayload_;
  std::unique_ptr<FlowEndpoint> client_;
  std::unique_ptr<FlowEndpoint> server_;
  std::function<void()> onFinished_;
  std::function<void(Time)> onMeasurement_;
  std::string problem_;
  bool finished_ = false;
  bool remainderChecked_ = false;
};

}  // namespace hca::sim
