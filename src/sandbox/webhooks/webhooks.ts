import { z } from 'zod'
import { newId, randomWord } from '../../core/ids.ts'
import {
  SCHEME_PRESETS,
  type SchemePreset,
  type SignatureScheme,
  signatureScheme,
} from '../../core/incoming/signature.ts'
import { STORAGES } from '../../core/service/storage.ts'
import { isoTime } from '../../core/time.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { Db } from '../state/database.ts'
import type { StoredEvent } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import { statement } from '../state/statement.ts'

const presetNames = Object.keys(SCHEME_PRESETS) as [SchemePreset, ...SchemePreset[]]

const secret = z.string().min(8)
const fields = {
  url: z.url({ protocol: /^https?$/ }),
  /** Event types; `*` stands for all, `file.*` for all that begin so. */
  events: z.array(z.string().min(1)).min(1),
  /** Only events of these storages; null for all. Events of no single storage always count. */
  storages: z.array(z.enum(STORAGES)).nullable(),
  scheme: z.union([z.enum(presetNames), signatureScheme]),
  enabled: z.boolean(),
}

/** What a registration says. */
export const webhookInput = z.strictObject({
  ...fields,
  events: fields.events.default(['*']),
  storages: fields.storages.default(null),
  scheme: fields.scheme.default('hex'),
  enabled: fields.enabled.default(true),
  /** Made up where none is given. */
  secret: secret.optional(),
  /** More secrets that sign too while one is being replaced. */
  moreSecrets: z.array(secret).default([]),
})
/** What an address is registered with. */
export type WebhookInput = z.input<typeof webhookInput>

/** What can be changed of one. */
export const webhookEdit = z.strictObject({ ...fields, secrets: z.array(secret).min(1) }).partial()
/** What is changed of a registration. */
export type WebhookEdit = z.input<typeof webhookEdit>

/** An address that is told of events. */
export interface Webhook {
  /** `whk_…` */
  id: string
  url: string
  events: string[]
  storages: string[] | null
  /** Each signs; the first is the one that schemes with a single signature use. */
  secrets: string[]
  scheme: SignatureScheme
  enabled: boolean
  createdAt: string
}

interface WebhookRow {
  id: string
  url: string
  events: string
  storages: string | null
  secrets: string
  scheme: string
  enabled: number
  createdAt: number
}

const COLUMNS = 'id, url, events, storages, secrets, scheme, enabled, created_at AS createdAt'

/** The registrations, as the service's account settings would hold them. */
export class Webhooks {
  readonly #db: Db
  readonly #clock: SandboxClock

  constructor(db: Db, clock: SandboxClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Registers an address. A secret that was made up is in the result. */
  async add(input: WebhookInput): Promise<Webhook> {
    const { secret, moreSecrets, scheme, ...rest } = webhookInput.parse(input)
    const now = this.#clock.now()
    const webhook: Webhook = {
      id: newId('whk', now),
      ...rest,
      secrets: [secret ?? randomWord(), ...moreSecrets],
      scheme: typeof scheme === 'string' ? SCHEME_PRESETS[scheme] : scheme,
      createdAt: isoTime(now),
    }
    this.#save(webhook)
    return webhook
  }

  /** Oldest first. */
  list(): Webhook[] {
    return statement<[], WebhookRow>(this.#db, `SELECT ${COLUMNS} FROM webhooks ORDER BY rowid`).all().map(fromRow)
  }

  find(id: string): Webhook | undefined {
    const row = statement<[string], WebhookRow>(this.#db, `SELECT ${COLUMNS} FROM webhooks WHERE id = ?`).get(id)
    return row && fromRow(row)
  }

  /**
   * Changes what is given, keeps the rest; pending deliveries follow the change. Throws
   * `not_found`.
   */
  async edit(id: string, change: WebhookEdit): Promise<Webhook> {
    const before = this.find(id) ?? notFound('webhook', id)
    const { scheme = before.scheme, ...rest } = webhookEdit.parse(change)
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changed: Webhook = {
      ...before,
      ...given,
      scheme: typeof scheme === 'string' ? SCHEME_PRESETS[scheme] : scheme,
    }
    this.#save(changed)
    return changed
  }

  /** Switches a registration off, and on again. Throws `not_found`. */
  enable(id: string, enabled: boolean): Promise<Webhook> {
    return this.edit(id, { enabled })
  }

  /** Points a registration at another address. Throws `not_found`. */
  move(id: string, url: string): Promise<Webhook> {
    return this.edit(id, { url })
  }

  /**
   * Throws `not_found`. Its deliveries stay in the log; the pending ones fail when they fall due.
   */
  async remove(id: string): Promise<void> {
    const { changes } = statement(this.#db, 'DELETE FROM webhooks WHERE id = ?').run(id)
    if (changes === 0) notFound('webhook', id)
  }

  /** Those that want to be told of this event. */
  wanting(event: Pick<StoredEvent, 'type' | 'service'>): Webhook[] {
    return this.list().filter((webhook) => webhook.enabled && this.wants(webhook, event))
  }

  wants(webhook: Webhook, event: Pick<StoredEvent, 'type' | 'service'>): boolean {
    if (webhook.storages && event.service && !webhook.storages.includes(event.service)) return false
    return webhook.events.some((pattern) => matchesType(pattern, event.type))
  }

  #save(webhook: Webhook): void {
    statement(
      this.#db,
      `INSERT INTO webhooks (id, url, events, storages, secrets, scheme, enabled, created_at)
         VALUES (@id, @url, @events, @storages, @secrets, @scheme, @enabled, @createdAt)
         ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, storages = excluded.storages,
           secrets = excluded.secrets, scheme = excluded.scheme, enabled = excluded.enabled`,
    ).run({
      ...webhook,
      events: JSON.stringify(webhook.events),
      storages: webhook.storages && JSON.stringify(webhook.storages),
      secrets: JSON.stringify(webhook.secrets),
      scheme: JSON.stringify(webhook.scheme),
      enabled: webhook.enabled ? 1 : 0,
      createdAt: Date.parse(webhook.createdAt),
    })
  }
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type
}

function fromRow(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events),
    storages: row.storages === null ? null : JSON.parse(row.storages),
    secrets: JSON.parse(row.secrets),
    scheme: signatureScheme.parse(JSON.parse(row.scheme)),
    enabled: row.enabled === 1,
    createdAt: isoTime(row.createdAt),
  }
}
