import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { Notice, NoticeKind, NoticeOf } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { jsonLines } from '../../../src/notices/log/json-lines.ts'
import { type LogOptions, logNotices } from '../../../src/notices/log/log-notices.ts'
import { prettyLines } from '../../../src/notices/log/pretty-line.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { collectLog } from '../../support/collect-log.ts'

export const NOW = Date.UTC(2026, 4, 1, 12, 0, 1, 123)

export const ERROR = { name: 'Error', message: 'declined', code: 'E_NO', at: ['pay (w.ts:1:1)'] }

export const ROOT = { kind: 'event', account: 'default', event: 'evt_1' } as const

export const RUN = { run: 'run_1', workflow: 'verify-transfer', root: ROOT }

const END = { ...RUN, parentRun: null }

const LOST = { account: 'main', type: 'file.created', storage: 'storage_a', file: 'fil_1', path: '/in/a.mov' }

/** One notice of each kind. */
export const NOTICES: { [Kind in NoticeKind]: NoticeOf<Kind> } = {
  'delivery.received': {
    kind: 'delivery.received',
    delivery: 'dlv_1',
    endpoint: 'end_1',
    endpointName: 'main',
    account: 'default',
    verdict: 'accepted',
    event: 'evt_1',
    type: 'file.created',
    subject: '/in/a.csv',
    runs: 2,
    workflows: ['verify-transfer', 'record'],
    facts: { skewSeconds: 1, secret: 0, header: 'X', reason: 'mismatch', contentType: 'text/html', contentLength: 9 },
    ms: 1.5,
  },
  'endpoint.suspect': {
    kind: 'endpoint.suspect',
    endpoint: 'end_1',
    endpointName: 'main',
    failures: 5,
    lastSuccessAt: NOW,
  },
  'ticks.missed': { kind: 'ticks.missed', schedule: 'nightly', workflow: 'nightly', count: 3, since: NOW },
  'schedule.changed': { kind: 'schedule.changed', schedule: 'acme', run: 'run_1', workflow: 'mirror', root: null },
  'tick.recorded': {
    kind: 'tick.recorded',
    schedule: 'nightly',
    workflow: 'nightly',
    account: 'default',
    scheduledFor: NOW,
    missed: 1,
    run: 'run_1',
  },
  'run.queued': { kind: 'run.queued', count: 1 },
  'run.started': { kind: 'run.started', ...RUN, origin: 'event', waitedMs: 2 },
  'run.completed': { kind: 'run.completed', ...END, ms: 12, steps: 3 },
  'run.failed': { kind: 'run.failed', ...END, ms: 12, error: ERROR },
  'run.parked': { kind: 'run.parked', ...END, dueAt: NOW, reason: 'sleep "grace"', awaits: null },
  'approval.opened': {
    kind: 'approval.opened',
    ...RUN,
    step: 'files.delete',
    approval: 'apr_1',
    reason: 'waits for approval apr_1: it would be over the limit of 20 deletes in one run',
    rule: 'guard.workflow.deletes.perRun',
  },
  'approval.closed': { kind: 'approval.closed', ...RUN, step: 'files.delete', approval: 'apr_1', status: 'denied' },
  'run.limited': { kind: 'run.limited', ...END, dueAt: NOW, reason: 'concurrency: 4 of 4 runs are at work' },
  'run.progress': {
    kind: 'run.progress',
    ...RUN,
    progress: { done: 3, total: 10, failed: 1, note: 'files compared', rate: 0.5, at: NOW },
  },
  'run.ready': { kind: 'run.ready', ...END },
  'run.retried': { kind: 'run.retried', ...END, dueAt: NOW, error: ERROR },
  'effects.mode': { kind: 'effects.mode', mode: 'plan', isSwitched: true },
  'effects.awaited': { kind: 'effects.awaited', pid: 7, seenAt: NOW, ms: 20_000 },
  'effects.restored': { kind: 'effects.restored', anchoredAt: NOW },
  'run.planned': { kind: 'run.planned', ...END, ms: 4, reason: 'would complete' },
  'run.skipped': { kind: 'run.skipped', ...END, ms: 4, reason: 'where' },
  'run.released': { kind: 'run.released', ...END },
  'run.canceled': { kind: 'run.canceled', ...END, ms: 5, reason: 'canceled by event evt_1 (file.deleted)' },
  'step.shared': { kind: 'step.shared', ...RUN, step: 'copy' },
  'step.joined': { kind: 'step.joined', ...RUN, step: 'copy', place: 'a.workflow.ts:3:9' },
  'wait.changed': {
    kind: 'wait.changed',
    ...RUN,
    step: 'moved',
    target: 'file.moved',
    asked: 'file.renamed',
    place: 'a.workflow.ts:4:9',
  },
  'code.pending': { kind: 'code.pending', ...RUN, place: 'a.workflow.ts:4:9' },
  'code.timer': { kind: 'code.timer', ...RUN, place: 'a.workflow.ts:5:9' },
  'code.undeclared': {
    kind: 'code.undeclared',
    ...RUN,
    call: 'fetch POST',
    step: null,
    where: 'outside',
    host: 'hooks.example.com',
    place: 'a.workflow.ts:5:9',
  },
  'step.repeated': { kind: 'step.repeated', ...RUN, step: 'copy', count: 100 },
  'event.drifted': {
    kind: 'event.drifted',
    event: 'evt_1',
    account: 'main',
    type: 'file.created',
    changes: ['data.a: text, is new'],
  },
  'event.missing': { kind: 'event.missing', ...LOST },
  'event.made_up': { kind: 'event.made_up', event: 'evt_1', ...LOST },
  'sweep.ended': {
    kind: 'sweep.ended',
    account: 'main',
    storage: 'storage_a',
    number: 3,
    files: 9,
    fault: null,
    missing: 1,
    unclear: 0,
    held: false,
  },
  'event.unmatched': { kind: 'event.unmatched', event: 'evt_1', type: 'file.created', key: 'file', error: ERROR },
  'admin.answered': { kind: 'admin.answered', operation: 'GET /runs', status: 200, ms: 3 },
  'alert.sent': {
    kind: 'alert.sent',
    rule: 'run.failed',
    channel: 'ops',
    summary: 'new: it fails',
    items: 2,
    error: null,
  },
  'run.lost': { kind: 'run.lost', ...END },
  'lease.given_back': { kind: 'lease.given_back', run: 'run_1' },
  'run.log': { kind: 'run.log', ...RUN, level: 'info', message: 'checked', facts: { files: 3 } },
  'runs.recovered': { kind: 'runs.recovered', count: 1 },
  'runs.suspected': { kind: 'runs.suspected', runs: [{ run: 'run_1', workflow: 'verify-transfer' }] },
  'engine.ended': {
    kind: 'engine.ended',
    cause: 'blocked',
    error: ERROR,
    runs: [{ run: 'run_1', workflow: 'verify-transfer' }],
    guilty: ['run_1'],
  },
  'memory.short': {
    kind: 'memory.short',
    of: 'buffers',
    bytes: 60_000_000,
    most: 67_108_864,
    runs: [{ run: 'run_1', workflow: 'verify-transfer' }],
    at: 'workflows/verify-transfer.workflow.ts:7:5',
  },
  'memory.enough': { kind: 'memory.enough' },
  'slots.held': {
    kind: 'slots.held',
    slots: 10,
    held: 8,
    workflow: 'follow-up',
    step: 'files.list',
    target: 'storage_a',
  },
  'step.completed': {
    kind: 'step.completed',
    ...RUN,
    step: 'pay',
    effect: 'write',
    target: 'storage_a:fil_1',
    attempt: 1,
    ms: 3,
  },
  'step.failed': {
    kind: 'step.failed',
    ...RUN,
    step: 'pay',
    effect: 'write',
    attempt: 1,
    ms: 3,
    retryAt: NOW,
    error: ERROR,
  },
  'workflow.loaded': { kind: 'workflow.loaded', workflow: 'nightly', file: 'nightly.workflow.ts', on: '0 3 * * *' },
  'workflow.broken': { kind: 'workflow.broken', file: 'nightly.workflow.ts', error: ERROR },
  'workflows.reloaded': { kind: 'workflows.reloaded', workflows: 3, broken: 0 },
  'workflows.removed': { kind: 'workflows.removed', workflows: ['nightly'] },
  'workflows.elsewhere': { kind: 'workflows.elsewhere', workflows: ['nightly'] },
  'workflow.missing': { kind: 'workflow.missing', workflow: 'nightly' },
  'store.pruned': { kind: 'store.pruned', runs: 1, deliveries: 2, payloads: 3, audit: 4, effects: 5, files: 6, ms: 40 },
  'effects.anchored': { kind: 'effects.anchored', seal: 7, last: 40, mac: 'ab'.repeat(32) },
  'store.protected': { kind: 'store.protected', paths: ['/srv/data'] },
  'store.awaited': { kind: 'store.awaited', error: ERROR },
  'files.limited': { kind: 'files.limited', limit: 1_024, connections: 5_000 },
  'variable.unknown': { kind: 'variable.unknown', name: 'UPSHOT_PROT', like: 'UPSHOT_PORT' },
  'store.network_disk': { kind: 'store.network_disk', folder: '/srv/data', disk: 'NFS' },
  'store.log_missing': { kind: 'store.log_missing', file: '/srv/data/upshot.db' },
  'store.standby_left': { kind: 'store.standby_left', why: 'The standby is more than 500 ms behind the primary.' },
  'store.standby_back': { kind: 'store.standby_back', ms: 4_000 },
  'files.called': {
    kind: 'files.called',
    operation: 'get',
    service: 'storage_a',
    account: 'default',
    caller: { ...RUN, step: 'read', attempt: 1 },
    id: 'fil_1',
    status: 200,
    outcome: 'ok',
    attempts: 1,
    ms: 3,
    waitedMs: 1,
  },
  'files.warned': { kind: 'files.warned', service: 'storage_a', message: 'the reply has no pagination' },
  'sandbox.logged': { kind: 'sandbox.logged', message: 'a transfer began' },
  fault: { kind: 'fault', where: 'schedule of nightly', error: ERROR },
  'app.started': { kind: 'app.started', urls: { sandbox: 'http://127.0.0.1:4747/v1' } },
  'app.stopping': { kind: 'app.stopping', reason: 'SIGTERM' },
  'app.stopped': { kind: 'app.stopped' },
}

export const KINDS = Object.keys(NOTICES) as NoticeKind[]

export interface LinesOptions extends Partial<LogOptions>, Partial<Omit<Parameters<typeof prettyLines>[0], 'clock'>> {
  pretty?: boolean
}

export function linesOf(notices: Notice[], { pretty = false, ...options }: LinesOptions = {}): string[] {
  const bus = createNoticeBus()
  const faults: Notice[] = []
  const lines: string[] = []
  const clock = new ManualClock(NOW)
  const written = { level: 'debug', destination: collectLog(lines), clock, ...options } as const
  logNotices(bus, { ...written, lines: pretty ? prettyLines({ clock, ...options }) : jsonLines(clock) })
  bus.subscribe('fault', (fault) => void faults.push(fault))
  for (const notice of notices) bus.publish(notice)
  expect(faults.filter((fault) => !notices.includes(fault))).toEqual([])
  return lines
}

export const jsonOf = (...notices: Notice[]) => linesOf(notices).map((line) => JSON.parse(line))

export const canary = 'q7cn9rzk4t2m8wxp'

export const secret = `whsec_${Buffer.from(`${canary}-8 bytes`).toString('base64')}`

export const base64 = createHmac('sha256', canary).update('body').digest('base64')

export const url = `https://dl.example/d/${canary}/report.pdf?sig=${canary}&expires=1#${canary}`

export const facts = {
  secret: canary,
  Signature: canary,
  'x-service-signature': canary,
  apiKey: canary,
  downloadUrl: canary,
  download_url: canary,
  deep: [{ headers: { Authorization: canary, 'Set-Cookie': [canary] }, webhookSecret: { value: canary } }],
  cause: Object.assign(new Error(`GET ${url}`), { apiKey: canary }),
  link: new URL(url),
}
