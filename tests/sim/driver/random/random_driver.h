// Software that does what a script says, and compares everything that comes back with the contract.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/driver/random/event_reference.h"
#include "tests/sim/driver/random/random_numbers.h"
#include "tests/sim/driver/random/random_script.h"
#include "tests/sim/driver/random/slot_pool.h"
#include "tests/sim/driver/random/work_queue_reference.h"
#include "tests/sim/driver/two_hosts.h"

namespace hca::test {

/// Two or three hosts with a thread each, completion queues of several kinds, and connections of every transport. One a
/// process.
class RandomDriver {
 public:
  explicit RandomDriver(const RandomWorld& world);
  ~RandomDriver();

  /// Empty, or the first thing that disagrees with the contract.
  std::string run(const Script& script);
  /// Completions that were compared.
  [[nodiscard]] std::uint64_t completions() const { return completions_; }

 private:
  struct Host;
  struct Queue;
  struct Side;
  struct Connection;
  struct Shared;
  struct Window;

  // Objects.
  void openThread(Host& host);
  void onAsyncEvent(Host& host, std::uint8_t type, std::uint32_t object);
  static void chooseCompression(driver::CqRequest& request, RandomNumbers& random);
  void createQueue(Queue& queue, std::uint32_t seed);
  void replaceQueue(Queue& queue, std::uint32_t seed);
  void createKick(Host& host);
  void chooseQueues(Connection& connection, RandomNumbers& random);
  void build(Connection& connection, std::uint32_t seed);
  void createQp(Connection& connection, std::uint32_t index);
  void startSide(Side& side);
  void connect(Connection& connection, std::uint32_t index);
  void tearDown(Connection& connection, const std::function<void()>& next);
  void destroyQp(Connection& connection, std::uint32_t index, const std::function<void()>& next);
  void createTarget(Connection& connection, std::uint32_t index);
  void destroyTarget(Connection& connection, std::uint32_t index, const std::function<void()>& next);
  void waitForControl();
  void lookForSleepers();
  std::string restProblem();
  std::string restProblem(Side& side);
  void checkContentAtRest();

  // Shared receive queues.
  void createShared(Shared& shared, RandomNumbers& random);
  void destroyShared(Shared& shared);
  void replaceUnsure(std::uint32_t seed);
  void chooseShared(Side& side, RandomNumbers& random);
  void postShared(Side& side, RandomNumbers& random);
  bool hasRoom(const Shared& shared, std::size_t count) const;
  bool completeShared(Side& side, const Queue& queue, const driver::WorkCompletion& completion);
  std::string checkSharedStatus(Side& side, driver::WcStatus status) const;
  [[nodiscard]] bool isPassedOver(const Shared& shared) const;
  [[nodiscard]] static bool uses(const Side& side, const Shared& shared);
  [[nodiscard]] static bool sharesReceives(const Side& side);
  [[nodiscard]] bool maySleepOn(const Side& side) const;

  // Memory windows.
  void renewWindow(Side& side);
  void chooseWindowVerb(Side& side, WorkRecord& record, RandomNumbers& random);
  void addWindowRequest(Side& side, const WorkRecord& record, driver::SendWorkRequest& request);
  void bindWindow(Host& host, Window& window, driver::SendWorkRequest& request);
  void noteWindowDone(Side& side, const WorkRecord& record, bool succeeded);

  // Steps.
  void perform(const Step& step);
  void postSend(const Step& step);
  void postReceive(const Step& step);
  void poll(const Step& step);
  void arm(const Step& step);
  void sleep(const Step& step);
  void resize(const Step& step);
  void moderate(const Step& step);
  void error(const Step& step);
  void rebuild(const Step& step);
  [[nodiscard]] bool isLocked(const Side& side) const;
  void settle(std::uint32_t seed);

  // Threads.
  void pass(Time span);
  bool becomeIdle(Host& host);
  void passCost(Host& host);
  void goOn(Host& host);
  void takeEvent(Host& host);
  void serve(Queue& queue);
  std::size_t drain(Queue& queue, std::size_t most);

  // Requests.
  [[nodiscard]] driver::SendWorkRequest makeRequest(Side& side, WorkRecord& record, RandomNumbers& random);
  bool chooseVerb(Side& side, WorkRecord& record, RandomNumbers& random);
  /// One of the XRC shared queues of `host`.
  [[nodiscard]] std::size_t sharedOf(const Host& host, RandomNumbers& random) const;
  bool makeReceive(Side& side, WorkRecord& record, RandomNumbers& random);
  bool takeMemory(Side& side, WorkRecord& record);
  void release(const Side& side, const WorkRecord& record);
  void addAtomic(Side& side, WorkRecord& record, driver::SendWorkRequest& request, RandomNumbers& random);
  void notePosted(Side& side, const WorkRecord& record);

  // Completions.
  void complete(Queue& queue, const driver::WorkCompletion& completion);
  void completeSend(Side& side, const driver::WorkCompletion& completion);
  void completeReceive(Side& side, const driver::WorkCompletion& completion);
  void matchShared(Side& side, const Shared& shared, const WorkRecord& receive,
                   const driver::WorkCompletion& completion);
  void matchMessage(Side& side, const WorkRecord& receive, const driver::WorkCompletion& completion);
  void checkMessage(Side& side, const WorkRecord& receive, const WorkRecord& message,
                    const driver::WorkCompletion& completion);
  void checkResult(Side& side, const WorkRecord& record);
  void checkWrites(Side& writer, std::uint64_t before);
  void checkBytes(Host& host, std::uint64_t address, std::uint64_t id, std::uint32_t length, const char* what);

  [[nodiscard]] static std::string nameOf(const Side& side);
  [[nodiscard]] Side* sideOf(const Host& host, QpNumber number);
  [[nodiscard]] Side& peerOf(Side& side);
  [[nodiscard]] Circumstances circumstances(const Side& side, const Queue& queue) const;
  [[nodiscard]] std::uint32_t reserved(const Queue& queue) const;
  void fail(const std::string& what);
  template <class Answer, class Start>
  Answer await(Start&& start);

  struct Clock final : kernel::CalendarClient {
    void onCalendar(std::uint64_t) override {}
  };

  RandomWorld world_;
  Clock clock_;
  config::Config config_;
  adapter::ArmRule armRule_;
  bool faults_ = false;
  bool unordered_ = false;  // packets may be duplicated or overtaken
  std::unique_ptr<TwoHosts> system_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Shared>> shared_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::uint64_t nextId_ = 1;
  std::uint64_t completions_ = 0;
  std::uint32_t controlCalls_ = 0;  // under way
  std::string failure_;
};

}  // namespace hca::test
