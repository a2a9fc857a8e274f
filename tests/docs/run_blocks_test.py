#!/usr/bin/env python3
"""Tests of run_blocks.py: what it takes for a block, what it compares, and that it fails where it should."""
import contextlib
import io
import pathlib
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import run_blocks  # noqa: E402


def page(text):
    return run_blocks.parse_page("page.md", textwrap.dedent(text).lstrip("\n"))


def same(shown, found, mark=""):
    marks = run_blocks.parse_marks(mark) if mark else run_blocks.Marks()
    lines = [textwrap.dedent(text).strip("\n").split("\n") for text in (shown, found)]
    return not run_blocks.differs(run_blocks.compare(*lines, marks))


class Pages(unittest.TestCase):
    def test_commands_and_what_they_show(self):
        blocks, errors = page(
            """
            # Title

            ```console
            $ tesela first -o a.json
            one 1

            two 2

            $ tesela second \\
                --more      # why
            ```
            """
        )
        self.assertEqual(errors, [])
        self.assertEqual(len(blocks), 1)
        self.assertEqual(blocks[0].line, 3)
        first, second = blocks[0].commands
        self.assertEqual((first.line, first.text, first.first_shown), (4, "tesela first -o a.json", 5))
        self.assertEqual(first.shown, ["one 1", "", "two 2"])
        self.assertEqual((second.line, second.text), (9, "tesela second \\\n    --more      # why"))
        self.assertEqual(second.shown, [])
        self.assertTrue(blocks[0].shows_output())

    def test_marks(self):
        blocks, errors = page(
            """
            <!-- run: slow; exit 2; stderr; times; mask calls, peak memory, /node \\d+, here/ -->

            ```console
            $ tesela x
            ```

            <!-- run: never there is no such file -->
            ```console
            $ tesela y
            ```

            ```console
            $ tesela z
            ```
            """
        )
        self.assertEqual(errors, [])
        marks = blocks[0].marks
        self.assertTrue(marks.slow and marks.stderr and marks.times and not marks.root)
        self.assertEqual(marks.exit, 2)
        self.assertEqual(marks.names, ["calls", "peak memory"])
        self.assertEqual(marks.patterns, ["node \\d+, here"])
        self.assertEqual(blocks[1].marks.never, "there is no such file")
        self.assertEqual(blocks[2].marks, run_blocks.Marks())

    def assert_wrong(self, text, line, words):
        _, errors = page(text)
        self.assertEqual(len(errors), 1, errors)
        self.assertEqual(errors[0][0], line)
        self.assertIn(words, errors[0][1])

    def test_commands_that_nobody_would_run(self):
        for command in ("tesela fit x", "$ ls", "mpirun -n 2 x", "build/release/tesela info", "./dev test", "sudo tesela", "python3 x.py"):
            self.assert_wrong(f"Text:\n\n    {command}\n    out\n", 3, "outside a ```console block")
            self.assert_wrong(f"Text:\n\n```text\n{command}\n```\n", 4, "outside a ```console block")
            self.assert_wrong(f"```\nfirst\n{command}\n```\n", 3, "outside a ```console block")
        self.assert_wrong("```sh\nexport A=1\n```\n", 1, "```console")

    def test_what_is_no_command(self):
        for text in ("    C(r) = s2 exp(-r)\n", "    tesela: node 0: warning\n", "    tesela dist: no such file\n", "```cpp\ntesela x;\n```\n",
                     "- item\n  tesela fit in a text\n", "```json\n{}\n```\n"):
            self.assertEqual(page(text), ([], []), text)

    def test_wrong_marks(self):
        self.assert_wrong("<!-- run: fast -->\n```console\n$ x\n```\n", 1, '"fast" is no mark')
        self.assert_wrong("<!-- run: never -->\n```console\n$ x\n```\n", 1, '"never" is no mark')
        self.assert_wrong("<!-- run: exit two -->\n```console\n$ x\n```\n", 1, '"exit two" is no mark')
        self.assert_wrong("<!-- run: slow\n-->\n\n", 1, "one line")
        self.assert_wrong("<!--run slow quickly-->\n```console\n$ x\n```\n", 1, "is no mark")
        self.assert_wrong("<!-- run: slow -->\nText\n```console\n$ x\n```\n", 1, "without a ```console block")
        self.assert_wrong("Text\n<!-- run: slow -->\n", 2, "without a ```console block")

    def test_wrong_blocks(self):
        self.assert_wrong("```console\ntesela x\n```\n", 1, "begins with a command")
        self.assert_wrong("```console\n```\n", 1, "without a command")


class Comparison(unittest.TestCase):
    def test_words(self):
        self.assertTrue(same("a  b", "a b"))
        self.assertFalse(same("a b", "a c"))
        self.assertFalse(same("a b", "a b c"))
        self.assertFalse(same("a b c", "a b"))
        self.assertFalse(same("sent to 1x4", "sent to 2x2"))
        self.assertFalse(same("family 1d1d", "family 1d2d"))

    def test_lines(self):
        self.assertFalse(same("a\nb", "a"))
        self.assertFalse(same("a", "a\nb"))
        self.assertFalse(same("a\nb", "b\na"))

    def test_whole_numbers_are_equal(self):
        self.assertTrue(same("973 tiles, +5", "973 tiles, +5"))
        self.assertFalse(same("973 tiles", "974 tiles"))
        self.assertFalse(same("1000000000 bytes", "1000000001 bytes"))
        self.assertFalse(same("from,to\n0,1,22,8008016", "from,to\n0,1,22,8008017"))
        self.assertFalse(same("5", "5.4"))

    def test_other_numbers_are_close(self):
        self.assertTrue(same("load 1.2352", "load 1.2353"))
        self.assertFalse(same("load 1.2352", "load 1.2354"))
        self.assertTrue(same("6.730913664849348", "6.7309136648433485"))
        self.assertFalse(same("6.730913664849348", "6.730933664849348"))
        self.assertFalse(same("-97.30535192", "97.30535192"))
        self.assertTrue(same("x=1.5e-3,y=2", "x=1.6e-3,y=2"))
        self.assertFalse(same("x=1.5e-3,y=2", "x=1.7e-3,y=2"))
        self.assertTrue(same("64.6 %, rest", "64.7 %, rest"))
        self.assertFalse(same("64.6 %, rest", "65.6 %, rest"))

    def test_times_and_rates_are_not_compared(self):
        self.assertTrue(same("converged: 93 evaluations in 95.8 ms; done", "converged: 93 evaluations in 1.2 s; done"))
        self.assertFalse(same("converged: 93 evaluations in 95.8 ms", "converged: 94 evaluations in 95.8 ms"))
        self.assertTrue(same("dgemm 256 29.3 GFLOP/s 1.15 ms", "dgemm 256 2.3 TFLOP/s 51 us"))
        self.assertFalse(same("dgemm 256 29.3 GFLOP/s", "dgemm 512 29.3 GFLOP/s"))
        self.assertFalse(same("rate 29.3 GFLOP/s", "rate 29.3 s"))
        self.assertTrue(same("cholesky 2000 0.1591s", "cholesky 2000 12.5s"))
        self.assertFalse(same("5 messages", "6 messages"))
        self.assertTrue(same("version 0.1.0 of 2024-01-31", "version 1.2.3 of 2025-02-01 10:00:00"))

    def test_predicted_times_are_compared(self):
        self.assertTrue(same("makespan 18.5 s", "makespan 18.5 s", "times"))
        self.assertFalse(same("makespan 18.5 s", "makespan 14.3 s", "times"))
        self.assertFalse(same("makespan 18.5 s", "makespan 18.5 ms", "times"))
        self.assertTrue(same("makespan 18.5 s\nsimulated in 577 ms", "makespan 18.5 s\nsimulated in 1.2 s", "times; mask simulated in"))
        self.assertFalse(same("makespan 18.5 s\nsimulated in 577 ms", "makespan 14.3 s\nsimulated in 1.2 s", "times; mask simulated in"))

    def test_lines_named_after_times(self):
        self.assertTrue(same("points   3103\nseconds  0.01", "points   3103\nseconds  0.5"))
        self.assertTrue(same("gbytes_per_second  8.0\nbound_seconds 3", "gbytes_per_second  1.9\nbound_seconds 4"))
        self.assertFalse(same("points   3103\nseconds  0.01", "points   3104\nseconds  0.01"))
        self.assertFalse(same("seconds  0.01", "seconds  soon"))
        self.assertFalse(same("bound 5.1", "bound 9.3"))
        self.assertTrue(same("bound 5.1", "bound 9.3", "mask bound"))
        self.assertFalse(same("bound_bytes 5", "bound_bytes 9", "mask bound"))

    def test_columns(self):
        shown = "family   load  seconds steps\nrs      1.00   0.003   7\nmy own  1.50   0.001   8\n\nrs 1 2 3"
        self.assertTrue(same(shown, shown.replace("0.003", "9.500")))
        self.assertFalse(same(shown, shown.replace("1.00", "1.20")))
        self.assertFalse(same(shown, shown.replace("  8", "  9")))
        self.assertFalse(same(shown, shown.replace("0.001", "fast")))
        self.assertFalse(same(shown, shown.replace("rs 1 2 3", "rs 1 4 3")))  # after the table
        self.assertTrue(same(shown, shown.replace("  8", "  9"), "mask steps"))
        # Names of rows of several words, and cells of a number and its unit.
        shown = "kernel tile calls alone\ndgemm 256 174 1.15 ms\nmy dgemm| 256 170 20 us"
        self.assertTrue(same(shown, shown.replace("174", "9").replace("1.15 ms", "3 s"), "mask calls"))
        self.assertFalse(same(shown, shown.replace("256 170", "512 170"), "mask calls"))
        # A header that the page leaves out is still that of the output.
        self.assertTrue(same("…\nrs 1.00 0.003 7", "family load seconds steps\nrs 1.00 0.100 7"))

    def test_patterns(self):
        shown = "tesela: node 0: node 0 waits, where node 1 goes on: all nodes must do the same"
        found = "tesela: node 2: node 3 is elsewhere: all nodes must do the same"
        self.assertFalse(same(shown, found))
        self.assertTrue(same(shown, found, "mask /node \\d+: node .* all nodes/"))
        self.assertFalse(same(shown, found + " thing", "mask /node \\d+: node .* all nodes/"))

    def test_what_a_node_says_of_its_machine(self):
        line = ("node 0 of 2: {}, 2 cores, 1 worker, 0 accelerators, StarPU {} (package) for up to 4 cores, BLAS kernels for {}, 1 BLAS thread,"
                " loops for x86-64-v4, scheduler streams, {} free")
        shown = line.format("vm", "1.3.10", "Cooperlake", "11.1 GiB")
        self.assertTrue(same(shown, line.format("host.org", "1.4.7", "SkylakeX (chosen since OpenBLAS took Prescott)", "900 MiB")))
        self.assertFalse(same(shown, shown.replace("of 2", "of 3")))
        self.assertFalse(same(shown, shown.replace("1 BLAS", "2 BLAS")))
        self.assertFalse(same(shown, shown.replace("streams", "prio")))

    def test_lines_left_out(self):
        self.assertTrue(same("a\n…\nd", "a\nb\nc\nd"))
        self.assertTrue(same("a\n…\nd", "a\nd"))
        self.assertTrue(same("…", "a\nb"))
        self.assertTrue(same("…\nb\n…", "a\nb\nc"))
        self.assertFalse(same("a\n…\nd", "a\nb\nc"))
        self.assertFalse(same("a\n…", "b\na"))
        self.assertFalse(same("…\nload 5\n…", "a\nload 6\nc"))
        self.assertFalse(same("…\nb\n…\na\n…", "a\nb"))

    def test_rest_of_a_line_left_out(self):
        self.assertTrue(same("makespan 5 …", "makespan 5 more 7"))
        self.assertTrue(same("a long wo…", "a long word and more"))
        self.assertFalse(same("makespan 5 …", "makespan 6 more 7"))
        self.assertFalse(same("a long wo…", "a long sentence"))
        self.assertFalse(same("a b c…", "a b"))

    def test_update_keeps_what_is_still_true(self):
        shown = ["a 1", "took 5 s", "…", "load 5", "…", "gone"]
        found = ["a 2", "took 9 s", "b", "load 6", "c", "new"]
        result = run_blocks.compare(shown, found, run_blocks.Marks())
        self.assertEqual(run_blocks.updated(result), ["a 2", "took 5 s", "…", "load 6", "…"])


class Runs(unittest.TestCase):
    """On made-up pages, with a `tesela` that is a script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name) / "source"
        self.build = pathlib.Path(folder.name) / "build"
        (self.source / "docs").mkdir(parents=True)
        (self.source / "data").mkdir()
        (self.source / "data/x.csv").write_text("1\n2\n")
        self.build.mkdir()
        tesela = self.build / "tesela"
        tesela.write_text('#!/bin/sh\necho "node line" >&2\ncase $1 in\n  count) wc -l <"$2" ;;\n  fail) echo "it failed" >&2; exit 2 ;;\n'
                          '  sleep) sleep "$2" ;;\n  where) echo "${TESELA_PLATFORMS:-nowhere}" ;;\nesac\n')
        tesela.chmod(0o755)

    def run_page(self, text, *options, name="docs/page.md"):
        (self.source / name).write_text(textwrap.dedent(text).lstrip("\n"))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = run_blocks.main([str(self.source), str(self.build), *options])
        self.out = out.getvalue()
        return code

    def test_right_and_wrong(self):
        text = "```console\n$ tesela count data/x.csv\n2\n```\n"
        self.assertEqual(self.run_page(text), 0, self.out)
        self.assertEqual(self.run_page(text.replace("\n2\n", "\n3\n")), 1)
        self.assertIn("docs/page.md:2: $ tesela count data/x.csv\n- 3:     3\n+        2\n", self.out)

    def test_readme_is_read_too(self):
        self.assertEqual(self.run_page("```console\n$ tesela count data/x.csv\n3\n```\n", name="README.md"), 1)
        self.assertIn("README.md:2:", self.out)

    def test_blocks_of_a_page_share_a_folder(self):
        text = "```console\n$ cp data/x.csv y.csv\n```\n\n```console\n$ build/release/tesela count y.csv\n2\n```\n"
        self.assertEqual(self.run_page(text), 0, self.out)
        (self.source / "README.md").write_text("```console\n$ tesela count y.csv\n```\n")
        self.assertEqual(self.run_page(text), 1)
        self.assertIn("README.md:2: $ tesela count y.csv\n  exits with", self.out)

    def test_commands_do_not_change_the_sources(self):
        self.assertEqual(self.run_page("```console\n$ echo 3 >>data/x.csv; tesela count data/x.csv\n3\n```\n"), 0, self.out)
        self.assertEqual((self.source / "data/x.csv").read_text(), "1\n2\n")

    def test_exit_codes(self):
        self.assertEqual(self.run_page("```console\n$ tesela fail\n```\n"), 1)
        self.assertIn("exits with 2, not 0\n    node line\n    it failed", self.out)
        self.assertEqual(self.run_page("```console\n$ tesela fail | sort\n```\n"), 1)
        self.assertEqual(self.run_page("<!-- run: exit 2 -->\n```console\n$ tesela fail\n```\n"), 0, self.out)
        self.assertEqual(self.run_page("<!-- run: exit 2 -->\n```console\n$ tesela count data/x.csv\n```\n"), 1)

    def test_standard_error(self):
        text = "<!-- run: exit 2; stderr -->\n```console\n$ tesela fail\nnode line\nit failed\n```\n"
        self.assertEqual(self.run_page(text), 0, self.out)
        self.assertEqual(self.run_page(text.replace("it failed", "it broke")), 1)

    def test_a_block_shows_all_or_nothing(self):
        self.assertEqual(self.run_page("```console\n$ echo a\n$ echo b\n```\n"), 0, self.out)
        self.assertEqual(self.run_page("```console\n$ echo a\n$ echo b\nb\n```\n"), 1)

    def test_slow_blocks(self):
        text = "<!-- run: slow -->\n```console\n$ echo a\nb\n```\n\n```console\n$ echo a\na\n```\n"
        self.assertEqual(self.run_page(text), 0, self.out)
        self.assertIn("left out  docs/page.md:2 (slow)", self.out)
        self.assertEqual(self.run_page(text, "--all"), 1)

    def test_blocks_that_are_never_run(self):
        text = "<!-- run: never no such machine -->\n```console\n$ tesela fail\n```\n"
        self.assertEqual(self.run_page(text + "\n```console\n$ true\n```\n", "--all"), 0, self.out)
        self.assertIn("(never: no such machine)", self.out)
        self.assertEqual(self.run_page(text), 1, "nothing was run")

    def test_long_blocks_must_be_marked(self):
        limits = run_blocks.ALLOWED_SECONDS, run_blocks.LOADED_SECONDS, run_blocks.LIMIT_SECONDS
        self.addCleanup(lambda: [setattr(run_blocks, name, value) for name, value in
                                 zip(("ALLOWED_SECONDS", "LOADED_SECONDS", "LIMIT_SECONDS"), limits)])
        run_blocks.ALLOWED_SECONDS = 0.2
        text = "```console\n$ tesela sleep 0.5\n```\n"
        self.assertEqual(self.run_page(text), 0, self.out)
        self.assertIn("warning   docs/page.md:1 took", self.out)
        run_blocks.LOADED_SECONDS = 0.3
        self.assertEqual(self.run_page(text), 1)
        self.assertIn("mark it <!-- run: slow -->", self.out)
        self.assertEqual(self.run_page("<!-- run: slow -->\n" + text, "--all"), 0, self.out)
        run_blocks.LIMIT_SECONDS = 0.5
        self.assertEqual(self.run_page("```console\n$ tesela sleep 30\n```\n"), 1)
        self.assertIn("takes too long", self.out)

    def test_masks_that_hide_nothing(self):
        text = "<!-- run: mask lines, /^\\d/ -->\n```console\n$ tesela count data/x.csv\n7\n```\n"
        self.assertEqual(self.run_page(text), 1)
        self.assertIn("mask lines: there is nothing of that name", self.out)
        self.assertEqual(self.run_page(text.replace("lines, ", "")), 0, self.out)

    def test_errors_of_a_page_are_errors(self):
        self.assertEqual(self.run_page("```console\n$ true\n```\n\n    tesela info\n"), 1)
        self.assertIn("docs/page.md:5: a command outside", self.out)

    def test_settings_of_the_caller_are_not_passed_on(self):
        with unittest.mock.patch.dict("os.environ", {"TESELA_PLATFORMS": "here"}):
            self.assertEqual(self.run_page("```console\n$ tesela where\nnowhere\n```\n"), 0, self.out)

    def test_update(self):
        text = "```console\n$ echo a; tesela count data/x.csv; echo took 5 s\nb\n7\ntook 3 s\n$ echo c\n```\n\nText.\n"
        self.assertEqual(self.run_page(text, "--update"), 0, self.out)
        new = (self.source / "docs/page.md").read_text()
        self.assertEqual(new, "```console\n$ echo a; tesela count data/x.csv; echo took 5 s\na\n2\ntook 3 s\n$ echo c\nc\n```\n\nText.\n")
        self.assertEqual(self.run_page(new), 0, self.out)
        self.assertEqual(self.run_page("```console\n$ tesela fail\na\n```\n", "--update"), 1)

    def test_list_runs_nothing(self):
        self.assertEqual(self.run_page("<!-- run: slow -->\n```console\n$ tesela fail\na\n```\n", "--list"), 0)
        self.assertEqual(self.out, "docs/page.md:2: (slow)\n  $ tesela fail   [1 lines]\n")


if __name__ == "__main__":
    unittest.main()
