#!/bin/sh
# Stops the cluster whose files are below $1, and removes them. Waits for the end of the standard input first: the test
# closes it, or dies.
cat >/dev/null
root=$1
# Daemons, step daemons and what they run have their working directory below the root, or are children of such ones.
ours() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd" 2>/dev/null) in
        "$root"/*) ;;
        *) continue ;;
        esac
        pid=${process#/proc/}
        [ "$pid" = $$ ] || echo "$pid"
    done
}
jobs_of() {
    for pid in $(ours); do
        cat "/proc/$pid/task/$pid/children" 2>/dev/null
    done
}
for round in 1 2 3 4 5; do
    # Jobs may work elsewhere; they are known only as children while their step daemon lives.
    all="$(jobs_of) $(ours)"
    [ -n "$(echo $all)" ] || break
    kill -9 $all 2>/dev/null
    sleep 0.1
done
rm -rf "$root"
