import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { StorageName } from '../../core/service/storage.ts'
import type { Audit } from '../account/audit.ts'
import type { RateLimiter } from '../account/rate-limiter.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { Db } from '../state/database.ts'
import { notFound } from '../state/not-found.ts'
import type { LiveSettings } from '../state/settings.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'
import type { Transfers } from '../transfers/transfers.ts'
import type { DeliveryDispatcher } from '../webhooks/delivery-dispatcher.ts'

/**
 * Tables that a snapshot replaces as a whole. Of `entries` it replaces only our own folders' rows.
 */
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

/** Tables that `keepAccess` keeps. */
const ACCESS_TABLES = ['keys', 'webhooks'] as const

/** The options of a reset. */
export interface ResetOptions {
  /** Keeps keys and webhooks, so that a connected app still works. Default false. */
  keepAccess?: boolean
}

/** The end of the name of one that is being replaced. A crash may leave it alone. */
const OLD = '.old'

/** A snapshot is a folder of this name. */
const snapshotName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/i)

interface SnapshotParts {
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

/** Saves and restores the whole state. Folders that the sandbox did not make stay as they are. */
export class Snapshots {
  readonly #parts: SnapshotParts

  constructor(parts: SnapshotParts) {
    this.#parts = parts
    for (const name of this.#names()) {
      const [dir, old] = [join(this.#folder, name.slice(0, -OLD.length)), join(this.#folder, name)]
      if (name.endsWith(OLD) && !existsSync(dir)) renameSync(old, dir)
    }
  }

  /** Names of the snapshots, sorted. */
  list(): string[] {
    // A crash may have left the draft of one.
    return this.#names()
      .filter((name) => snapshotName.safeParse(name).success)
      .sort()
  }

  /** Saves a snapshot; replaces one of the same name. */
  async save(name: string): Promise<void> {
    const dir = this.#dirOf(name)
    await this.#stopActivity()
    const draft = `${dir}.new`
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(draft, { recursive: true })
    this.#parts.db.prepare('VACUUM INTO ?').run(join(draft, 'sandbox.db'))
    for (const storage of this.#ownStorages()) cpSync(storage.dir, join(draft, storage.name), { recursive: true })
    if (existsSync(dir)) {
      rmSync(`${dir}${OLD}`, { recursive: true, force: true })
      renameSync(dir, `${dir}${OLD}`)
    }
    renameSync(draft, dir)
    rmSync(`${dir}${OLD}`, { recursive: true, force: true })
  }

  /** Restores a snapshot. Throws `not_found`. */
  async restore(name: string): Promise<void> {
    const dir = this.#dirOf(name)
    if (!existsSync(dir)) notFound('snapshot', name)
    await this.#stopActivity()
    const { db } = this.#parts
    db.prepare('ATTACH ? AS saved').run(join(dir, 'sandbox.db'))
    try {
      this.#replace((storage) => cpSync(join(dir, storage.name), storage.dir, { recursive: true }), 'saved')
    } finally {
      db.exec('DETACH saved')
    }
  }

  /**
   * Resets everything, the clock included, to the very first start. `keepAccess` keeps keys and
   * webhooks.
   *
   * @param options
   */
  async reset({ keepAccess = false }: ResetOptions = {}): Promise<void> {
    await this.#stopActivity()
    const kept: readonly string[] = keepAccess ? ACCESS_TABLES : []
    this.#replace(
      () => {},
      null,
      TABLES.filter((table) => !kept.includes(table)),
    )
    this.#parts.settings.startOver()
  }

  /** Cancels open transfers and waits until no delivery is being sent or due. */
  async #stopActivity(): Promise<void> {
    const { transfers, dispatcher } = this.#parts
    await Promise.all(transfers.list().map(({ id, status }) => (isOpen(status) ? transfers.cancel(id) : null)))
    await dispatcher.idle()
  }

  /** Replaces files and rows in one turn of the event loop, before any hint of a change arrives. */
  #replace(
    refill: (storage: Storage) => void,
    source: 'saved' | null,
    tables: readonly (typeof TABLES)[number][] = TABLES,
  ): void {
    const { db, clock, settings, limiter, audit, index } = this.#parts
    for (const storage of this.#ownStorages()) {
      for (const name of readdirSync(storage.dir)) rmSync(join(storage.dir, name), { recursive: true })
      refill(storage)
    }
    db.transaction(() => {
      // Rows are replaced table by table; foreign keys hold again at the commit.
      db.pragma('defer_foreign_keys = ON')
      for (const table of tables) this.#replaceRows(table, source)
      for (const { name } of this.#ownStorages()) {
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

  #ownStorages(): Storage[] {
    return Object.values(this.#parts.storages).filter(({ folder }) => folder.madeHere)
  }

  get #folder(): string {
    return join(this.#parts.dir, 'snapshots')
  }

  #names(): string[] {
    return existsSync(this.#folder) ? readdirSync(this.#folder) : []
  }

  #dirOf(name: string): string {
    return join(this.#folder, snapshotName.parse(name))
  }
}

function isOpen(status: string): boolean {
  return status === 'queued' || status === 'running'
}
