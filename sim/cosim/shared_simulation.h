// One simulation for the programs of many processes.
#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/cosim/cosim_server.h"
#include "sim/cosim/program_listener.h"
#include "sim/cosim/shared_mapping.h"
#include "sim/drills/drill_desk.h"

namespace hca::cosim {

/// Serves programs over shared memory, in the thread that calls `serve`.
class SharedSimulation {
 public:
  /// Throws std::runtime_error if something can't be made.
  /// `err`: for a word to the user when nothing goes on.
  SharedSimulation(const config::Config& config, const std::string& socket, const CosimOptions& options,
                   std::ostream& err);
  ~SharedSimulation();
  SharedSimulation(const SharedSimulation&) = delete;
  SharedSimulation& operator=(const SharedSimulation&) = delete;

  /// Whom the simulation serves.
  class Programs {
   public:
    /// Asked every few milliseconds: true when nobody is left.
    virtual bool areOver() = 0;
    /// Whether every process that still runs is one of `attached`, or waits for its children.
    virtual bool areAllAmong(const std::set<int>& attached) = 0;

   protected:
    ~Programs() = default;
  };
  /// Until the programs are over, or wait for ever: then false, and the user was told why.
  bool serve(Programs& programs);

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    bool isAttached = false;
    bool isCalling = false;
    CosimServer::Thread thread = 0;
    Clock::time_point since{};     // of the call under way
    Clock::time_point answered{};  // the last one
    bool isInterrupted = false;    // it spins
    bool isEventWait = false;
    std::chrono::nanoseconds limit{};  // of its wait; 0: none
  };
  struct Client {
    Client(int link, int who, CosimServer::SessionId id)
        : connection(link), process(who), session(id), area("hcasim-program") {}
    int connection;
    int process;  // 0: a child that isn't there yet
    // Of such a child: by whom it is to be forked, and who says that it is it.
    int parent = 0, claimant = 0;
    CosimServer::SessionId session;
    SharedMapping<channel::SharedArea> area;
    std::uint32_t used = 0;  // slots that were ever taken
    std::vector<Slot> slots{channel::SharedArea::kSlots};
  };

  void welcome();
  void welcomeProgram(const Applicant& applicant);
  void welcomeChild(const Applicant& applicant);
  void admit(const Applicant& applicant, int process, CosimServer::SessionId session);
  [[nodiscard]] bool isThere(Client& client);
  [[nodiscard]] bool isGone(Client& client);
  [[nodiscard]] Client* clientOf(int process) const;
  void partWithTheGone();
  bool takeRequests();
  bool giveReplies();
  void takeRequest(Client& client, std::uint32_t index);
  bool giveReply(Client& client, std::uint32_t index);
  std::chrono::nanoseconds considerForce();
  [[nodiscard]] bool isVainForSpinner(Clock::duration waited, Clock::duration idle) const;
  void giveUpWaits(Clock::time_point idleSince);
  void warn(Clock::time_point now);
  bool isStuck(Programs& programs, Clock::time_point idleSince);
  void sleep(std::uint32_t rings, std::chrono::nanoseconds span);

  const config::Config config_;
  std::ostream& err_;
  Clock::time_point lastEvent_ = Clock::now();  // when the simulation last did anything
  bool hasWarned_ = false;
  std::uint64_t executed_ = 0;  // events so far
  CosimServer server_;
  ProgramListener listener_;
  sim::DrillDesk desk_;
  SharedMapping<channel::Doorbell> doorbell_;
  const unsigned looks_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace hca::cosim
