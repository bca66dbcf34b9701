"""Stand-in models: real programs that keep each prompt they get and print replies in turn."""

from __future__ import annotations

from tests.conftest import Shell

ACCEPT = "VERDICT: accept\nREASON: it adds something\n"
REJECT = "VERDICT: reject\nREASON: the list holds it already\n"


def proposal(slug: str = "night-freeze", keys: str = "freeze, night freeze, friday release", folder: str = "knowledge",
             summary: str = "say when releases stop", body: str = "# Night freeze\n\nReleases stop at six.", extra: str = "") -> str:
    return f"PROPOSAL\nslug: {slug}\nfolder: {folder}\nsummary: {summary}\nkeys: {keys}\n{extra}body:\n{body}\nEND\n"


def stand_in(sh: Shell, role: str, *replies: str, before: str = "", after: str = "") -> None:
    """`role =` in fleet.txt: prints its n-th reply, the last one from then on. `before` and `after` are shell, with $n."""
    home = sh.root / "calls" / role
    home.mkdir(parents=True, exist_ok=True)
    for number, reply in enumerate(replies, 1):
        sh.write(f"calls/{role}/reply.{number}", reply)
    sh.script(f"tools/{role}.sh", f"""
home='{home}'
n=1
while ! mkdir "$home/$n" 2>/dev/null; do n=$((n+1)); done
cat > "$home/$n/prompt"
{before}
m=$n
[ $m -lt {len(replies)} ] || m={len(replies)}
cat "$home/reply.$m"
{after}
""")
    line = f"{role} = tools/{role}.sh\n"
    if line not in sh.read("fleet.txt"):
        sh.write("fleet.txt", sh.read("fleet.txt") + line)


def prompts(sh: Shell, role: str) -> list[str]:
    """The prompts a stand-in got, in order."""
    kept = sorted((sh.root / "calls" / role).glob("*/prompt"), key=lambda path: int(path.parent.name))
    return [path.read_text(encoding="utf-8") for path in kept]


def rows(sh: Shell, name: str) -> list[list[str]]:
    """The rows of a counted log, without its comment; no file, no rows."""
    path = sh.root / name
    lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
