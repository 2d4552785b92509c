#!/bin/sh
# A shopping list that an object of another process keeps: `notes-server` has to run. The script
# knows no interface. It calls members by their names, as VBScript does.
set -eu

notes() {
    obvia call "${NOTES:-notes}" "$@"
}

# Prints the result of a call as JSON.
returned() {
    notes "$@" --json | sed -n 's/^ *"returned": //p'
}

for item in milk eggs bread; do
    notes Add "$item" >/dev/null
done
notes Item= eggs 6 >/dev/null
notes Item= bread '"two loaves"' >/dev/null

count=$(returned Count)
at=1
while [ "$at" -le "$count" ]; do
    echo "$at: $(returned Item "$at")"
    at=$((at + 1))
done

echo "with an e: $(notes Find e --named most=1)"

if notes Item butter 2>/dev/null; then
    echo "there should be no butter" >&2
    exit 1
fi
