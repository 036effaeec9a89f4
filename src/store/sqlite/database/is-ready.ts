import { TRIED_ALONE } from '../../../core/runs/blame.ts'

/** Condition of a run that any worker may claim. Index: work_ready, which skips suspects. */
export const IS_READY = `status = 'pending' AND suspicion < ${TRIED_ALONE}`
