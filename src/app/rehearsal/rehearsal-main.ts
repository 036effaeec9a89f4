import { describeError, type ErrorCode, type Failure, UpshotError } from '../../core/errors.ts'
import { KnownSecrets } from '../../notices/log/known-secrets.ts'
import { logNotices } from '../../notices/log/log-notices.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { WorkflowSet } from '../../project/workflows/workflow-set.ts'
import { App } from '../app.ts'
import { makeLoginLink } from '../console/make-login-link.ts'
import { postMessage } from '../play/link.ts'
import { onRefused } from './on-refused.ts'
import { RehearsalClock } from './rehearsal-clock.ts'

/** A message of the parent. */
export type ToRehearsal =
  | { kind: 'start'; config: Config; skipped: readonly SkippedModule[] }
  /** Sets the clock of the app forward, to epoch milliseconds. */
  | { kind: 'forward'; to: number }
  | { kind: 'link' }

/** A message of the process of a rehearsal. */
export type FromRehearsal =
  /** `broken`: modules that cannot be loaded. */
  | { kind: 'started'; receiver: string; admin: string; broken: { file: string; error: Failure }[] }
  /** The module that is loaded next; null once all are. */
  | { kind: 'loading'; module: Omit<SkippedModule, 'why'> | null }
  | { kind: 'failed'; code: ErrorCode; message: string }
  /** A workflow has asked for a host beyond the sandbox. */
  | { kind: 'refused'; host: string }
  /** `now`: of the app, in epoch milliseconds. */
  | { kind: 'forwarded'; now: number }
  | { kind: 'link'; url: string }

const clock = new RehearsalClock()
let app: App | null = null
let running: { config: Config; admin: string } | null = null

function tell(message: FromRehearsal): void {
  postMessage(process, message)
}

async function start({ config, skipped }: Extract<ToRehearsal, { kind: 'start' }>): Promise<void> {
  const notices = createNoticeBus()
  const secrets = new KnownSecrets()
  const broken: { file: string; error: Failure }[] = []
  notices.subscribe('*', (notice) => {
    if (notice.kind === 'workflow.broken') broken.push({ file: notice.file, error: notice.error })
  })
  logNotices(notices, { level: config.logLevel, secrets, clock })
  const set = await WorkflowSet.load(config.workflowsDir, notices.publish, {
    skipped,
    onLoading: (module) => tell({ kind: 'loading', module }),
  })
  const workflows = set.describe().workflows.flatMap(({ id }) => set.find(id) ?? [])
  app = await App.create(config, { notices, secrets, clock, workflows })
  const { receiver, admin } = await app.start()
  // The event is what is played: no tick comes between, though the clock goes forward.
  for (const { workflow } of await app.store.listSchedules()) {
    await app.store.pauseSchedule(workflow, true, clock.now())
  }
  running = { config, admin }
  tell({ kind: 'started', receiver, admin, broken })
}

async function receive(message: ToRehearsal): Promise<void> {
  if (message.kind === 'start') await start(message)
  if (message.kind === 'forward') {
    clock.forwardTo(message.to)
    tell({ kind: 'forwarded', now: clock.now() })
  }
  if (message.kind === 'link' && app !== null && running !== null) {
    const { config, admin: adminUrl } = running
    const { url } = await makeLoginLink(app.store, { config, adminUrl, role: 'admin' }, clock.now())
    tell({ kind: 'link', url })
  }
}

onRefused((host) => tell({ kind: 'refused', host }))
process.on('message', (message: ToRehearsal) => {
  receive(message).catch((error: unknown) => {
    const code = error instanceof UpshotError ? error.code : 'internal'
    tell({ kind: 'failed', code, message: describeError(error).message })
  })
})
process.on('disconnect', () => process.exit(0))
// Signals of a terminal reach both processes; the parent ends this one.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {})
