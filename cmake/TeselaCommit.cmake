# cmake -D SOURCE=folder -D OUTPUT=header -P TeselaCommit.cmake: writes the commit that is checked out in SOURCE to the header OUTPUT, if it is not
# there yet: what includes it is compiled again after a commit, and not at every build. Where SOURCE is no checkout of its own, or there is no
# git, the commit is "unknown".
set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND "${git}" -C "${SOURCE}" rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top)
    file(REAL_PATH "${top}" top)
  endif()
  if(top STREQUAL source) # and not of a project that these sources lie in
    execute_process(COMMAND "${git}" -C "${SOURCE}" rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    # What the programs are made of: a table that was just remade is no change of them.
    execute_process(COMMAND "${git}" -C "${SOURCE}" status --porcelain -- CMakeLists.txt bench cmake papers platforms src
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(head)
      set(commit "${head}")
      if(changes)
        string(APPEND commit " with uncommitted changes")
      endif()
    endif()
  endif()
endif()
set(text "#pragma once\n\nnamespace tesela::bench {\n\n/// The commit that was checked out when this was built.\ninline constexpr const char* commit = \"${commit}\";\n\n}  // namespace tesela::bench\n")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
