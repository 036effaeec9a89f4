import { join, resolve } from 'node:path'
import type { StorageName } from '../../core/service/storage.ts'
import { ApiKeys } from '../account/api-keys.ts'
import { Audit } from '../account/audit.ts'
import { RateLimiter } from '../account/rate-limiter.ts'
import { Faults } from '../faults/faults.ts'
import type { Log, SandboxOptions } from '../options.ts'
import { SandboxClock } from '../state/clock.ts'
import { type Db, openDatabase } from '../state/database.ts'
import { EventJournal } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import { LiveSettings, SavedSettings } from '../state/settings.ts'
import { ChangeRecorder } from '../storage/change-recorder.ts'
import { Storage } from '../storage/storage.ts'
import { markIndexed, openStorageFolder } from '../storage/storage-folders.ts'
import { StorageIndex } from '../storage/storage-index.ts'
import { StorageWatcher } from '../storage/storage-watcher.ts'
import { Transfers } from '../transfers/transfers.ts'
import { Deliveries } from '../webhooks/deliveries.ts'
import { DeliveryDispatcher, RETRY_SCHEDULE_MS } from '../webhooks/delivery-dispatcher.ts'
import { DeliveryLog } from '../webhooks/delivery-log.ts'
import { type ProbeReport, probeReceiver } from '../webhooks/probe-receiver.ts'
import { Webhooks } from '../webhooks/webhooks.ts'
import { Snapshots } from './snapshots.ts'

/** How long a file must stay unchanged before it is recorded. */
const SETTLE_MS = 250

/** Every part of a sandbox except its servers. */
export interface SandboxParts {
  db: Db
  saved: SavedSettings
  clock: SandboxClock
  settings: LiveSettings
  keys: ApiKeys
  webhooks: Webhooks
  events: EventJournal
  log: Log
  deliveries: Deliveries
  index: StorageIndex
  recorder: ChangeRecorder
  storages: Record<StorageName, Storage>
  transfers: Transfers
  dispatcher: DeliveryDispatcher
  watchers: StorageWatcher[]
  faults: Faults
  audit: Audit
  limiter: RateLimiter
  snapshots: Snapshots
  /** Checks what a receiver accepts and refuses. Throws `not_found`. */
  probe(webhookId: string): Promise<ProbeReport>
}

/** Opens the saved state under `options.dir` and builds the parts. Starts nothing. */
export function openSandboxParts(options: SandboxOptions): SandboxParts {
  const db = openDatabase(resolve(options.dir))
  try {
    return assemble(db, options)
  } catch (error) {
    db.close()
    throw error
  }
}

function assemble(db: Db, options: SandboxOptions): SandboxParts {
  const log: Log = options.log ?? (() => {})
  const saved = new SavedSettings(db)
  const clock = new SandboxClock(options.clock ?? 'real', saved, options.startAt)
  const settings = new LiveSettings(saved, { form: options.form, plan: options.plan })
  const webhooks = new Webhooks(db, clock)
  const deliveryLog = new DeliveryLog(db, clock)
  const events = new EventJournal(db, clock, (event) => {
    log({ msg: 'event', id: event.id, type: event.type })
    for (const webhook of webhooks.wanting(event)) deliveryLog.queue(event, webhook, 'event')
  })
  const index = new StorageIndex(db)
  const recorder = new ChangeRecorder({ db, index, events, clock, settings })
  const storages = openStorages(options, { db, index, recorder })
  const faults = new Faults(db, options.seed ?? 1)
  const timeoutMs = options.deliveryTimeoutMs ?? 10_000
  const retryScheduleMs = options.retryScheduleMs ?? RETRY_SCHEDULE_MS
  const dispatcher = new DeliveryDispatcher({ deliveryLog, faults, webhooks, clock, retryScheduleMs, timeoutMs, log })
  clock.settleWith(() => dispatcher.idle())
  const limiter = new RateLimiter()
  const audit = new Audit(db)
  const transfers = new Transfers({ db, index, storages, events, clock })
  const parts = {
    db,
    saved,
    clock,
    settings,
    webhooks,
    events,
    index,
    recorder,
    storages,
    dispatcher,
    faults,
    transfers,
  }
  return {
    ...parts,
    log,
    limiter,
    audit,
    keys: new ApiKeys(db, clock),
    deliveries: new Deliveries({ log: deliveryLog, events, webhooks }),
    watchers: watchAll(parts, options),
    snapshots: new Snapshots({ ...parts, limiter, audit, dir: resolve(options.dir) }),
    probe: async (id) => probeReceiver(webhooks.find(id) ?? notFound('webhook', id), { now: clock.now(), timeoutMs }),
  }
}

function watchAll(
  parts: Pick<SandboxParts, 'storages' | 'index' | 'recorder'>,
  options: SandboxOptions,
): StorageWatcher[] {
  const { scanEveryMs = 10_000, hints = true } = options
  return Object.values(parts.storages).map((storage) => {
    const { index, recorder } = parts
    const watcher = new StorageWatcher({
      storage,
      index,
      recorder,
      settleMs: SETTLE_MS,
      scanEveryMs,
      hints,
      log: options.log ?? (() => {}),
    })
    storage.rescanWith(() => watcher.catchUp())
    return watcher
  })
}

/**
 * Fails transfers that a crash cut off and records changes made meanwhile. Deliveries start with
 * `dispatcher.start()`.
 */
export async function catchUp(parts: SandboxParts): Promise<void> {
  parts.transfers.recover()
  for (const watcher of parts.watchers) {
    await watcher.start()
    markIndexed(parts.db, watcher.storage.name)
  }
}

/** Stops every part; resolves when nothing more will be written. */
export async function closeSandboxParts(parts: SandboxParts): Promise<void> {
  await Promise.all(parts.watchers.map((watcher) => watcher.stop()))
  await parts.transfers.stop()
  await parts.dispatcher.stop()
  parts.clock.stop()
  parts.db.close()
}

function openStorages(
  options: SandboxOptions,
  parts: { db: Db; index: StorageIndex; recorder: ChangeRecorder },
): Record<StorageName, Storage> {
  const parent = resolve(options.storagesDir ?? join(options.dir, 'storages'))
  const open = (name: StorageName) => new Storage(name, openStorageFolder(parts.db, name, parent), parts)
  return { storage_a: open('storage_a'), storage_b: open('storage_b'), storage_c: open('storage_c') }
}
