#include "sim/options/command.h"
#include "sim/options/perftest_line.h"

namespace hca::options {

namespace po = boost::program_options;

namespace {

// Keys of the configuration, from the command line.
void addSettings(po::options_description& options) {
  options.add_options()  //
      ("like", po::value<std::string>()->value_name("\"ib_write_bw -s 64\""),
       "add a flow that does what this command line of perftest does; no CONFIG is needed then")  //
      ("set", po::value<std::vector<std::string>>()->composing()->value_name("SECTION.KEY=VALUE"),
       "set a key, over every file; may be repeated")                                                               //
      ("seed", po::value<std::string>()->value_name("N"), "the same as --set run.seed=N")                           //
      ("strict-notify", "the same as --set run.strict_notify=yes: lose the wake-ups that the specification loses")  //
      ("log", po::value<std::string>()->value_name("LEVEL"),
       "the same as --set run.log=LEVEL: trace, debug, info, warning, error or off");
}

Command makeRun() {
  Command command{{"run"},   "CONFIG...", 1, false, "Simulate a configuration", "", po::options_description("options"),
                  runCommand};
  addSettings(command.options);
  command.options.add_options()                                                                                 //
      ("json", po::value<std::string>()->value_name("FILE"), "write the result as JSON; - is standard output")  //
      ("completions", po::value<std::string>()->value_name("FILE.csv"), "write a line for every completion")    //
      ("quiet", "no tables, no events, no progress bar")                                                        //
      ("timing", "add wall time and kernel activations to the result (they differ from run to run)");
  command.details =
      std::string("A CONFIG is a text file, see configs/REFERENCE.md; of several, a later one is stronger.\n") +
      "--like knows ib_write, ib_send, ib_read and ib_atomic, each as _lat and _bw, and of their flags:\n" +
      perftestFlags() + "Exit status: 0 done, 1 the run failed, 2 bad input, 3 a fault of hcasim.\n";
  return command;
}

// What a co-simulation is, whoever starts its programs.
void addCosimulation(po::options_description& options) {
  options.add_options()  //
      ("config", po::value<std::vector<std::string>>()->composing()->value_name("CONFIG"),
       "the simulated system; may be repeated, a later one is stronger")  //
      ("sync", po::value<std::string>()->value_name("HOW"),
       "how simulated time follows programs: lockstep (the default), paced or paced:SCALE (at most SCALE times wall "
       "time), free")                                                                                     //
      ("json", po::value<std::string>()->value_name("FILE"), "write the result of the adapters as JSON")  //
      ("log-verbs", po::value<std::string>()->value_name("FILE"),
       "write a line for every verb, command and doorbell, with simulated time")  //
      ("virtual-time", "programs see simulated time: clocks, sleeps, the time stamp counter");
}

void addName(po::options_description& options) {
  options.add_options()("name", po::value<std::string>()->value_name("NAME"),
                        "which of this user's simulations; without it: default");
}

Command makeServe() {
  Command command{{"serve"},
                  "",
                  0,
                  true,
                  "Run the simulated adapters for programs of other terminals",
                  "Ends when it is interrupted (Ctrl-C); programs that still use it get errors then.\n",
                  po::options_description("options"),
                  serveCommand};
  addSettings(command.options);
  addCosimulation(command.options);
  addName(command.options);
  return command;
}

Command makeAttach() {
  Command command{{"attach"},
                  "[-H N] CMD [ARGS]",
                  1,
                  false,
                  "Run a program on a host of a simulation that is served",
                  "Without -H: on host 0.\nExit status: that of the program; 126 if there is no such simulation.\n",
                  po::options_description("options"),
                  attachCommand,
                  true};
  addName(command.options);
  return command;
}

Command makeEnv() {
  Command command{{"env"},
                  "[-H N]",
                  0,
                  false,
                  "Print the variables that make a program use a simulation that is served",
                  "One NAME=VALUE a line, for example for: env $(hcasim env -H 1) ctest\n",
                  po::options_description("options"),
                  envCommand,
                  true};
  addName(command.options);
  return command;
}

Command makeCosim() {
  Command command{{"cosim"},
                  "CMD [ARGS] [: CMD2 [ARGS]]...",
                  1,
                  false,
                  "Run verbs programs on the simulated adapters",
                  "",
                  po::options_description("options"),
                  cosimCommand,
                  true};
  addSettings(command.options);
  addCosimulation(command.options);
  command.options.add_options()                                                                      //
      ("shared", "one simulation process for all programs, instead of one inside the only program")  //
      ("delay", po::value<std::string>()->value_name("SECONDS"),
       "start the next command after this time, instead of when the one before listens")  //
      ("sep", po::value<std::string>()->value_name("WORD"), "what stands between commands, instead of a colon");
  command.details =
      "Each command may begin with -H N, the host that it runs on; else the first runs on host 0, each further one on "
      "the next.\nExit status: that of the programs (the first that is not 0); 124 all wait for ever, 125 a fault of "
      "hcasim, 126 bad input.\n";
  return command;
}

Command makeCheck() {
  Command command{{"config", "check"},
                  "CONFIG...",
                  1,
                  false,
                  "List everything that is wrong with a configuration",
                  "",
                  po::options_description("options"),
                  checkCommand};
  addSettings(command.options);
  return command;
}

Command makeShow() {
  Command command{{"config", "show"},
                  "CONFIG...",
                  1,
                  false,
                  "Print every effective value of a configuration",
                  "",
                  po::options_description("options"),
                  showCommand};
  addSettings(command.options);
  command.options.add_options()("doc", "with an explanation of each key");
  return command;
}

}  // namespace

std::string Command::name() const {
  std::string text = "hcasim";
  for (const std::string& word : path) text += ' ' + word;
  return text;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list{makeRun(), makeCosim(), makeServe(), makeAttach(), makeEnv(), makeCheck(), makeShow()};
    list.push_back({{"config", "reference"},
                    "",
                    0,
                    true,
                    "Print the reference of all sections and keys, as Markdown",
                    "",
                    po::options_description("options"),
                    referenceCommand});
    list.push_back({{"completion", "bash"},
                    "",
                    0,
                    true,
                    "Print a script that completes hcasim's words in bash",
                    "Use it by: source <(hcasim completion bash)\n",
                    po::options_description("options"),
                    completionCommand});
    for (Command& command : list) command.options.add_options()("help", "show this help");
    return list;
  }();
  return all;
}

}  // namespace hca::options
