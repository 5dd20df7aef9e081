"""`syn key`: the keys of the person at this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag
from syn.cli.output import note, out, print_json, table
from syn.cli.trusting import surroundings_of, workspace_or_none

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.trust.keyring import KeyFile
    from syn.services.workspace import Surroundings, Workspace

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Keys that sign: Ed25519 in OpenSSH files, in your configuration, never in a repository."
        "\n\n"
        "Example: syn key list"
    ),
)

_POLICY_WORDS = {
    "written": "the first policy names it admin, writer and publisher",
    "holds-key": "the policy at HEAD holds it",
    "lacks-key": "the policy at HEAD does not hold it: an admin adds it with syn policy add",
    "none": "",
}


@app.command()
def init(
    context: typer.Context,
    slot: Annotated[str, typer.Option(help="Name of the key's file.")] = "identity",
    name: Annotated[
        str, typer.Option(help="Your name in the policy; default: git's user.name.")
    ] = "",
    policy: Annotated[
        bool, typer.Option("--policy/--no-policy", help="Write the workspace's first policy.")
    ] = True,
    json: JsonFlag = False,
) -> None:
    """Make your key, and the first policy of a workspace that has none.

    A key that is there is kept. Pin the commit that this writes: it is the trust root.

    Example: syn key init --name alice
    """
    from syn.services.trust.key_init import init_key

    workspace = workspace_or_none(context)
    around = surroundings_of(workspace)
    done = init_key(around, workspace, slot=slot, name=name, policy=policy)
    if json:
        print_json(
            {**_members(done.key, workspace), "made": done.made, "name": done.name,
             "policy": done.policy, "entries": [digest for digest, _ in done.entries]}
        )  # fmt: skip
        return
    out(done.key.key.fingerprint)
    note(f"{'made' if done.made else 'kept'} {done.key.path}")
    if _POLICY_WORDS[done.policy]:
        note(_POLICY_WORDS[done.policy])
    if done.policy == "written" and workspace and not workspace.config.commit:
        note("commit .synapse/policy and .synapse/ledger: it counts from HEAD on")


@app.command("list")
def list_(context: typer.Context, json: JsonFlag = False) -> None:
    """List your keys, and what the workspace's policy says of them.

    Example: syn key list
    """
    from syn.services.trust.key_init import standing_here
    from syn.services.trust.keyring import keys_here

    workspace = workspace_or_none(context)
    keys = keys_here(surroundings_of(workspace))
    if json:
        items = [_members(key, workspace) for key in keys]
        print_json({"items": [*items], "total": len(items), "next": None})
        return
    table((k.slot, k.key.fingerprint, standing_here(workspace, k), str(k.path)) for k in keys)
    if not keys:
        note("no key yet; syn key init makes one")


@app.command()
def show(
    context: typer.Context,
    slot: Annotated[str, typer.Argument(help="Name of the key; default: the one that signs.")] = "",
    json: JsonFlag = False,
) -> None:
    """Show one key: its file, its fingerprint, and how git signs with it.

    Example: syn key show
    """
    workspace = workspace_or_none(context)
    key = find_key(surroundings_of(workspace), slot)
    members = _members(key, workspace)
    if json:
        print_json(members)
        return
    table((name, str(value)) for name, value in members.items() if value)
    note("git signs your own commits with it after:")
    note(f"  git config gpg.format ssh && git config user.signingKey {key.path}.pub")
    note("  git config commit.gpgSign true")


@app.command()
def export(
    context: typer.Context,
    slot: Annotated[str, typer.Argument(help="Name of the key; default: the one that signs.")] = "",
    log: Annotated[
        str, typer.Option(metavar="ORIGIN", help="As a C2SP verifier key for this log.")
    ] = "",
    cosigner: Annotated[
        str, typer.Option(metavar="NAME", help="As a C2SP verifier key for cosignatures.")
    ] = "",
) -> None:
    """Print the public key as one OpenSSH line: what somebody else gives as --trust.

    Example: syn key export > alice.pub
    """
    from syn.keys import vkey

    workspace = workspace_or_none(context)
    key = find_key(surroundings_of(workspace), slot)
    if log:
        out(vkey.render(vkey.VerifierKey(log, vkey.TYPE_ED25519, key.key)))
    elif cosigner:
        out(vkey.render(vkey.VerifierKey(cosigner, vkey.TYPE_COSIGNATURE, key.key)))
    else:
        out(key.key.line(key.comment))


def _members(key: "KeyFile", workspace: "Workspace | None") -> dict[str, "Json"]:
    from syn.services.trust.key_init import standing_here

    return {
        "id": key.slot,
        "path": str(key.path),
        "fingerprint": key.key.fingerprint,
        "public_key": key.key.line(key.comment),
        "policy": standing_here(workspace, key),
    }


def find_key(around: "Surroundings", slot: str) -> "KeyFile":
    """One of the keys here: of this slot, or the first."""
    from syn.errors import UsageError
    from syn.services.trust.keyring import keys_here

    keys = keys_here(around)
    found = [key for key in keys if key.slot == slot] if slot else list(keys[:1])
    if not found:
        names = ", ".join(key.slot for key in keys) or "none"
        raise UsageError(
            "unknown-key", f"no key {slot or 'yet'}: there is {names}", "syn key init makes one"
        )
    return found[0]
