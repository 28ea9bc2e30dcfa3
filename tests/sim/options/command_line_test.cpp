#include "sim/options/command_line.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/config/config_text.h"
#include "sim/logging/logging.h"
#include "tests/sim/config/config_test_files.h"

namespace hca::options {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CommandLineTest : public config::ConfigTest {
 protected:
  int call(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    Environment environment{out_,
                            err_,
                            terminal_,
                            [this](const RunRequest& request) { return run(request); },
                            [this](const CosimRequest& request) { return cosim(request); },
                            [this](const ServeRequest& request) { return serve(request); },
                            [this](const AttachRequest& request) { return attach(request); },
                            [this](const VfioRequest& request) { return vfio(request); }};
    return runCommandLine(arguments, environment);
  }
  report::Result run(const RunRequest& request) {
    ++runs_;
    seed_ = request.config.run.seed;
    if (request.events != nullptr) *request.events << "an event\n";
    if (request.completions != nullptr) *request.completions << "a completion\n";
    request.progress(0.5);
    if (request.timing) result_.timing = report::TimingResult{1, 2, 3};
    if (action_) action_();
    return result_;
  }
  int cosim(const CosimRequest& request) {
    ++cosims_;
    commands_ = request.commands;
    isShared_ = request.isShared;
    hasVirtualTime_ = request.hasVirtualTime;
    constexpr int kOfTheProgram = 7;
    return kOfTheProgram;
  }
  int vfio(const VfioRequest& request) {
    commands_ = request.commands;
    sync_ = request.sync;
    delay_ = request.startDelay;
    constexpr int kOfTheProgram = 8;
    return kOfTheProgram;
  }
  int serve(const ServeRequest& request) {
    ++serves_;
    name_ = request.name;
    sync_ = request.sync;
    return 0;
  }
  int attach(const AttachRequest& request) {
    name_ = request.name;
    attachHost_ = request.host;
    attachWords_ = request.words;
    constexpr int kOfTheProgram = 9;
    return kOfTheProgram;
  }
  static std::string contentOf(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::string out() const { return out_.str(); }
  [[nodiscard]] std::string err() const { return err_.str(); }

  std::ostringstream out_;
  std::ostringstream err_;
  bool terminal_ = false;
  report::Result result_;
  std::function<void()> action_;
  int runs_ = 0;
  int cosims_ = 0;
  std::chrono::milliseconds delay_{};
  int serves_ = 0;
  std::string name_;
  sim::Sync sync_;
  std::uint32_t attachHost_ = 0;
  std::vector<std::string> attachWords_;
  std::vector<CosimCommand> commands_;
  bool isShared_ = false;
  bool hasVirtualTime_ = false;
  std::uint64_t seed_ = 0;
  const std::string good_ = write("good.ini", config::kWork);
};

TEST_F(CommandLineTest, HelpSuffices) {
  EXPECT_EQ(call({"--help"}), kDone);
  EXPECT_THAT(out(), HasSubstr("hcasim run CONFIG..."));
  EXPECT_THAT(out(), HasSubstr("hcasim config reference"));
  EXPECT_THAT(err(), IsEmpty());
  EXPECT_EQ(call({"help"}), kDone);
  EXPECT_EQ(call({"config", "--help"}), kDone);
  EXPECT_EQ(call({"run", "--help"}), kDone);
  EXPECT_THAT(out(), StartsWith("usage: hcasim run [OPTIONS] CONFIG...\n"));
  EXPECT_THAT(out(), HasSubstr("--strict-notify"));
  EXPECT_EQ(call({"run", "--nonsense", "--help", "missing.ini"}), kDone);
  EXPECT_EQ(call({"config", "show", "--help"}), kDone);
  EXPECT_THAT(out(), HasSubstr("--doc"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, PrintsTheVersion) {
  EXPECT_EQ(call({"--version"}), kDone);
  EXPECT_THAT(out(), testing::MatchesRegex("hcasim [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLineTest, WithoutACommandTheOverviewIsAComplaint) {
  EXPECT_EQ(call({}), kBadInput);
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_THAT(err(), HasSubstr("usage: hcasim COMMAND"));
}

TEST_F(CommandLineTest, NamesTheNearestCommand) {
  EXPECT_EQ(call({"rnu", good_}), kBadInput);
  EXPECT_EQ(err(), "hcasim: 'rnu' is no command (nearest known: run)\n");
  EXPECT_EQ(call({"config", "chekc", good_}), kBadInput);
  EXPECT_EQ(err(), "hcasim: 'config chekc' is no command (nearest known: config check)\n");
  EXPECT_EQ(call({"confg", "show"}), kBadInput);
  EXPECT_EQ(err(), "hcasim: 'confg show' is no command (nearest known: config show)\n");
  EXPECT_EQ(call({"config"}), kBadInput);
  EXPECT_EQ(err(), "hcasim: 'config' needs one more word: check, show, reference\n");
  EXPECT_EQ(call({"--fast"}), kBadInput);
  EXPECT_EQ(call({""}), kBadInput);
  EXPECT_EQ(call({"replay", "x"}), kBadInput);
  EXPECT_EQ(call({"run ", ""}), kBadInput);
  EXPECT_EQ(call({"config", ""}), kBadInput);
}

TEST_F(CommandLineTest, NamesTheNearestOption) {
  EXPECT_EQ(call({"run", "--jsn", "x", good_}), kBadInput);
  EXPECT_EQ(err(), "hcasim: '--jsn' is no option of hcasim run (nearest known: --json)\n");
  EXPECT_EQ(call({"run", "--se", "1", good_}), kBadInput);  // no abbreviations
  EXPECT_EQ(call({"run", good_, "--seed"}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("--seed"));
  EXPECT_EQ(call({"run", good_, "--seed", "1", "--seed", "2"}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("--seed"));
  EXPECT_EQ(call({"config", "reference", "x"}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("'x' is one word too many"));
  EXPECT_EQ(call({"run"}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("no CONFIG is named"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, RunsLikePerftestWithoutAConfig) {
  action_ = [] {};
  EXPECT_EQ(call({"run", "--like", "ib_write_bw -q 4 -s 64 -t 128"}), kDone);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(call({"config", "show", "--like", "ib_write_bw -q 4 -s 64 -t 128", "--set", "flow.ib_write_bw.iters=7"}),
            kDone);
  EXPECT_THAT(out(), HasSubstr("[flow.ib_write_bw]"));
  EXPECT_THAT(out(), testing::ContainsRegex("qps += 4"));
  EXPECT_THAT(out(), testing::ContainsRegex("iters += 7")) << "--set is stronger";
}

TEST_F(CommandLineTest, ComplainsAboutWhatIsNotLikePerftest) {
  EXPECT_EQ(call({"run", "--like", "ib_write_bw -Z 4"}), kBadInput);
  EXPECT_EQ(err(),
            "hcasim: --like: '-Z' is no flag of ib_write_bw that is known here; known are -s, -n, -q, -t, -Q, -I, -e, "
            "-m, -c, -l, -d, -i\n");
  EXPECT_EQ(call({"run", "--like", "ib_read_bw -c UC", good_}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("--like flow.ib_read_bw.verb=read"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, RunsAndPrintsATable) {
  result_.flows.emplace_back().name = "first";
  EXPECT_EQ(call({"run", good_}), kDone);
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(out(), HasSubstr("first"));
  EXPECT_THAT(err(), IsEmpty());
}

TEST_F(CommandLineTest, ListsEveryProblemAndRunsNothing) {
  const std::string bad = write("bad.ini", "[run]\nsede = 1\n[flow.a]\niters = x\n");
  EXPECT_EQ(call({"run", bad, "--set", "cpu.am=1ns", "--seed", "-1", "--log", "loud"}), kBadInput);
  EXPECT_EQ(err(), bad + ":2: sede: is no known key of [run] (nearest known: seed)\n" + bad +
                       ":4: iters: 'x' is not a number\n"
                       "--set cpu.am=1ns: am: is no known key of [cpu] (nearest known: arm)\n"
                       "--seed run.seed=-1: seed: '-1' is negative\n"
                       "--log run.log=loud: log: 'loud' is none of trace, debug, info, warning, error or off "
                       "(nearest known: off)\n"
                       "hcasim: 5 problems, nothing was run\n");
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, SettingsAndLaterFilesWin) {
  const std::string later = write("later.ini", "[run]\nseed = 3\n");
  EXPECT_EQ(call({"run", good_, later}), kDone);
  EXPECT_EQ(seed_, 3U);
  EXPECT_EQ(call({"run", good_, later, "--set", "run.seed=4", "--set", "run.seed=5"}), kDone);
  EXPECT_EQ(seed_, 5U);
  EXPECT_EQ(call({"run", "--seed", "6", good_, "--set", "run.seed=5"}), kDone);
  EXPECT_EQ(seed_, 6U);
}

TEST_F(CommandLineTest, AFailureInTheRunIsExitOne) {
  report::FailureResult failure;
  failure.kind = "lost_wakeup";
  failure.message = "a thread sleeps for ever";
  result_.failures = {failure};
  EXPECT_EQ(call({"run", good_}), kRunFailed);
  EXPECT_THAT(out(), HasSubstr("FAILED, lost_wakeup: a thread sleeps for ever"));
  EXPECT_EQ(call({"run", "--quiet", good_}), kRunFailed);
  EXPECT_THAT(out(), IsEmpty());
  EXPECT_EQ(err(), "hcasim: lost_wakeup: a thread sleeps for ever\n");
}

TEST_F(CommandLineTest, AnExceptionIsAFaultOfHcasim) {
  action_ = [] { throw std::runtime_error("assumption broken"); };
  EXPECT_EQ(call({"run", good_}), kFault);
  EXPECT_THAT(err(), HasSubstr("a fault of hcasim, please report it: assumption broken"));
  action_ = [] { throw 7; };
  EXPECT_EQ(call({"run", good_}), kFault);
}

TEST_F(CommandLineTest, ARefusedRunIsBadInput) {
  action_ = [] { throw RunRefused("no adapter can do that"); };
  EXPECT_EQ(call({"run", good_}), kBadInput);
  EXPECT_EQ(err(), "hcasim: no adapter can do that\n");
}

TEST_F(CommandLineTest, WritesJsonWithNameAndEffectiveConfig) {
  EXPECT_EQ(call({"run", good_, "--set", "run.name=my run", "--json", path("r.json"), "--completions", path("c.csv")}),
            kDone);
  const auto json = nlohmann::json::parse(contentOf(path("r.json")));
  EXPECT_EQ(json["name"], "my run");
  EXPECT_EQ(json["config"]["run"]["name"], "my run");
  EXPECT_EQ(json["config"]["flow.a"]["iters"], "10");
  EXPECT_FALSE(json.contains("timing"));
  EXPECT_EQ(contentOf(path("c.csv")), "a completion\n");
  EXPECT_EQ(call({"run", good_, "--timing", "--json", path("r.json")}), kDone);
  EXPECT_TRUE(nlohmann::json::parse(contentOf(path("r.json"))).contains("timing"));
}

TEST_F(CommandLineTest, JsonDoesNotDependOnTheFolder) {
  const std::string elsewhere = write("deep/down/good.ini", config::kWork);
  EXPECT_EQ(call({"run", "--quiet", "--json", path("a.json"), good_}), kDone);
  EXPECT_EQ(call({"run", "--quiet", "--json", path("b.json"), elsewhere}), kDone);
  EXPECT_EQ(contentOf(path("a.json")), contentOf(path("b.json")));
}

TEST_F(CommandLineTest, JsonOnStandardOutputStandsAlone) {
  EXPECT_EQ(call({"run", good_, "--set", "run.print=events", "--json=-"}), kDone);
  EXPECT_TRUE(nlohmann::json::accept(out()));
  EXPECT_THAT(err(), HasSubstr("an event"));
  EXPECT_THAT(err(), HasSubstr("simulated"));
  EXPECT_EQ(call({"run", good_, "--json", "-"}), kDone);
  EXPECT_TRUE(nlohmann::json::accept(out()));
}

TEST_F(CommandLineTest, RefusesFilesThatCanNotBeWrittenBeforeItRuns) {
  EXPECT_EQ(call({"run", good_, "--json", path("no/such/folder.json")}), kBadInput);
  EXPECT_THAT(err(), StartsWith("hcasim: --json: '"));
  EXPECT_EQ(call({"run", good_, "--completions", path("no/such/folder.csv")}), kBadInput);
  EXPECT_EQ(call({"run", good_, "--completions", "-"}), kBadInput);
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, NoticesAFullDisk) {
  EXPECT_EQ(call({"run", good_, "--json", "/dev/full"}), kRunFailed);
  EXPECT_THAT(err(), HasSubstr("'/dev/full' could not be written"));
}

TEST_F(CommandLineTest, EventsAreToldOnDemand) {
  EXPECT_EQ(call({"run", good_}), kDone);
  EXPECT_THAT(out(), Not(HasSubstr("an event")));
  EXPECT_EQ(call({"run", good_, "--set", "run.print=events"}), kDone);
  EXPECT_THAT(out(), StartsWith("an event\n"));
  EXPECT_EQ(call({"run", "--quiet", good_, "--set", "run.print=events"}), kDone);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(CommandLineTest, DrawsProgressOnATerminalOnly) {
  EXPECT_EQ(call({"run", good_}), kDone);
  EXPECT_THAT(err(), IsEmpty());
  terminal_ = true;
  EXPECT_EQ(call({"run", good_}), kDone);
  EXPECT_THAT(err(), HasSubstr("50 %"));
  EXPECT_THAT(err(), testing::EndsWith("\r\x1B[K"));
  EXPECT_EQ(call({"run", "--quiet", good_}), kDone);
  EXPECT_THAT(err(), IsEmpty());
  EXPECT_EQ(call({"run", good_, "--set", "run.progress=no"}), kDone);
  EXPECT_THAT(err(), IsEmpty());
}

TEST_F(CommandLineTest, LogsAtTheLevelOfTheConfiguration) {
  action_ = [] { logging::logger("test")->info("some news"); };
  EXPECT_EQ(call({"run", good_}), kDone);
  EXPECT_THAT(err(), IsEmpty());
  EXPECT_EQ(call({"run", good_, "--log", "info"}), kDone);
  EXPECT_EQ(err(), "- [test] info: some news\n");
}

TEST_F(CommandLineTest, ChecksAConfiguration) {
  EXPECT_EQ(call({"config", "check", good_}), kDone);
  EXPECT_EQ(out(), "no problem: 2 hosts, 1 flow\n");
  EXPECT_EQ(call({"config", "check", good_, "--set", "x=1"}), kBadInput);
  EXPECT_EQ(call({"config", "check", path("missing.ini")}), kBadInput);
  EXPECT_THAT(err(), HasSubstr("can't be read"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, ShowsAConfigurationThatReadsBack) {
  for (const bool doc : {false, true}) {
    std::vector<std::string> arguments{"config", "show", good_, "--seed", "77"};
    if (doc) arguments.emplace_back("--doc");
    EXPECT_EQ(call(arguments), kDone);
    EXPECT_THAT(out(), HasSubstr("seed = 77\n"));
    const std::string shown = write("shown.ini", out());
    arguments[2] = shown;
    const std::string before = out();
    EXPECT_EQ(call(arguments), kDone);
    EXPECT_EQ(out(), before);
  }
}

TEST_F(CommandLineTest, PrintsTheReference) {
  EXPECT_EQ(call({"config", "reference"}), kDone);
  EXPECT_EQ(out(), config::referenceMarkdown());
}

TEST_F(CommandLineTest, PrintsACompletionScriptThatWorks) {
  EXPECT_EQ(call({"completion", "bash"}), kDone);
  const std::string script = write("completion.bash", out());
  const auto complete = [&](const std::string& words, int index) {
    const std::string test = "source " + script + "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(index) +
                             "; _hcasim; echo ${COMPREPLY[*]} > " + path("reply");
    EXPECT_EQ(std::system(("bash -c '" + test + "'").c_str()), 0);
    return contentOf(path("reply"));
  };
  EXPECT_EQ(complete("hcasim r", 1), "run\n");
  EXPECT_EQ(complete("hcasim \"\"", 1),
            "run cosim vm serve attach env drill vfio config completion --help --version\n");
  EXPECT_EQ(complete("hcasim config s", 2), "show\n");
  EXPECT_EQ(complete("hcasim run --st", 2), "--strict-notify\n");
  EXPECT_EQ(complete("hcasim run --log e", 3), "error\n");
  EXPECT_EQ(complete("hcasim config show --do", 3), "--doc\n");
  EXPECT_EQ(complete("hcasim run " + path("goo"), 2), good_ + '\n');
}

TEST_F(CommandLineTest, CosimPassesTheProgramsWordsOn) {
  EXPECT_EQ(call({"cosim", "--virtual-time", "--set", "host.count=3", "prog", "--help", "-v", ":", "other", "--set"}),
            7);
  EXPECT_EQ(cosims_, 1);
  ASSERT_EQ(commands_.size(), 2U);
  EXPECT_EQ(commands_[0].words, (std::vector<std::string>{"prog", "--help", "-v"}));
  EXPECT_EQ(commands_[1].words, (std::vector<std::string>{"other", "--set"}));
  EXPECT_EQ(commands_[1].host, 1U);
  EXPECT_TRUE(hasVirtualTime_);
  EXPECT_TRUE(isShared_) << "two programs";
  EXPECT_EQ(call({"cosim", "prog"}), 7);
  EXPECT_FALSE(isShared_);
  EXPECT_EQ(call({"cosim", "--shared", "prog"}), 7);
  EXPECT_TRUE(isShared_);
}

TEST_F(CommandLineTest, ServeAndAttachFindEachOtherByName) {
  EXPECT_EQ(call({"serve", "--sync", "paced:0.5"}), kDone);
  EXPECT_EQ(name_, "default");
  EXPECT_EQ(sync_.kind, sim::Sync::Kind::kPaced);
  EXPECT_EQ(sync_.scale, 0.5);
  EXPECT_EQ(call({"attach", "--name", "mine", "-H", "1", "prog", "-H", "--name"}), 9);
  EXPECT_EQ(name_, "mine");
  EXPECT_EQ(attachHost_, 1U);
  EXPECT_EQ(attachWords_, (std::vector<std::string>{"prog", "-H", "--name"}));
  EXPECT_EQ(call({"env", "-H", "2"}), 9);
  EXPECT_TRUE(attachWords_.empty());
  EXPECT_EQ(attachHost_, 2U);
}

TEST_F(CommandLineTest, ServeAndAttachRefuseWhatMakesNoSense) {
  EXPECT_EQ(call({"serve", "--name", "../elsewhere"}), kCosimBadInput);
  EXPECT_EQ(call({"serve", "--sync", "soon"}), kCosimBadInput);
  EXPECT_THAT(err(), HasSubstr("lockstep, paced, paced:SCALE, free"));
  EXPECT_EQ(serves_, 0);
  EXPECT_EQ(call({"attach", "-H", "1"}), kCosimBadInput);
  EXPECT_EQ(call({"attach", "-H", "x", "prog"}), kCosimBadInput);
  EXPECT_EQ(call({"env", "prog"}), kCosimBadInput);
}

TEST_F(CommandLineTest, CosimHasStatusesOfItsOwnForBadInput) {
  EXPECT_EQ(call({"cosim", "--set", "host.count=1", "prog"}), kCosimBadInput);
  EXPECT_EQ(call({"cosim", "prog", ":"}), kCosimBadInput);
  EXPECT_THAT(err(), HasSubstr("a command is missing"));
  EXPECT_EQ(call({"cosim", "--delay", "soon", "prog"}), kCosimBadInput);
  EXPECT_EQ(call({"cosim", "--log-verbs", "/no/such/folder/log", "prog"}), kCosimBadInput);
  EXPECT_THAT(err(), HasSubstr("--log-verbs: '/no/such/folder/log' can't be written"));
  EXPECT_EQ(call({"cosim", "--json", "/no/such/folder/json", "prog"}), kCosimBadInput);
  EXPECT_EQ(cosims_, 0);
  EXPECT_EQ(call({"cosim", "--help"}), kDone);
  EXPECT_THAT(out(), HasSubstr("--virtual-time"));
}

TEST_F(CommandLineTest, VfioStartsProgramsWithTheirOwnDriver) {
  EXPECT_EQ(call({"vfio", "--delay", "0.5", "prog", "--help", ":", "-H", "0", "other"}), 8);
  ASSERT_EQ(commands_.size(), 2U);
  EXPECT_EQ(commands_[0].words, (std::vector<std::string>{"prog", "--help"}));
  EXPECT_EQ(commands_[1].host, 0U);
  EXPECT_EQ(sync_.kind, sim::Sync::Kind::kPaced) << "without a word";
  EXPECT_EQ(delay_, std::chrono::milliseconds(500));
  EXPECT_EQ(call({"vfio", "--sync", "free", "prog"}), 8);
  EXPECT_EQ(sync_.kind, sim::Sync::Kind::kFree);
  EXPECT_EQ(call({"vfio", "--sync", "soon", "prog"}), kCosimBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("--sync: 'soon' is none of paced, paced:SCALE, free"));
  EXPECT_EQ(call({"vfio", "-H", "7", "prog"}), kCosimBadInput);
  EXPECT_EQ(call({"vfio", "--set", "no.such=1", "prog"}), kCosimBadInput);
  EXPECT_EQ(call({"vfio", "--help"}), kDone);
}

}  // namespace
}  // namespace hca::options
