import type { AlertChannel, AlertRule } from '../../../../src/core/alerts/alert-rule.ts'
import type { Notice, NoticeOf } from '../../../../src/core/notices.ts'
import type { Tags } from '../../../../src/core/runs/annotations/tags.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { ManualClock } from '../../../../src/core/time.ts'
import { AlertWatch } from '../../../../src/watch/alerts/alert-watch.ts'
import { type PreviewShadows, SHADOW_BEHIND_MS } from '../../../../src/watch/alerts/look-at-shadows.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { NOW, queueRun } from '../../../support/fixtures.ts'

export const RULE: AlertRule = {
  name: 'failures',
  when: 'run.failed',
  workflow: null,
  over: 0,
  forMs: 0,
  everyMs: 900_000,
  to: ['ops'],
}

interface WatchOptions {
  channels: Record<string, AlertChannel>
  clock?: ManualClock
  /** The used share of the disk, which a test may change. */
  disk?: { use: number }
}

/** A watch with rules on a store, and the notices that it published. */
export function openWatch(
  store: Store,
  rules: AlertRule | AlertRule[],
  { channels, clock = new ManualClock(NOW), disk = { use: 0.5 } }: WatchOptions,
) {
  const notices: Notice[] = []
  const watch = new AlertWatch({
    store,
    clock,
    publish: (notice) => notices.push(notice),
    plan: { rules: [rules].flat(), channels },
    base: 'https://ops.example.com',
    readDiskUse: async () => disk.use,
    openShadows: () => previewShadows,
  })
  return { watch, clock, notices, sent: () => notices.filter(isSent) }
}

const KEY = '+ delete files.delete storage_a'
const CHANGE = { sign: '+', class: 'delete', operation: 'files.delete', target: 'storage_a' } as const
const GROUP = { key: KEY, count: 3, bytes: 0, changes: [{ ...CHANGE, from: null, to: null, text: KEY }], samples: [] }

/** The shadow of \`tidy\` differs in the first stretch of runs that is previewed. */
const previewShadows: PreviewShadows = ({ since, until }) => {
  const groups = since === NOW - SHADOW_BEHIND_MS ? [GROUP] : []
  return { until, found: [{ workflow: 'tidy', code: 'a', groups, error: null }] }
}

function isSent(notice: Notice): notice is NoticeOf<'alert.sent'> {
  return notice.kind === 'alert.sent'
}

let made = 0

/** A run that failed at `at`. */
export async function failRun(
  store: Store,
  at: number,
  { message = 'no luck', tags = {} }: { message?: string; tags?: Tags } = {},
): Promise<string> {
  const run = await queueRun(store, `evt_alert_${made++}`)
  const { lease } = await claimNext(store)
  await store.saveTags(lease, tags)
  await store.failRun(lease, { name: 'Error', message, step: 'copy' }, at)
  return run
}
