import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { StorageName } from '../../core/service/storage.ts'
import type { Audit } from '../account/audit.ts'
import type { RateLimiter } from '../account/rate-limiter.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { Db } from '../state/database.ts'
import type { LiveSettings } from '../state/live-settings.ts'
import { notFound } from '../state/not-found.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'
import type { Transfers } from '../transfers/transfers.ts'
import type { DeliveryDispatcher } from '../webhooks/delivery-dispatcher.ts'

/** Everything but the index, of which only our own directories' part is replaced. */
const TABLES = [
  'attempts',
  'deliveries',
  'events',
  'webhooks',
  'keys',
  'faults',
  'requests',
  'findings',
  'transfers',
  'settings',
] as const

/** Who may call, and who is told. */
const ACCESS_TABLES = ['keys', 'webhooks'] as const

/** What a reset leaves. */
export interface ResetOptions {
  /** Default false. */
  keepAccess?: boolean
}

/** A snapshot becomes a folder of this name. */
export const snapshotName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/i)

export interface SnapshotParts {
  dir: string
  db: Db
  clock: SandboxClock
  settings: LiveSettings
  limiter: RateLimiter
  audit: Audit
  index: StorageIndex
  storages: Record<StorageName, Storage>
  dispatcher: DeliveryDispatcher
  transfers: Transfers
}

/**
 * Saves and restores everything the sandbox knows and holds. Directories that it did not make are
 * left as they are, with their part of the index.
 */
export class Snapshots {
  readonly #parts: SnapshotParts

  constructor(parts: SnapshotParts) {
    this.#parts = parts
  }

  list(): string[] {
    const dir = join(this.#parts.dir, 'snapshots')
    return existsSync(dir) ? readdirSync(dir).sort() : []
  }

  /** Replaces an older one of the same name. */
  async save(name: string): Promise<void> {
    const dir = this.#dirOf(name)
    await this.#rest()
    rmSync(dir, { recursive: true, force: true })
    mkdirSync(dir, { recursive: true })
    this.#parts.db.prepare('VACUUM INTO ?').run(join(dir, 'sandbox.db'))
    for (const storage of this.#ours()) cpSync(storage.dir, join(dir, storage.name), { recursive: true })
  }

  /** Throws `not_found`. */
  async restore(name: string): Promise<void> {
    const dir = this.#dirOf(name)
    if (!existsSync(dir)) notFound('snapshot', name)
    await this.#rest()
    const { db } = this.#parts
    db.prepare('ATTACH ? AS saved').run(join(dir, 'sandbox.db'))
    try {
      this.#replace((storage) => cpSync(join(dir, storage.name), storage.dir, { recursive: true }), 'saved')
    } finally {
      db.exec('DETACH saved')
    }
  }

  /**
   * Everything as on the very first start, the machine's time included. `keepAccess` leaves keys
   * and webhooks, so that an app that works with the sandbox still can.
   */
  async reset({ keepAccess = false }: ResetOptions = {}): Promise<void> {
    await this.#rest()
    const kept: readonly string[] = keepAccess ? ACCESS_TABLES : []
    this.#replace(
      () => {},
      null,
      TABLES.filter((table) => !kept.includes(table)),
    )
    this.#parts.settings.startOver()
  }

  /** Nothing is sent or copied while everything is replaced. */
  async #rest(): Promise<void> {
    const { transfers, dispatcher } = this.#parts
    await Promise.all(transfers.list().map(({ id, status }) => (isOpen(status) ? transfers.cancel(id) : null)))
    await dispatcher.idle()
  }

  /**
   * In one turn of the event loop, so that no hint of a change meets an index that does not know of
   * it yet.
   */
  #replace(
    refill: (storage: Storage) => void,
    source: 'saved' | null,
    tables: readonly (typeof TABLES)[number][] = TABLES,
  ): void {
    const { db, clock, settings, limiter, audit, index } = this.#parts
    for (const storage of this.#ours()) {
      for (const name of readdirSync(storage.dir)) rmSync(join(storage.dir, name), { recursive: true })
      refill(storage)
    }
    db.transaction(() => {
      // Rows go and come table by table; references hold again at the end.
      db.pragma('defer_foreign_keys = ON')
      for (const table of tables) this.#replaceRows(table, source)
      for (const { name } of this.#ours()) {
        db.prepare('DELETE FROM entries WHERE storage = ?').run(name)
        if (source) db.prepare('INSERT INTO entries SELECT * FROM saved.entries WHERE storage = ?').run(name)
      }
    })()
    index.forget()
    limiter.clear()
    audit.forget()
    settings.reload()
    clock.reload()
  }

  #replaceRows(table: (typeof TABLES)[number], source: 'saved' | null): void {
    const { db } = this.#parts
    const kept = table === 'settings' && source === null ? "WHERE name <> 'downloadSecret'" : ''
    db.exec(`DELETE FROM main.${table} ${kept}`)
    db.prepare('DELETE FROM main.sqlite_sequence WHERE name = ?').run(table)
    if (source) db.exec(`INSERT INTO main.${table} SELECT * FROM saved.${table} ORDER BY rowid`)
  }

  #ours(): Storage[] {
    return Object.values(this.#parts.storages).filter(({ folder }) => folder.madeHere)
  }

  #dirOf(name: string): string {
    return join(this.#parts.dir, 'snapshots', snapshotName.parse(name))
  }
}

function isOpen(status: string): boolean {
  return status === 'queued' || status === 'running'
}
