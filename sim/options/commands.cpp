#include "sim/options/command.h"
#include "sim/options/output_files.h"
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
  addObserverFiles(command.options);
  command.details =
      std::string("A CONFIG is a text file, see configs/REFERENCE.md; of several, a later one is stronger.\n") +
      "--like knows ib_write, ib_send, ib_read and ib_atomic, each as _lat and _bw, and of their flags:\n" +
      perftestFlags() + "Exit status: 0 done, 1 the run failed, 2 bad input, 3 a fault of hcasim.\n";
  return command;
}

void addConfig(po::options_description& options) {
  options.add_options()("config", po::value<std::vector<std::string>>()->composing()->value_name("CONFIG"),
                        "the simulated system; may be repeated, a later one is stronger");
}

// How several programs are started.
void addPrograms(po::options_description& options) {
  options.add_options()  //
      ("delay", po::value<std::string>()->value_name("SECONDS"),
       "start the next command after this time, instead of when the one before listens")  //
      ("sep", po::value<std::string>()->value_name("WORD"), "what stands between commands, instead of a colon");
}

// What a co-simulation is, whoever starts its programs.
void addCosimulation(po::options_description& options) {
  addConfig(options);
  options.add_options()  //
      ("sync", po::value<std::string>()->value_name("HOW"),
       "how simulated time follows programs: lockstep (the default), paced or paced:SCALE (at most SCALE times wall "
       "time), free")                                                                                     //
      ("json", po::value<std::string>()->value_name("FILE"), "write the result of the adapters as JSON")  //
      ("log-verbs", po::value<std::string>()->value_name("FILE"),
       "write a line for every verb, command and doorbell, with simulated time")  //
      ("virtual-time", "programs see simulated time: clocks, sleeps, the time stamp counter");
  addObserverFiles(options);
}

// Without it nobody needs to find the simulation.
void addDrillName(po::options_description& options, const char* meaning) {
  options.add_options()("name", po::value<std::string>()->value_name("NAME"), meaning);
}
constexpr const char* kDrillName = "by which hcasim drill finds the simulation";

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

Command makeDrill() {
  Command command{
      {"drill"},
      "KIND [-H N] [KEY=VALUE]...",
      0,
      false,
      "Make something go wrong in a simulation that runs",
      "KEYs are those of a [drill.NAME] section (configs/REFERENCE.md).\nExit status: 0 done; 1 refused, 126 "
      "there is no such simulation, or bad input.\n",
      po::options_description("options"),
      drillCommand,
      true};
  addName(command.options);
  command.options.add_options()                                                                                 //
      ("run", po::value<std::string>()->value_name("FOLDER"), "the simulation whose files are in this folder")  //
      ("list", "explain every KIND");
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
  command.options.add_options()("shared",
                                "one simulation process for all programs, instead of one inside the only program");
  addDrillName(command.options, "by which hcasim drill finds the simulation; implies --shared");
  addPrograms(command.options);
  command.details =
      "Each command may begin with -H N, the host that it runs on; else the first runs on host 0, each further one on "
      "the next.\nExit status: that of the programs (the first that is not 0); 124 all wait for ever, 125 a fault of "
      "hcasim, 126 bad input.\n";
  return command;
}

Command makeVfio() {
  Command command{{"vfio"},
                  "CMD [ARGS] [: CMD2 [ARGS]]...",
                  1,
                  false,
                  "Run programs that bring their own driver on the simulated adapters, as VFIO devices",
                  "",
                  po::options_description("options"),
                  vfioCommand,
                  true};
  addSettings(command.options);
  addConfig(command.options);
  command.options.add_options()("sync", po::value<std::string>()->value_name("HOW"),
                                "how simulated time goes: paced (the default) or paced:SCALE (at most SCALE times wall "
                                "time), free");
  command.options.add_options()("json", po::value<std::string>()->value_name("FILE"),
                                "write the result of the adapters as JSON");
  addObserverFiles(command.options);
  addDrillName(command.options, kDrillName);
  addPrograms(command.options);
  command.details =
      "Each program finds its host's adapters as 0000:aa:00.0, 0000:aa:01.0, ... in the IOMMU groups 0, 1, ...: for\n"
      "libmlx5's own driver (mlx5dv_get_vfio_device_list), or QEMU with -device vfio-pci,host=0000:aa:00.0.\n"
      "Each command may begin with -H N, the host that it runs on; else the first runs on host 0, each further one on "
      "the next.\nExit status: that of the programs (the first that is not 0); 125 a fault of hcasim, 126 bad input.\n";
  return command;
}

void addMachine(po::options_description& options) {
  options.add_options()  //
      ("image", po::value<std::string>()->value_name("DIR"),
       "the guest that tools/guest_image made; without it: where that puts it")                    //
      ("kernel", po::value<std::string>()->value_name("FILE"), "another kernel than the image's")  //
      ("initrd", po::value<std::string>()->value_name("FILE"),
       "another initial file system; its console is the terminal's, and commands aren't run in it")          //
      ("append", po::value<std::string>()->value_name("WORDS"), "more words for the kernel's command line")  //
      ("module", po::value<std::vector<std::string>>()->composing()->value_name("FILE.ko"),
       "load this module instead of the image's of that name; may be repeated")  //
      ("add", po::value<std::vector<std::string>>()->composing()->value_name("FILE[:PATH]"),
       "put a file or folder of this machine into each guest, at the same place or at PATH; may be repeated")  //
      ("memory", po::value<std::string>()->value_name("SIZE"), "of each guest; without it: 512M")              //
      ("processors", po::value<std::string>()->value_name("N"), "of each guest; without it: 2")                //
      ("accel", po::value<std::string>()->value_name("HOW"),
       "how instructions are executed: tcg (translated, the default), kvm, or auto: kvm where it works")  //
      ("qemu", po::value<std::string>()->value_name("PROGRAM"), "instead of qemu-system-x86_64")          //
      ("qemu-args", po::value<std::string>()->value_name("\"WORDS\""),
       "more options for QEMU; %h is the host's number: -gdb tcp::123%h");
}

Command makeVm() {
  Command command{{"vm"},
                  "[[-H N] CMD [ARGS] [: [-H M] CMD2 [ARGS]]...]",
                  0,
                  false,
                  "Run commands in QEMU guests whose stock drivers use the simulated adapters",
                  "",
                  po::options_description("options"),
                  vmCommand,
                  true};
  addSettings(command.options);
  addConfig(command.options);
  addPrograms(command.options);
  command.options.add_options()  //
      ("sync", po::value<std::string>()->value_name("HOW"),
       "how simulated time follows guests: paced (the default) or paced:SCALE (at most SCALE times wall time), free")  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write the result of adapters and guests, with the kernels' warnings, as JSON")        //
      ("kernel-log", "show what the guests' kernels say, each line behind 'host.N kernel|'")  //
      ("timeout", po::value<std::string>()->value_name("SECONDS"), "end everything then, with status 124");
  addObserverFiles(command.options);
  addDrillName(command.options, kDrillName);
  addMachine(command.options);
  command.details =
      "Each host of the configuration is a guest (without --config: two). They boot together; when all are up, the\n"
      "commands start one after the other, the first on host 0, each further one on the next or where -H N says. A\n"
      "single word with spaces is a line for the guest's shell. Guests reach each other by TCP as host0, host1, ...\n"
      "Without a command there is a shell on host 0 or where -H N says (Ctrl-A x ends it); a line says how to reach\n"
      "the others.\n\n"
      "  tools/guest_image                                        once: makes the guest\n"
      "  hcasim vm ibv_devinfo -v\n"
      "  hcasim vm ibv_rc_pingpong : ibv_rc_pingpong host0\n"
      "  hcasim vm 'rmmod mlx5_ib mlx5_core; dmesg | tail'\n\n"
      "Exit status: that of the commands (the first that is not 0); 1 a guest's kernel panicked, 124 --timeout or a\n"
      "guest that hangs, 125 a fault of hcasim or QEMU, 126 bad input.\n";
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
    std::vector<Command> list{makeRun(), makeCosim(), makeVm(),   makeServe(), makeAttach(),
                              makeEnv(), makeDrill(), makeVfio(), makeCheck(), makeShow()};
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
