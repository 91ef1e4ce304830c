#!/bin/sh
# Tells Drystone's daemon of a job that has ended: set as JobCompLoc with JobCompType=jobcomp/script. The daemon then looks for itself.
[ -e '@WAKE@' ] && echo "${JOBID:-0} ${JOBSTATE:-}" >> '@WAKE@'
exit 0
