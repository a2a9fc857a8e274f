#!/usr/bin/env python3
"""check_links.py FOLDER: what the Markdown pages of the folder, of its docs/ and of its data/ link to is there, headings included."""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page):
    """Without blocks of code, in which brackets and # mean something else."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors_of(page):
    """As GitHub makes them of headings: small letters, no punctuation, - for a space."""
    headings = re.findall(r"^#+ +(.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problem(page, target):
    path, _, anchor = target.partition("#")
    linked = page.parent / path if path else page
    if not linked.exists():
        return f"{page} links to {target}, which is not there"
    if anchor and anchor not in anchors_of(linked):
        return f"{page} links to {target}, which has no such heading"
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    pages = [page for folder in (".", "docs", "data") for page in sorted((root / folder).glob("*.md"))]
    links = [(page, target) for page in pages for target in LINK.findall(text_of(page)) if "://" not in target]
    problems = [found for page, target in links if (found := problem(page, target))]
    if not links:
        problems.append(f"{root} has no pages with links")
    print("\n".join(problems) or f"{len(links)} links of {len(pages)} pages")
    sys.exit(bool(problems))


main()
