#!/bin/sh
# Makes all calls of the sessions API against a running demonstration (`make demo`) and prints each decision and its reason.
#
#     sh docs/try-sessions.sh
#
# Needs curl and python3. URL and key come from var/demo.json; CE_URL and CE_API_KEY override them. Each run is a new
# participant; FROM=+1555 sets one that may exist already. Ends with status 1 when a call fails.
set -eu

# field NAME: the value of a field of a JSON object on standard input.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

url=${CE_URL:-$(field url <var/demo.json)}
key=${CE_API_KEY:-$(field api_key <var/demo.json)}
from=${FROM:-+1555$(date +%s)$$}

# call METHOD PATH JSON WHAT: one call, and a line with its result.
call() {
    answer=$(curl -s -X "$1" "$url/api/v1/sessions$2" \
        -H "Authorization: Api-Key $key" -H "Content-Type: application/json" -d "$3")
    printf '%s' "$answer" | python3 -c '
import json, sys

what, answer = sys.argv[1], json.load(sys.stdin)
if not answer["ok"]:
    sys.exit("%s: %s" % (what, json.dumps(answer)))
session, reply = answer["session"], answer.get("reply") or ""
told = [answer.get("decision") or "-", answer.get("reason") or "-", session["lifecycle"], session["turn_count"]]
print("%-8s  %-14s  %-13s  turns %s  %s" % (*told, what) + (" -> " + reply.splitlines()[0] if reply else ""))
' "$4"
}

# message TEXT: the body of a message of this participant.
message() {
    python3 -c '
import json, sys

thread = {"workspace_id": "default", "channel": "whatsapp", "remote_jid": sys.argv[1]}
print(json.dumps({**thread, "user_message": sys.argv[2]}))
' "$from" "$1"
}

say() { call POST /message "$(message "$1")" "$1"; }

say "When do you open on Saturday?"     # Nobody knows this participant.
say "and on Sunday, are you open?"      # Their session goes on.
say "Reset!"                            # Another one begins; nothing is asked of the rules.
say "How long does delivery take?"      # That one goes on.

call POST /resolve "$(message "Are you there?")" "(resolve: decided, and no turn taken)"
session=$(printf '%s' "$answer" | field session_id)

call PATCH "/$session" '{"user_message": "Can I call you?", "assistant_response": "Yes.", "action_type": "phone"}' \
    "(a turn that was handled elsewhere)"
call POST "/$session/close" '{"reason": "done"}' "(closed)"

say "Hello again"                       # What is closed stays closed: the next one begins.
