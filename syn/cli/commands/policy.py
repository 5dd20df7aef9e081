"""`syn policy`: who may sign what."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, Reason, Ref, open_workspace
from syn.cli.output import block, note, out, print_json, table

if TYPE_CHECKING:
    from syn.keys.policy import KeyState, Policy, PolicyKey
    from syn.model.finding import Json
    from syn.services.trust.policy_change import Change
    from syn.services.workspace import Workspace

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Who may sign what: .synapse/policy, decided by position in history, never by a date.\n\n"
        "Example: syn policy show"
    ),
)

KeyName = Annotated[str, typer.Argument(metavar="KEY", help="A name, or a fingerprint.")]


@app.command()
def show(context: typer.Context, ref: Ref = "", json: JsonFlag = False) -> None:
    """Show the keys of the policy, their roles and states.

    Example: syn policy show
    """
    keys = _policy(context, ref).keys
    if json:
        print_json({"items": [_members(key) for key in keys], "total": len(keys), "next": None})
        return
    table((k.name, k.state, ",".join(k.roles), k.key.fingerprint, k.comment) for k in keys)


@app.command()
def export(context: typer.Context, ref: Ref = "") -> None:
    """Print the active keys as an allowed-signers file, for git, OpenSSH and --trust.

    Example: syn policy export > allowed_signers
    """
    from syn.keys.policy import export as render

    block(render(_policy(context, ref)).decode())


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Who holds the key.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The public key: a .pub file.")],
    role: Annotated[
        list[str] | None,
        typer.Option(help="admin, writer, publisher or forge; repeatable. Default: writer."),
    ] = None,
    reason: Reason = "",
    json: JsonFlag = False,
) -> None:
    """Let a key sign, from the next commit on; a known key gets these roles.

    Example: syn policy add bob bob.pub --role writer --role publisher
    """
    from syn.errors import UsageError
    from syn.keys import public
    from syn.keys.policy import ROLES, PolicyKey
    from syn.services.trust.policy_change import add_key

    wanted = tuple(role or ["writer"])
    unknown = [item for item in wanted if item not in ROLES]
    if unknown:
        raise UsageError("role", f"--role: expected {', '.join(ROLES)}, got {unknown[0]!r:.40}")
    key, comment = public.parse_line(file.read_text("utf-8").strip())
    roles = tuple(item for item in ROLES if item in wanted)
    item = PolicyKey(name, roles, "active", key, comment)
    _done(open_workspace(context), add_key(open_workspace(context), item, reason), json)


@app.command()
def retire(
    context: typer.Context, key: KeyName, reason: Reason = "", json: JsonFlag = False
) -> None:
    """Retire a key: it counts for what came before in history, and for nothing after.

    Example: syn policy retire alice -m "new laptop"
    """
    _set(context, key, "retired", reason, json)


@app.command()
def compromise(
    context: typer.Context, key: KeyName, reason: Reason = "", json: JsonFlag = False
) -> None:
    """Say that a key is in wrong hands, for ever: it counts only for what a witness covers.

    Example: syn policy compromise SHA256:q1cW3oXvC1sQ0sZbYw8mWc9Wb1bq2m7n0o4p5r6s7t8
    """
    _set(context, key, "compromised", reason, json)


def _set(context: typer.Context, text: str, state: "KeyState", reason: str, json: bool) -> None:
    from syn.services.trust.policy_change import find_key, set_state

    workspace = open_workspace(context)
    found = find_key(workspace, text)
    _done(workspace, set_state(workspace, found.key, state, reason), json)


def _done(workspace: "Workspace", change: "Change", json: bool) -> None:
    if json:
        print_json({**_members(change.item), "entries": [digest for digest, _ in change.entries]})
        return
    if not change.entries:
        note("the policy says so already; nothing was written")
        return
    out(f"{change.item.name} {change.item.state} {','.join(change.item.roles)}")
    if not workspace.config.commit:
        note("commit .synapse/policy and .synapse/ledger: it counts from HEAD on")


def _policy(context: typer.Context, ref: str) -> "Policy":
    from syn.errors import CannotError, UsageError
    from syn.keys.policy import BrokenPolicy
    from syn.services.recall.indexing import read_workspace
    from syn.services.trust.policy import PATH, policy_of

    found = policy_of(read_workspace(open_workspace(context), ref))
    if found is None:
        raise UsageError("no-policy", "there is no policy", "syn key init writes the first one")
    if isinstance(found, BrokenPolicy):
        first = found.problems[0]
        raise CannotError(first.code, f"{PATH}:{first.line}: {first.message}", first.remedy)
    return found


def _members(item: "PolicyKey") -> dict[str, "Json"]:
    return {
        "id": item.key.fingerprint,
        "name": item.name,
        "roles": [*item.roles],
        "state": item.state,
        "public_key": item.key.line(item.comment),
    }
