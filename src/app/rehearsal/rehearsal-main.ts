import type { Failure } from '../../core/errors.ts'
import { jsonLines } from '../../notices/log/json-lines.ts'
import { logNotices } from '../../notices/log/log-notices.ts'
import { KnownSecrets } from '../../notices/log/redact.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import type { Config } from '../../project/config/load-config.ts'
import type { SkippedModule } from '../../project/workflows/load-workflows.ts'
import { WorkflowSet } from '../../project/workflows/workflow-set.ts'
import { App } from '../app.ts'
import { makeLoginLink } from '../console/make-login-link.ts'
import { serveParent } from '../preview/child/link.ts'
import { onRefused } from './on-refused.ts'
import { RehearsalClock } from './rehearsal-clock.ts'

/** The app, once it runs. */
export interface StartedApp {
  receiver: string
  /** Modules that cannot be loaded. */
  broken: { file: string; error: Failure }[]
}

const clock = new RehearsalClock()
let running: { app: App; config: Config; adminUrl: string } | null = null

const parent = serveParent({ start, forwardTo, makeLink })
// A workflow has asked for a host beyond the sandbox.
onRefused((host) => parent.tell('refused', host))

async function start(config: Config, skipped: readonly SkippedModule[]): Promise<StartedApp> {
  const notices = createNoticeBus()
  const secrets = new KnownSecrets()
  const broken: StartedApp['broken'] = []
  notices.subscribe('*', (notice) => {
    if (notice.kind === 'workflow.broken') broken.push({ file: notice.file, error: notice.error })
  })
  logNotices(notices, { level: config.logLevel, secrets, lines: jsonLines(clock), clock })
  const set = await WorkflowSet.load(config.workflowsDir, notices.publish, {
    skipped,
    onLoading: (module) => parent.tell('loading', module),
  })
  const workflows = set.describe().workflows.flatMap(({ id }) => set.find(id) ?? [])
  const app = await App.create(config, { notices, secrets, clock, workflows })
  const { receiver, admin } = await app.start()
  // The event is what is rehearsed: no tick comes between, though the clock goes forward.
  for (const { id } of await app.store.listSchedules({ limit: 1_000 })) {
    await app.store.pauseSchedule(id, true, clock.now())
  }
  running = { app, config, adminUrl: admin }
  return { receiver, broken }
}

/** Sets the clock of the app forward. Gives its time. */
function forwardTo(moment: number): number {
  clock.forwardTo(moment)
  return clock.now()
}

async function makeLink(): Promise<string> {
  if (running === null) throw new Error('The app of the rehearsal has not started.')
  const { app, ...about } = running
  return (await makeLoginLink(app.store, { ...about, role: 'admin' }, clock.now())).url
}
