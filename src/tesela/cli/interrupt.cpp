#include "tesela/cli/interrupt.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

namespace tesela::cli {
namespace {

// Signals have no other way to tell.
volatile std::sig_atomic_t interrupted = 0;
const char* to_say = "";
struct sigaction before {};

extern "C" void remember_interrupt(int) {
    interrupted = 1;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, to_say, std::strlen(to_say));
}

}  // namespace

Interrupt::Interrupt(const char* said) {
    interrupted = 0;
    to_say = said;
    struct sigaction action {};
    action.sa_handler = remember_interrupt;
    // The second one finds what was there before.
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, &before);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before, nullptr); }

bool Interrupt::came() { return interrupted != 0; }

}  // namespace tesela::cli
