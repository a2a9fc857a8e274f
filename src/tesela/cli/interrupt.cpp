#include "tesela/cli/interrupt.hpp"

#include "tesela/io/output_file.hpp"

#include <array>
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace tesela::cli {
namespace {

// Signals have no other way to tell.
volatile std::sig_atomic_t interrupt_came = 0;
const char* to_say = "";
struct sigaction before {};

extern "C" void remember_interrupt(int) {
    interrupt_came = 1;
    sigaction(SIGINT, &before, nullptr);  // which the second one finds
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, to_say, std::strlen(to_say));
}

/// Ends the program as the signal does by itself, since SA_RESETHAND leaves it to.
extern "C" void end_without_leftovers(int signal) {
    remove_unfinished_outputs();
    (void)std::raise(signal);
}

}  // namespace

void leave_no_files_when_ended() {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
    for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
        struct sigaction old {};
        // Ignored it stays, as under nohup; a library's handler does not: UCX, which newer Open MPIs bring along, takes
        // SIGHUP for a wish to be debugged, and the program would go on when its terminal has closed.
        if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = end_without_leftovers;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}

Interrupt::Interrupt(const char* said) {
    interrupt_came = 0;
    to_say = said;
    struct sigaction action {};
    action.sa_handler = remember_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before, nullptr); }

bool Interrupt::came() { return interrupt_came != 0; }

}  // namespace tesela::cli
