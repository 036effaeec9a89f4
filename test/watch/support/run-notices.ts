import type { Notice } from '../../../src/core/notices.ts'
import { NOTICES } from '../../notices/support/notices.ts'

export const NOW = Date.UTC(2026, 4, 1, 12)

/** The notices of a delivery with one run of three steps, as the parts of the app publish them. */
export function runNotices(workflow = 'verify', run = 'run_1', event = 'evt_1'): Notice[] {
  const about = { run, workflow, root: { kind: 'event', account: 'default', event } } as const
  const step = { ...about, effect: 'write', target: null, attempt: 1, ms: 3 } as const
  return [
    { ...NOTICES['delivery.received'], event, runs: 1, workflows: [workflow], facts: { secret: 0 }, ms: 2 },
    { kind: 'run.queued', count: 1 },
    { kind: 'run.started', ...about, origin: 'event', waitedMs: 2 },
    { kind: 'step.completed', ...step, step: 'read', effect: 'read' },
    { kind: 'step.completed', ...step, step: 'pay' },
    { kind: 'step.completed', ...step, step: 'tell' },
    { kind: 'run.completed', ...about, parentRun: null, ms: 12, steps: 3 },
  ]
}
