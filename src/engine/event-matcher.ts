import { AsyncLocalStorage } from 'node:async_hooks'
import type { KeyRegistry } from '../author/event-keys.ts'
import { withStorageNames } from '../author/storage-name.ts'
import { describeError } from '../core/errors.ts'
import {
  computeKey,
  type EventKey,
  type MatchCursor,
  type NumberedEvent,
  planBatch,
  type ReadKeys,
} from '../core/runs/matching.ts'
import type { StorageSpellings } from '../core/service/storage.ts'
import type { WorkerParts } from './worker-parts.ts'

interface Parts extends Pick<WorkerParts, 'store' | 'clock' | 'publish' | 'spellingsOf'> {
  /** The key functions of this process's modules. */
  keys: Pick<KeyRegistry, 'reader' | 'version'>
  /** Called when matches made runs claimable. */
  woken: () => void
  /** Called when an event has a key that a run may await. */
  matched: () => void
  /** Called for each run that a match canceled; this worker may be executing it. */
  canceled: (runId: string) => void
}

type ReadableCursor = MatchCursor & { read: ReadKeys }

/** How often to check whether another process has begun to wait. */
const CHECK_MS = 1_000

/**
 * Finds the events that runs wait for, after their commit and only while a run waits. Several
 * processes may match at once: a batch moves its cursors by compare-and-set. See decision 11.
 */
export class EventMatcher {
  readonly #parts: Parts
  #hasWaits = false
  #nextCheckAt = 0
  /** Resolves with what the store failed with; null where it did not. */
  #running: Promise<{ error: unknown } | null> | null = null
  #isAsked = false
  #isStopped = false
  readonly #reportedKeys = new Set<string>()

  /** Calls what works for no run, whoever has asked for it. */
  readonly #apart = AsyncLocalStorage.snapshot()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A hint that there may be new events. Costs nothing while no run waits. */
  wake(): void {
    const now = this.#parts.clock.now()
    // The second condition holds when the clock was set back.
    const isCheckDue = now >= this.#nextCheckAt || now < this.#nextCheckAt - CHECK_MS
    if (!this.#hasWaits && !isCheckDue) return
    this.#nextCheckAt = now + CHECK_MS
    this.#match()
  }

  /** To be called when a wait has been stored. */
  startMatching(): void {
    this.#hasWaits = true
    this.#match()
  }

  /**
   * Resolves when every event stored before this call has been matched, or has no key. Rejects
   * where the store fails.
   */
  async catchUp(): Promise<void> {
    this.#hasWaits = true
    this.#match()
    const failure = await this.#running
    if (failure) throw failure.error
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  #match(): void {
    this.#isAsked = true
    if (this.#isStopped) return
    this.#running ??= this.#apart(() => this.#matchWhileAsked()).finally(() => {
      this.#running = null
      if (this.#isAsked && !this.#isStopped) this.#match()
    })
  }

  async #matchWhileAsked(): Promise<{ error: unknown } | null> {
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false
        while (!this.#isStopped && (await this.#matchBatch())) {}
      }
      return null
    } catch (error) {
      this.#isAsked = false
      this.#parts.publish({ kind: 'fault', where: 'matching events', error: describeError(error) })
      return { error }
    }
  }

  /** False when nothing is left to match. */
  async #matchBatch(): Promise<boolean> {
    const { store, clock } = this.#parts
    const { cursors, newest } = await store.listMatchCursors()
    const open = cursors.filter((cursor) => cursor.isOpen)
    this.#hasWaits = open.length > 0
    if (await this.#openMissing(open)) return true
    const batch = planBatch(this.#readable(open), newest)
    if (!batch) return false
    const { group, ...range } = batch
    const { stream, from, to } = range
    const events = await store.listEventsAfter({ stream, after: from, upTo: to, types: listTypes(group) })
    const spellings = await this.#readSpellings(events)
    const keys = events.flatMap((event) =>
      withStorageNames(spellings.get(event.account) ?? {}, () =>
        group.flatMap((cursor) => this.#computeKey(cursor, event) ?? []),
      ),
    )
    // Without their functions, which cannot be sent to a store in another thread.
    const moved = group.map(({ id, type, name }) => ({ id, type, name }))
    const { resolved, canceled } = await store.saveMatches({ cursors: moved, ...range, keys }, clock.now())
    for (const { run, workflow, reason } of canceled) {
      this.#parts.publish({ kind: 'run.canceled', run, workflow, root: null, parentRun: null, ms: null, reason })
      this.#parts.canceled(run)
    }
    if (keys.length > 0) this.#parts.matched()
    if (resolved > 0 || canceled.length > 0) this.#parts.woken()
    return true
  }

  /** Storage spellings by account, which the events' schemas may need. */
  async #readSpellings(events: readonly NumberedEvent[]): Promise<Map<string, StorageSpellings>> {
    const { spellingsOf = () => ({}) } = this.#parts
    const accounts = [...new Set(events.map(({ account }) => account))]
    return new Map(await Promise.all(accounts.map(async (account) => [account, await spellingsOf(account)] as const)))
  }

  /**
   * Opens a cursor where a wait was begun under another version of its key functions. True if it
   * opened one: the cursors must be listed again.
   */
  async #openMissing(open: readonly MatchCursor[]): Promise<boolean> {
    const { store, clock, keys } = this.#parts
    for (const { type, name, stream } of open) {
      const version = keys.version(type, name)
      const isOwn = (cursor: MatchCursor) =>
        cursor.type === type && cursor.name === name && cursor.stream === stream && cursor.version === version
      if (version === null) this.#reportUndeclared(type, name)
      else if (!open.some(isOwn)) {
        await store.openMatchCursor({ type, name, version }, clock.now())
        return true
      }
    }
    return false
  }

  #readable(open: readonly MatchCursor[]): ReadableCursor[] {
    const { keys } = this.#parts
    return open.flatMap((cursor) => {
      if (cursor.version !== keys.version(cursor.type, cursor.name)) return []
      const read = keys.reader(cursor.type, cursor.name)
      return read ? [{ ...cursor, read }] : []
    })
  }

  #computeKey(cursor: ReadableCursor, event: NumberedEvent): EventKey | null {
    try {
      return computeKey(cursor, event, cursor.read)
    } catch (error) {
      const { type, name: key } = cursor
      this.#parts.publish({ kind: 'event.unmatched', event: event.id, type, key, error: describeError(error) })
      return null
    }
  }

  #reportUndeclared(type: string, key: string): void {
    if (this.#reportedKeys.has(`${type} ${key}`)) return
    this.#reportedKeys.add(`${type} ${key}`)
    const message = 'A run waits for this key, but no loaded module declares it. Restore its defineEvent.'
    const error = { name: 'UpshotError', code: 'invalid_workflow', message }
    this.#parts.publish({ kind: 'event.unmatched', event: null, type, key, error })
  }
}

/** The event types to read; null for all of them, where a cursor has a pattern. */
function listTypes(group: readonly MatchCursor[]): string[] | null {
  const types = group.map((cursor) => cursor.type)
  return types.some((type) => type.includes('*')) ? null : [...new Set(types)]
}
