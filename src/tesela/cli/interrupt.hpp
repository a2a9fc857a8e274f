#pragma once

namespace tesela::cli {

/// From now on a signal that ends the program (SIGINT, SIGTERM, SIGHUP, SIGXCPU) removes files that were being written
/// first. Signals that are ignored, or have a handler, stay as they are.
void leave_no_files_when_ended();

/// While it lives, the first Ctrl-C is kept for the work under way, which may ask for it and end well; the second ends
/// the program, as without this. One at a time.
class Interrupt {
public:
    /// `said` is written to standard error at the first Ctrl-C; it must outlive this.
    explicit Interrupt(const char* said);
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    Interrupt(Interrupt&&) = delete;
    Interrupt& operator=(Interrupt&&) = delete;

    [[nodiscard]] static bool came();
};

}  // namespace tesela::cli
