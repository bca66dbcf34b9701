"""From paths to an opened fleet, and the walk of a base."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.core.values import Base
from kb.errors import KbError
from kb.store.fleet import fleet_root, open_fleet
from kb.store.walk import walk_base
from tests.conftest import Shell


def touch(root: Path, *paths: str) -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("# N\n", encoding="utf-8")


def names(root: Path, *paths: str) -> list[str]:
    return [base.name for base in open_fleet([str(root / path) for path in paths or (".",)]).bases]


def base(root: Path) -> Base:
    return open_fleet([str(root)]).bases[0]


def walked(root: Path, include_private: bool = False) -> list[str]:
    return [stat.path for stat in walk_base(base(root), include_private).files]


def test_a_folder_with_fleet_yields_every_undotted_folder_below_it(tmp_path: Path) -> None:
    touch(tmp_path, "fleet/bare/core.md", "fleet/.git/x.md", "fleet/oak/knowledge/a.md", "outbox/y.md")
    assert names(tmp_path) == ["bare", "oak"]


def test_a_loose_folder_yields_the_children_that_say_they_are_bases(tmp_path: Path) -> None:
    touch(tmp_path, "zed/agent.txt", "steve/MAP.md", "yaron/INDEX.md", "lower/map.md", "plain/a.md")
    assert names(tmp_path) == ["steve", "yaron", "zed"]


def test_disable_and_attach_change_the_roster(tmp_path: Path) -> None:
    touch(tmp_path, "zed/agent.txt", "steve/agent.txt", "far/outside/a.md")
    (tmp_path / "fleet.txt").write_text("disable = steve\nattach = far/outside\nattach = gone\n")
    fleet = open_fleet([str(tmp_path)])
    assert [b.name for b in fleet.bases] == ["zed", "outside"] and "gone" in fleet.skipped[0]


def test_any_folder_of_markdown_is_a_base(tmp_path: Path) -> None:
    touch(tmp_path, "vault/a.md")
    assert names(tmp_path, "vault") == ["vault"]


def test_one_folder_given_twice_is_opened_once(tmp_path: Path) -> None:
    touch(tmp_path, "vault/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    assert names(tmp_path, "vault", "link", "vault/.") == ["vault"]


def test_two_bases_of_one_name_case_aside_are_refused_by_both_paths(tmp_path: Path) -> None:
    touch(tmp_path, "a/Oak/x.md", "b/oak/x.md")
    with pytest.raises(KbError) as refused:
        names(tmp_path, "a/Oak", "b/oak")
    assert str(tmp_path / "a/Oak") in str(refused.value) and str(tmp_path / "b/oak") in str(refused.value)


@pytest.mark.parametrize("path", ["nowhere", "file.txt", "nul\0"])
def test_a_path_that_is_no_folder_is_refused_by_name(tmp_path: Path, path: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(KbError, match="cannot read"):
        names(tmp_path, path)


def test_fleet_level_files_live_beside_the_nearest_fleet_txt(tmp_path: Path) -> None:
    touch(tmp_path, "fleet.txt", "fleet/zed/deep/er/a.md", "../lone/a.md")
    assert fleet_root(str(tmp_path / "fleet/zed/deep")) == str(tmp_path)


def test_an_unreadable_card_closes_the_base_and_is_told(tmp_path: Path) -> None:
    touch(tmp_path, "oak/a.md")
    (tmp_path / "oak/agent.txt").write_bytes(b"name = caf\xe9\n")
    fleet = open_fleet([str(tmp_path / "oak")])
    assert walk_base(fleet.bases[0], False).files == [] and "oak" in fleet.skipped[0]


def test_the_walk_skips_dotted_and_build_folders_and_sorts(tmp_path: Path) -> None:
    touch(tmp_path, "b.md", "a/c.MD", ".git/x.md", "node_modules/x.md", "a/target/x.md", ".draft.md", "notes.txt", "🐘.md")
    assert walked(tmp_path) == sorted([".draft.md", "a/c.MD", "b.md", "🐘.md"])


def test_links_are_followed_inside_the_base_only_and_each_file_counts_once(tmp_path: Path) -> None:
    touch(tmp_path, "base/a/n.md", "base/.hidden/h.md", "outside/s.md")
    root = tmp_path / "base"
    for place, target in (("self", root), ("a/up", root / "a"), ("escape.md", tmp_path / "outside/s.md"),
                          ("out", tmp_path / "outside"), ("dangling.md", root / "gone.md"), ("again.md", root / "a/n.md"),
                          ("shown.md", root / ".hidden/h.md")):
        os.symlink(target, root / place)
    walk = walk_base(base(root), False)
    assert [stat.path for stat in walk.files] == ["a/n.md", "shown.md"]
    assert sorted(line.split(":")[0] for line in walk.skipped) == ["base/dangling.md", "base/escape.md", "base/out"]


def test_a_public_link_to_a_private_file_is_private(tmp_path: Path) -> None:
    touch(tmp_path, "knowledge/k.md", "profile/p.md")
    os.symlink(tmp_path / "profile/p.md", tmp_path / "knowledge/link.md")
    os.symlink(tmp_path / "profile", tmp_path / "open")
    assert walked(tmp_path) == ["knowledge/k.md"]


def test_a_folder_that_cannot_be_listed_is_told_and_the_rest_still_serves(tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root can list every folder")
    touch(tmp_path, "a/x.md", "b/y.md")
    (tmp_path / "a").chmod(0)
    try:
        walk = walk_base(base(tmp_path), False)
    finally:
        (tmp_path / "a").chmod(0o755)
    assert ([s.path for s in walk.files], walk.unlisted) == (["b/y.md"], ["a"])


def test_a_name_that_is_not_utf8_is_named_and_stops_nothing(tmp_path: Path) -> None:
    touch(tmp_path, "a.md")
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as file:
        file.write("# X\n")
    walk = walk_base(base(tmp_path), False)
    assert [s.path for s in walk.files] == ["a.md"] and len(walk.unnamed) == 1


@pytest.mark.parametrize(("declared", "folder"), [("Drafts", "drafts"), ("drafts", "DRAFTS"), ("a\u00e7\u00e3o", "ac\u0327a\u0303o"),
                                                  ("Deep/Er", "deep/er")])
def test_a_private_folder_spelt_otherwise_is_private_and_said(sh: Shell, declared: str, folder: str) -> None:
    sh.write("ada/agent.txt", f"name = Ada\nprivate = {declared}\n")
    sh.write(f"ada/{folder}/x.md", "# X\n")
    opened = open_fleet([str(sh.root / "ada")])
    assert opened.bases[0].privacy.covers(f"{folder}/x.md") and not opened.bases[0].privacy.covers("y.md")
    assert any("is spelt" in line for line in opened.skipped)
