"""Seal the rows of turns by parts, where they have the seal of a development version before.

A row that matches its old seal gets a new one, with its place in the chain; another keeps the old one, which verifying
reports. A new root lists the new ends. An anchor file of before does not fit any more: begin a new one.
"""

import hashlib
import struct
from itertools import chain

import orjson
from django.db import migrations

_HEADER = (
    *("conversation_id", "turn_id", "turn_no", "created_at", "status", "source", "error_code", "error_message"),
    *("intent_before", "state_before", "intent_code", "state_code", "config_version", "duration_ms", "cost"),
    *("model_calls", "last_seq", "index_hash", "context_epoch", "replayable", "replay_note", "audit_incomplete"),
    "user_input",
)
_HEAD = struct.Struct(">BB32s32s16s")
#: The same with three checksums.
_SIZE = _HEAD.size + 12


def seal_by_parts(apps, schema_editor):
    history = apps.get_model("ce_sessions", "CeConversationHistory")
    rows = history._base_manager.using(schema_editor.connection.alias)
    keys = rows.exclude(seal=None).order_by("conversation_id").values_list("conversation_id", flat=True).distinct()
    changed = 0
    for key in keys.iterator():
        by_hash = {}
        sealed = rows.filter(conversation_id=key).exclude(seal=None)
        turns = sealed.exclude(source="ADDITION").order_by("turn_no")
        for row in chain(turns.iterator(), sealed.filter(source="ADDITION").order_by("history_id").iterator()):
            changed += _seal_row(row, by_hash, apps)
        conversation = apps.get_model("ce_sessions", "CeConversation").objects.filter(pk=key).first()
        if conversation and conversation.chain_head and bytes(conversation.chain_head) in by_hash:
            conversation.chain_head = by_hash[bytes(conversation.chain_head)]
            conversation.save(update_fields=["chain_head"])
    if changed and apps.get_model("audit", "CeLedger").objects.filter(kind="ROOT").exists():
        from audit.integrity.ledger import create_root

        create_root(from_start=True)


def _seal_row(row, by_hash, apps):
    """Seal one row by parts; returns 1 if its old seal matched."""
    from audit.record.document_parts import encode_stored_document
    from audit.record.events import read_document
    from audit.record.turn_index import hash_entries, list_index_entries
    from convengine.server.turns.seal import SEALED, Seal, encode_parts

    data = bytes(row.seal)
    if len(data) not in (_SIZE, _SIZE + 32) or data[0] != 2:
        return 0
    _, cuts, previous, old, salt = _HEAD.unpack_from(data)
    release = apps.get_model("config_admin", "CeRelease").objects.filter(pk=row.config_version)
    content_hash = release.values_list("content_hash", flat=True).first() or ""
    before = bytes([cuts]) + old if cuts else previous
    if _digest(salt, before, row, content_hash) != (data[_SIZE:] if cuts else old):
        return 0
    if row.source == "ADDITION" and row.turn_id and not cuts:
        row.index_hash = hash_entries(list_index_entries(read_document(row.events)))
    values = {name: getattr(row, name) for name in SEALED}
    parts = encode_parts(values, content_hash, encode_stored_document(row.events))
    seal = Seal.create(by_hash.get(previous, previous), parts)
    by_hash[old] = seal.hash
    row.seal = (seal.cut(cuts, parts) if cuts else seal).to_bytes()
    row.save(update_fields=["seal", "index_hash"])
    return 1


def _digest(salt, before, row, content_hash):
    """The hash of a row as it was sealed before."""
    from convengine.engine.turn.codec import dump_in_order
    from convengine.server.turns.seal import encode_value

    header = orjson.dumps([encode_value(getattr(row, name)) for name in _HEADER])
    documents = dump_in_order([row.assistant_output, row.facts])[1]
    events = b"" if row.events is None else row.events.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(b"convengine record 2\n" + salt + before)
    for part in (b"\n".join([header, *documents]), events, bytes(row.recording or b""), content_hash.encode()):
        digest.update(struct.pack(">I", len(part)))
        digest.update(part)
    return digest.digest()


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("ce_sessions", "0003_extension_faults"),
        ("config_admin", "0001_initial"),
    ]

    operations = [migrations.RunPython(seal_by_parts, migrations.RunPython.noop)]
