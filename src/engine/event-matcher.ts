import type { KeyRegistry } from '../author/event-keys.ts'
import { withStorageNames } from '../author/storage-name.ts'
import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import {
  computeKey,
  type EventKey,
  type MatchCursor,
  type NumberedEvent,
  planBatch,
  type ReadKeys,
} from '../core/runs/matching.ts'
import type { StorageSpellings } from '../core/service/storage.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import type { SpellingsOf } from './admit/gather-event-facts.ts'

export interface MatcherParts {
  store: Pick<Store, 'listMatchCursors' | 'listEventsAfter' | 'openMatchCursor' | 'saveMatches'>
  clock: Clock
  publish: Publish
  /** Default: our own names. */
  spellingsOf?: SpellingsOf
  /** The key functions of this process's modules. */
  keys: Pick<KeyRegistry, 'reader' | 'version'>
  /** Runs go on: they can be claimed. */
  woken: () => void
  /** A run was canceled; it may be at work here. */
  canceled: (runId: string) => void
}

/** A key that somebody waits for, with what computes it. */
type ReadableCursor = MatchCursor & { read: ReadKeys }

/** How often it is looked whether another process has begun to wait. */
const LOOK_MS = 1_000

/**
 * Finds the events that runs wait for. No author's code runs when a delivery is acknowledged, so
 * that keys are computed here, after the commit, and only while somebody waits for them. Any number
 * of processes may do it at once: the store moves each cursor by compare-and-set, and a batch that
 * came second changes nothing.
 */
export class EventMatcher {
  readonly #parts: MatcherParts
  #isWatching = false
  #lookAt = 0
  #running: Promise<void> | null = null
  #isAsked = false
  #isStopped = false
  readonly #complained = new Set<string>()

  constructor(parts: MatcherParts) {
    this.#parts = parts
  }

  /** There may be new events. Costs nothing while nobody waits. */
  wake(): void {
    const now = this.#parts.clock.now()
    // Also when the clock was set back.
    const isTimeToLook = now >= this.#lookAt || now < this.#lookAt - LOOK_MS
    if (!this.#isWatching && !isTimeToLook) return
    this.#lookAt = now + LOOK_MS
    this.#ask()
  }

  /** Somebody begins to wait. */
  watch(): void {
    this.#isWatching = true
    this.#ask()
  }

  /** Resolves when every event that was stored before has been matched, or cannot be. */
  async catchUp(): Promise<void> {
    this.#isWatching = true
    this.#ask()
    await this.#running
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  #ask(): void {
    this.#isAsked = true
    if (this.#isStopped) return
    this.#running ??= this.#matchWhileAsked().finally(() => {
      this.#running = null
      if (this.#isAsked && !this.#isStopped) this.#ask()
    })
  }

  async #matchWhileAsked(): Promise<void> {
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false
        while (!this.#isStopped && (await this.#matchBatch())) {}
      }
    } catch (error) {
      this.#isAsked = false
      this.#parts.publish({ kind: 'fault', where: 'matching events', error: describeError(error) })
    }
  }

  /** False when nothing is left to be matched. */
  async #matchBatch(): Promise<boolean> {
    const { store, clock } = this.#parts
    const { cursors, newest } = await store.listMatchCursors()
    const open = cursors.filter((cursor) => cursor.isOpen)
    this.#isWatching = open.length > 0
    if (await this.#openMissing(open)) return true
    const batch = planBatch(this.#readable(open), newest)
    if (!batch) return false
    const { group, from, to } = batch
    const events = await store.listEventsAfter({ after: from, upTo: to, types: listTypes(group) })
    const spellings = await this.#readSpellings(events)
    const keys = events.flatMap((event) =>
      withStorageNames(spellings.get(event.account) ?? {}, () =>
        group.flatMap((cursor) => this.#computeKey(cursor, event) ?? []),
      ),
    )
    // Without their functions: the store may be in another thread, where none can go.
    const moved = group.map(({ id, type, name }) => ({ id, type, name }))
    const { woken, canceled } = await store.saveMatches({ cursors: moved, from, to, keys }, clock.now())
    for (const { run, workflow, reason } of canceled) {
      this.#parts.publish({ kind: 'run.canceled', run, workflow, reason })
      this.#parts.canceled(run)
    }
    if (woken > 0 || canceled.length > 0) this.#parts.woken()
    return true
  }

  /** How the accounts of these events spell the storages, which their schemas may ask for. */
  async #readSpellings(events: readonly NumberedEvent[]): Promise<Map<string, StorageSpellings>> {
    const { spellingsOf = () => ({}) } = this.#parts
    const accounts = [...new Set(events.map(({ account }) => account))]
    return new Map(await Promise.all(accounts.map(async (account) => [account, await spellingsOf(account)] as const)))
  }

  /**
   * Waits that were begun by other code than this are matched with the functions that there are
   * now.
   */
  async #openMissing(open: readonly MatchCursor[]): Promise<boolean> {
    const { store, clock, keys } = this.#parts
    let hasOpened = false
    for (const { type, name } of open) {
      const version = keys.version(type, name)
      if (version === null) this.#complain(type, name)
      else if (!open.some((cursor) => cursor.type === type && cursor.name === name && cursor.version === version)) {
        await store.openMatchCursor({ type, name, version }, clock.now())
        hasOpened = true
        break
      }
    }
    return hasOpened
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

  #complain(type: string, key: string): void {
    if (this.#complained.has(`${type} ${key}`)) return
    this.#complained.add(`${type} ${key}`)
    const message = 'A run waits for this key, and no module that is loaded declares it. Bring back its defineEvent.'
    const error = { name: 'UpshotError', code: 'invalid_workflow', message }
    this.#parts.publish({ kind: 'event.unmatched', event: null, type, key, error })
  }
}

/** The types whose events must be read; null where a pattern asks for more than a list can say. */
function listTypes(group: readonly MatchCursor[]): string[] | null {
  const types = group.map((cursor) => cursor.type)
  return types.some((type) => type.includes('*')) ? null : [...new Set(types)]
}
