# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The conformance gate in full: every algorithm on paper and on 1 to 8 ranks. Sourced by launch/test.

GATE_PROGRAM='' GATE_MEMORY='' GATE_PASSED=0 GATE_FAILED=0

# The ids of all algorithms; of the baselines only mpi runs without GPUs.
gate_ids() {
    "$GATE_PROGRAM" list --json | "$VENV_PYTHON" -c '
import json, sys
for algorithm in json.load(sys.stdin)["algorithms"]:
    if algorithm["id"] != "nccl":
        print(algorithm["id"])'
}

# gate_item NAME COMMAND...: runs one part and remembers that it passed. What passed before with the same program and
# plugins is not run again.
gate_item() {
    local name=$1 log=$GATE_MEMORY/$1.log began=$SECONDS code=0
    shift
    if [[ -e $GATE_MEMORY/$name.passed ]]; then
        echo "$name: passed before"
        GATE_PASSED=$((GATE_PASSED + 1))
        return
    fi
    "$@" >"$log" 2>&1 </dev/null || code=$?
    if ((code == 0)); then
        touch "$GATE_MEMORY/$name.passed"
        GATE_PASSED=$((GATE_PASSED + 1))
        echo "$name: $(sed -n 's/^conform .*: \([0-9]* passed\), 0 failed$/\1/p' "$log"), $((SECONDS - began)) s"
    else
        GATE_FAILED=$((GATE_FAILED + 1))
        echo "$name: failed with $code after $((SECONDS - began)) s: $(grep -m1 '^ringscope:' "$log" || echo "see $log")"
    fi
}

# full_gate PRESET AGAIN: the gate on the host's engine. AGAIN=yes forgets what passed before.
full_gate() {
    local preset=$1 again=$2 id ranks
    GATE_PROGRAM=build/$preset/bin/ringscope
    GATE_MEMORY=build/conform/$(cat "$GATE_PROGRAM" "build/$preset"/plugins/*.so | sha256sum | cut -c1-16)
    [[ $again == no ]] || rm -rf "$GATE_MEMORY"
    mkdir -p "$GATE_MEMORY"
    for id in $(gate_ids); do
        [[ $id == mpi ]] || gate_item "$id.paper" "$GATE_PROGRAM" conform "$id" --full
        for ranks in 1 2 3 4 5 6 7 8; do
            gate_item "$id.ranks$ranks" run_ranks "$ranks" 3600 \
                "$GATE_PROGRAM" conform "$id" --full --engine host-shm
        done
    done
    echo "$GATE_PASSED passed, $GATE_FAILED failed"
    ((GATE_PASSED > 0 && GATE_FAILED == 0))
}
